//! The vectors of the providers, `tests/vectors/*.json`: whose secrets the senders have, and what
//! seeds are made of.

use std::{collections::BTreeMap, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::scheme::{ALL, Scheme};
use time::OffsetDateTime;

use crate::{
    input::{ALL_KEYS, Request},
    meaning::Message,
    oracle,
    senders::{Key, Sender},
};

#[derive(serde::Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

/// One request, and what its provider says of it.
#[derive(serde::Deserialize)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// The receiver's clock, in seconds.
    pub now: i64,
    /// `valid`, `stale`, `malformed` or `invalid`.
    pub expect: String,
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
    body_b64: String,
    secret: String,
    secrets: Option<Vec<String>>,
}

/// The vectors of a scheme's provider that are for this scheme; none for schemes of our own.
pub fn of(scheme: &Scheme) -> Vec<Vector> {
    if Scheme::by_name(scheme.name()).is_none() {
        return Vec::new();
    }
    let mut vectors = of_provider(scheme);
    vectors.retain(|vector| vector.is_for(scheme));
    vectors
}

/// All vectors of a catalogue row's provider.
pub fn of_provider(scheme: &Scheme) -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let path = folder.join(format!("{}.json", scheme.provider()));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = serde_json::from_slice::<File>(&text);
    let File { vectors } = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    vectors
}

impl Vector {
    /// The request as it was sent.
    pub fn message(&self) -> Message {
        let fields = self.headers.iter();
        Message {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: fields
                .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
                .collect(),
            body: STANDARD.decode(&self.body_b64).expect("base64"),
        }
    }

    /// A provider's vectors belong to the scheme whose signature header they carry; those without
    /// one belong to each.
    fn is_for(&self, scheme: &Scheme) -> bool {
        let fields = self.headers.iter();
        let fields = fields.map(|(name, value)| (name.clone(), value.clone().into_bytes()));
        let fields: oracle::Fields = fields.collect();
        let carries = |scheme: &Scheme| {
            let fields = oracle::one_family(scheme, &fields);
            let first = scheme.signature_slot();
            let mut slots = first.iter().chain(scheme.more_signature_slots());
            slots.any(|slot| oracle::count(&fields, slot.name()) > 0)
        };
        let mut rows = ALL.iter().filter(|row| row.provider() == scheme.provider());
        carries(scheme) || !rows.any(|row| carries(row))
    }

    /// The secrets that the receiver has.
    pub fn ring(&self) -> &[String] {
        match &self.secrets {
            Some(several) => several,
            None => std::slice::from_ref(&self.secret),
        }
    }

    /// The request, if the sender has the receiver's keys.
    pub fn request(&self, sender: &Sender) -> Option<Request> {
        let format = sender.scheme.secret_format();
        let place = |text: &String| {
            let key = Key::new(format, text)?;
            sender
                .keys
                .iter()
                .position(|known| known.bytes == key.bytes)
        };
        let ring: Vec<usize> = self.ring().iter().map(place).collect::<Option<_>>()?;
        let mut headers = Vec::new();
        for (index, name) in sender.names.iter().enumerate() {
            let mut named = self.headers.iter();
            let found = named.find(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some((_, value)) = found {
                headers.push((u8::try_from(index).ok()?, value.clone().into_bytes()));
            }
        }
        Some(Request {
            sender: sender.tag,
            flags: if ring == [0] { 0 } else { ALL_KEYS },
            now: OffsetDateTime::from_unix_timestamp(self.now).ok()?,
            headers,
            body: STANDARD.decode(&self.body_b64).ok()?,
        })
    }

    /// Whether the provider says the same.
    pub fn agrees(&self, answer: oracle::Answer) -> bool {
        answer
            == match self.expect.as_str() {
                "valid" => oracle::Answer::Accepted,
                "stale" => oracle::Answer::Stale,
                _ => oracle::Answer::Refused,
            }
    }
}
