//! One fixed sender per row of the catalogue that the [`oracle`] knows and per scheme of [`own`]:
//! its scheme, keys and header names.

use std::{collections::HashSet, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    Secret, Secrets,
    scheme::{ALL, Part, Scheme, SecretFormat, Slot, Source, Stamp},
};
use time::OffsetDateTime;

use crate::{
    oracle, own,
    vectors::{self, Vector},
};

/// All senders.
pub static SENDERS: LazyLock<Vec<Sender>> = LazyLock::new(|| {
    let schemes = ALL.iter().chain(own::ALL).copied();
    let schemes = schemes.filter(|scheme| oracle::knows(scheme));
    let senders: Vec<Sender> = schemes.map(Sender::new).collect();
    let tags: HashSet<u32> = senders.iter().map(|sender| sender.tag).collect();
    assert_eq!(tags.len(), senders.len(), "two schemes have one tag");
    senders
});

/// Bytes that stand for a name in inputs (FNV-1a): unlike its place in a list, they stay the same
/// when other rows are added.
pub fn tag(name: &str) -> u32 {
    let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, fnv)
}

/// The sender of a tag, or else the one whose tag comes next.
pub fn sender(tag: u32) -> &'static Sender {
    let next = SENDERS
        .iter()
        .min_by_key(|sender| sender.tag.wrapping_sub(tag));
    next.expect("the catalogue has rows")
}

/// A scheme with fixed keys.
pub struct Sender {
    /// What stands for it in inputs.
    pub tag: u32,
    /// How it signs.
    pub scheme: &'static Scheme,
    /// Its keys, in the order of the ring.
    pub keys: Vec<Key>,
    /// Every header name that the scheme knows, in both families.
    pub names: Vec<String>,
    first_key: Ring,
    all_keys: Ring,
}

/// What a receiver knows.
pub struct Ring {
    /// The first of the sender's keys, up to this many.
    pub keys: usize,
    /// Those keys.
    pub secrets: Secrets,
    /// The same without a window.
    pub any_age: Secrets,
}

/// One key, decoded here and not by the crate.
pub struct Key {
    /// As the provider shows it.
    pub text: String,
    /// The key itself.
    pub bytes: Vec<u8>,
    /// Its id, if it has one.
    pub id: Option<&'static str>,
    /// The last second that it counts.
    pub not_after: Option<i64>,
}

impl Key {
    /// The key that a secret stands for, if it is one of this format.
    pub fn new(format: SecretFormat, text: &str) -> Option<Self> {
        let digits = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes = match format {
            SecretFormat::Base64 { prefix } => STANDARD
                .decode(text.strip_prefix(prefix).unwrap_or(text))
                .ok()?,
            SecretFormat::Hex => (0..text.len())
                .step_by(2)
                .map(digits)
                .collect::<Option<_>>()?,
            _ => text.into(),
        };
        Some(Self {
            text: text.to_owned(),
            bytes,
            id: None,
            not_after: None,
        })
    }

    /// Whether it still counts.
    pub fn in_force(&self, now: OffsetDateTime) -> bool {
        self.not_after
            .is_none_or(|last| now.unix_timestamp_nanos() <= i128::from(last) * 1_000_000_000)
    }

    /// For a ring.
    pub fn secret(&self) -> Secret {
        let mut secret = Secret::from(&self.text);
        if let Some(id) = self.id {
            secret = secret.key_id(id);
        }
        match self.not_after {
            Some(last) => {
                secret.not_after(OffsetDateTime::from_unix_timestamp(last).expect("a date"))
            }
            None => secret,
        }
    }
}

impl Sender {
    fn new(scheme: &'static Scheme) -> Self {
        let mut keys = keys(scheme);
        if scheme.key_id_header().is_some() {
            // The other stays without an id and is tried whatever the request names.
            keys[0].id = Some("old");
            keys[0].not_after = Some(1_800_000_000);
        }
        let ring = |count: usize| {
            let secrets = || keys.iter().take(count).map(Key::secret);
            let secrets = || Secrets::new(scheme, secrets()).expect("sound secrets");
            Ring {
                keys: count,
                secrets: secrets(),
                any_age: secrets().danger_accept_any_age(),
            }
        };
        let (first_key, all_keys) = (ring(1), ring(keys.len()));
        Self {
            tag: tag(scheme.name()),
            scheme,
            keys,
            names: names(scheme),
            first_key,
            all_keys,
        }
    }

    /// The ring of all keys, or of the first.
    pub fn ring(&self, all: bool) -> &Ring {
        if all { &self.all_keys } else { &self.first_key }
    }
}

/// The secrets of the scheme's vectors, so that those are accepted here too, and made-up ones.
fn keys(scheme: &'static Scheme) -> Vec<Key> {
    let vectors = vectors::of(scheme);
    let valid = vectors.iter().filter(|vector| vector.expect == "valid");
    let format = scheme.secret_format();
    // Text, base64 and hexadecimal at once.
    let made_up = [
        "00112233445566778899aabbccddeeff",
        "ffeeddccbbaa99887766554433221100",
    ];
    let texts = valid.flat_map(Vector::ring).map(String::as_str).take(3);
    let mut keys: Vec<Key> = Vec::new();
    for key in texts
        .chain(made_up)
        .filter_map(|text| Key::new(format, text))
    {
        let known = keys.iter().any(|known| known.bytes == key.bytes);
        // A vector's secret may be one that must be refused, or another row's.
        let sound = Secrets::new(scheme, [key.text.as_str()]).is_ok();
        if sound && !known && keys.len() < 2 {
            keys.push(key);
        }
    }
    keys
}

fn names(scheme: &Scheme) -> Vec<String> {
    let mut known: Vec<&str> = Vec::new();
    known.extend(scheme.signature_slot().map(|slot| slot.name()));
    known.extend(scheme.more_signature_slots().iter().map(Slot::name));
    if let Some((Stamp::Slot(slot), _)) = scheme.timestamp_source() {
        known.push(slot.name());
    }
    known.extend(scheme.parts().iter().filter_map(|part| match part {
        Part::Header(slot) => Some(slot.name()),
        _ => None,
    }));
    known.extend(scheme.key_id_header());
    known.extend(scheme.delivery_id_header());
    if let Some(Source::Header(name)) = scheme.event_type_source() {
        known.push(name);
    }
    let mut names: Vec<String> = Vec::new();
    for name in known {
        let second = scheme.header_families().and_then(|(prefix, other)| {
            name.strip_prefix(prefix)
                .map(|tail| format!("{other}{tail}"))
        });
        for name in [name.to_owned()].into_iter().chain(second) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
