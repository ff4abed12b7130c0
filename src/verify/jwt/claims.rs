//! What the claims of an authentic token must say.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;

use crate::{
    json::{self, Members, text},
    scheme::{ClaimRule, Encoding, Jwt, Scheme, Stamp, Unit},
    secrets::{Freshness, Key},
};

use super::super::{Invalid, Malformed, Rejection, stamp};

/// What the claims are compared with.
pub(super) struct Compared<'a> {
    pub(super) body: &'a [u8],
    pub(super) method: Option<&'a str>,
    pub(super) url: Option<&'a str>,
    pub(super) key: &'a Key,
}

/// The members of an authentic token's payload.
pub(super) struct Claims<'t>(Members<'t>);

impl<'t> Claims<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, Malformed> {
        Members::read(text.as_bytes())
            .map(Self)
            .ok_or(Malformed::Token("its claims are not a JSON object"))
    }

    fn one(&self, name: &'static str) -> Result<&'t RawValue, Malformed> {
        self.0.get(name).ok_or(Malformed::Claim(name))
    }

    fn text(&self, name: &'static str) -> Result<String, Malformed> {
        text(self.one(name)?).ok_or(Malformed::Claim(name))
    }

    /// The claims, once every rule of the row holds.
    pub(super) fn holding(self, rules: &Jwt, compared: &Compared<'_>) -> Result<Self, Rejection> {
        for rule in rules.claim_rules() {
            if !self.holds(rule, compared)? {
                return Err(Invalid::Claim(rule.name()).into());
            }
        }
        Ok(self)
    }

    fn holds(&self, rule: &ClaimRule, compared: &Compared<'_>) -> Result<bool, Malformed> {
        let url = || compared.url.ok_or(Malformed::NoTarget);
        Ok(match *rule {
            ClaimRule::BodyHashUnlessEmpty(name, _)
                if compared.body.is_empty() && self.0.get(name).is_none() =>
            {
                true
            }
            ClaimRule::BodyHash(name, encoding)
            | ClaimRule::BodyHashUnlessEmpty(name, encoding) => {
                self.is_hash_of(name, encoding, compared.body)?
            }
            ClaimRule::UrlHash(name) => self.is_hash_of(name, Encoding::Hex, url()?.as_bytes())?,
            ClaimRule::RequestJson(name) => {
                let method = compared.method.ok_or(Malformed::NoTarget)?;
                match json::stringify_request(url()?, method, compared.body) {
                    Some(text) => self.is_hash_of(name, Encoding::Hex, text.as_bytes())?,
                    None => false,
                }
            }
            ClaimRule::OneOf(name, texts) => texts.contains(&self.text(name)?.as_str()),
            ClaimRule::Url(name) => self.text(name)? == url()?,
            ClaimRule::Setting(name, setting) => {
                // Asked for when the secrets were made, so it is there.
                compared.key.setting(setting) == Some(self.text(name)?.as_str())
            }
            ClaimRule::True(name) => self.one(name)?.get() == "true",
            ClaimRule::AnyText(name) => !self.text(name)?.is_empty(),
        })
    }

    fn is_hash_of(
        &self,
        name: &'static str,
        encoding: Encoding,
        bytes: &[u8],
    ) -> Result<bool, Malformed> {
        let written = self.text(name)?;
        let mut said = [0; 32];
        match encoding {
            Encoding::Hex => hex::decode_to_slice(written, &mut said).ok(),
            Encoding::Base64 => STANDARD
                .decode(written)
                .ok()
                .and_then(|bytes| bytes.try_into().ok())
                .map(|bytes| said = bytes),
            _ => None,
        }
        .ok_or(Malformed::Claim(name))?;
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        Ok(said.ct_eq(&digest).into())
    }

    /// The times that the token names. What is there must be readable, and what the row needs must
    /// be there.
    pub(super) fn times(&self, scheme: &Scheme, rules: &Jwt) -> Result<Times, Malformed> {
        let second = |name: &'static str| match self.0.get(name) {
            // Whole seconds, and nothing that would have to be rounded.
            Some(value) => stamp::parse(value.get().as_bytes(), Unit::Seconds)
                .map(Some)
                .ok_or(Malformed::Timestamp),
            None => Ok(None),
        };
        let sent = match scheme.timestamp_source() {
            Some((Stamp::Claim(name), _)) => Some(second(name)?.ok_or(Malformed::Timestamp)?),
            _ => None,
        };
        let expires = second("exp")?;
        if rules.must_expire() && expires.is_none() {
            return Err(Malformed::Claim("exp"));
        }
        Ok(Times {
            sent,
            expires,
            not_before: second("nbf")?,
            must_expire: rules.must_expire(),
            leeway: i128::try_from(rules.clock_leeway().as_nanos()).unwrap_or(i128::MAX),
        })
    }
}

/// The times of a token, in nanoseconds since 1970.
pub(super) struct Times {
    pub(super) sent: Option<i128>,
    expires: Option<i128>,
    not_before: Option<i128>,
    must_expire: bool,
    leeway: i128,
}

impl Times {
    /// Some time of the token, for the age of one that does not say when it was sent.
    pub(super) fn any(&self) -> Option<i128> {
        self.not_before.or(self.expires)
    }

    /// Whether the token is in force: RFC 7519 §4.1.4 and §4.1.5, and the window around the time
    /// of sending, ahead of which a token that expires may lie by the leeway only.
    pub(super) fn are_good(&self, now: OffsetDateTime, allowed: Freshness) -> bool {
        if allowed == Freshness::Any {
            return true;
        }
        let second = i128::from(now.unix_timestamp()).saturating_mul(1_000_000_000);
        let soon = second.saturating_add(self.leeway);
        let within = self.sent.is_none_or(|sent| {
            stamp::is_fresh(sent, Unit::Seconds, now, allowed)
                && (!self.must_expire || sent <= soon)
        });
        within
            && self.not_before.is_none_or(|from| from <= soon)
            && self
                .expires
                .is_none_or(|until| second < until.saturating_add(self.leeway))
    }
}
