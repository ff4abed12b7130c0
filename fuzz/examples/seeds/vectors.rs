//! The providers' vectors as requests.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::scheme::Scheme;
use hookproof_fuzz::{
    input::{ALL_KEYS, Request},
    oracle,
    senders::{SENDERS, Sender},
};
use time::OffsetDateTime;

/// Longer bodies would fill the folder and teach a fuzzer nothing.
const MAX_BODY: usize = 512;

#[derive(serde::Deserialize)]
struct File {
    provider: String,
    vectors: Vec<Vector>,
}

#[derive(serde::Deserialize)]
pub struct Vector {
    pub name: String,
    pub now: i64,
    headers: BTreeMap<String, String>,
    body_b64: String,
    secret: String,
    secrets: Option<Vec<String>>,
    pub expect: String,
}

/// The vectors of a scheme's provider that are for this scheme; none for schemes of our own.
pub fn of(scheme: &Scheme, folder: &Path) -> Result<Vec<Vector>, Box<dyn Error>> {
    if Scheme::by_name(scheme.name()).is_none() {
        return Ok(Vec::new());
    }
    let path = folder.join(format!("{}.json", scheme.provider()));
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let File { provider, vectors } = serde_json::from_slice(&text)?;
    if provider != scheme.provider() {
        return Err(format!("{} has vectors of {provider}", path.display()).into());
    }
    Ok(vectors
        .into_iter()
        .filter(|vector| vector.is_for(scheme))
        .collect())
}

impl Vector {
    /// A provider's vectors belong to the scheme whose signature header they carry; those without
    /// one belong to each.
    fn is_for(&self, scheme: &Scheme) -> bool {
        let carries = |scheme: &Scheme| {
            let request = self.fields();
            let slot = scheme.signature_slot();
            slot.is_some_and(|slot| {
                oracle::count(&oracle::one_family(scheme, &request), slot.name()) > 0
            })
        };
        let mut siblings = SENDERS.iter().map(|sender| sender.scheme);
        carries(scheme)
            || !siblings.any(|other| other.provider() == scheme.provider() && carries(other))
    }

    fn fields(&self) -> oracle::Fields {
        let fields = self.headers.iter();
        fields
            .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
            .collect()
    }

    /// The request, if it is short and has only keys that the sender has.
    pub fn request(&self, sender: &Sender) -> Result<Option<Request>, Box<dyn Error>> {
        let body = STANDARD.decode(&self.body_b64)?;
        let prefix = |text: &str| text.trim_start_matches("whsec_").to_owned();
        let known = |text: &String| {
            sender
                .keys
                .iter()
                .any(|key| prefix(key.text) == prefix(text))
        };
        let ring = self
            .secrets
            .clone()
            .unwrap_or_else(|| vec![self.secret.clone()]);
        if body.len() > MAX_BODY || !ring.iter().all(known) {
            return Ok(None);
        }
        let mut headers = Vec::new();
        for (index, name) in sender.names.iter().enumerate() {
            let found = self
                .headers
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some((_, value)) = found {
                headers.push((u8::try_from(index)?, value.clone().into_bytes()));
            }
        }
        let first = prefix(&ring[0]) == prefix(sender.keys[0].text) && ring.len() == 1;
        let flags = if first { 0 } else { ALL_KEYS };
        let now = OffsetDateTime::from_unix_timestamp(self.now)?;
        Ok(Some(Request {
            sender: sender.tag,
            flags,
            now,
            headers,
            body,
        }))
    }

    /// Whether the vector's provider says the same.
    pub fn agrees(&self, answer: &str) -> bool {
        match self.expect.as_str() {
            "valid" => answer == "accepted",
            "stale" => answer == "stale",
            _ => answer == "refused",
        }
    }
}
