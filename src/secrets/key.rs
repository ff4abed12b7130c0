//! One key of a ring.

use time::OffsetDateTime;
use zeroize::Zeroizing;

use super::{Secret, SecretFault, decode, derive};
use crate::{scheme::Scheme, verify::MacKey};

/// One entry of the ring: MAC state made ahead, so that a request costs no key schedule.
pub(crate) struct Key {
    pub(crate) mac: MacKey,
    /// The same key under the further algorithms of a token.
    #[cfg(feature = "jwt")]
    also: Box<[MacKey]>,
    pub(crate) id: Option<Box<str>>,
    not_before: Option<OffsetDateTime>,
    not_after: Option<OffsetDateTime>,
    settings: Box<[(&'static str, Box<str>)]>,
    /// The secret's own bytes, where they are a part of what is hashed.
    secret: Option<Zeroizing<Vec<u8>>>,
}

impl Key {
    pub(super) fn make(scheme: &'static Scheme, secret: Secret) -> Result<Self, SecretFault> {
        let missing = |name: &&&str| {
            let given = secret.settings.iter().find(|(known, _)| known == *name);
            given.is_none_or(|(_, value)| value.trim().is_empty())
        };
        if let Some(name) = scheme.settings().iter().find(missing) {
            return Err(SecretFault::MissingSetting(name));
        }
        let decoded = decode(scheme, &secret.bytes)?;
        let derived = derive::derive(scheme.key_content(), &decoded, &secret.settings)?;
        let key = derived.as_deref().unwrap_or(&decoded);
        let mac = MacKey::new(scheme.mac(), key)?;
        let hashed = scheme.hashes_secret();
        Ok(Self {
            mac,
            #[cfg(feature = "jwt")]
            also: scheme
                .token_rules()
                .map_or(&[][..], |rules| rules.more_algorithms())
                .iter()
                .map(|mac| MacKey::new(*mac, key))
                .collect::<Result<_, _>>()?,
            secret: hashed.then_some(decoded),
            id: secret.key_id,
            not_before: secret.not_before,
            not_after: secret.not_after,
            settings: secret.settings.into(),
        })
    }

    /// The key under the scheme's algorithm of that number, see `Scheme::algorithm_named`.
    #[cfg(feature = "jwt")]
    pub(crate) fn mac_number(&self, number: usize) -> Option<&MacKey> {
        match number.checked_sub(1) {
            None => Some(&self.mac),
            Some(further) => self.also.get(further),
        }
    }

    /// What verifies whatever `secret` signs, with its settings. `bytes` are the public key, where
    /// the two differ.
    #[cfg(feature = "testing")]
    pub(crate) fn signing(
        scheme: &'static Scheme,
        secret: &Secret,
        bytes: Option<String>,
    ) -> Result<Self, SecretFault> {
        let bytes = bytes.map(String::into_bytes);
        let copy = Secret {
            bytes: Zeroizing::new(bytes.unwrap_or_else(|| secret.bytes.to_vec())),
            key_id: None,
            not_before: None,
            not_after: None,
            settings: secret.settings.clone(),
        };
        Self::make(scheme, copy)
    }

    /// The secret's bytes, for [`Part::Secret`](crate::scheme::Part::Secret) and nothing else.
    pub(crate) fn secret(&self) -> &[u8] {
        self.secret
            .as_ref()
            .map(|secret| secret.as_slice())
            .unwrap_or_default()
    }

    /// A text given with [`Secret::setting`].
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let mut known = self.settings.iter();
        let value = known.find_map(|(known, value)| (*known == name).then_some(value));
        value.map(|value| &**value)
    }

    pub(crate) fn in_force(&self, now: OffsetDateTime) -> bool {
        self.not_before.is_none_or(|from| from <= now)
            && self.not_after.is_none_or(|until| now <= until)
    }
}
