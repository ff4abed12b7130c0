//! Seeds of the endpoint checks: the cases of `tests/handshake`, with the target's settings.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof_fuzz::handshake::{seed, setting};
use serde_json::{Map, Value};

#[derive(serde::Deserialize)]
struct Case {
    row: String,
    name: String,
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
    json: Option<Map<String, Value>>,
    body_b64: Option<String>,
    #[serde(default)]
    settings: Vec<String>,
}

/// One seed for each case.
pub fn all() -> Result<BTreeMap<String, Vec<u8>>, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/handshake/cases.json");
    let cases: Vec<Case> = serde_json::from_slice(&fs::read(path)?)?;
    let mut seeds = BTreeMap::new();
    for case in cases {
        let body = match (&case.json, &case.body_b64) {
            (Some(json), _) => serde_json::to_string(json)?,
            (None, Some(base64)) => String::from_utf8(STANDARD.decode(base64)?)?,
            (None, None) => String::new(),
        };
        let ours = |text: &str| {
            let settings = case.settings.iter().enumerate();
            settings.fold(text.to_owned(), |text, (index, theirs)| {
                text.replace(theirs, &setting(index))
            })
        };
        let headers: Vec<(&str, String)> = case
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), ours(value)))
            .collect();
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let bytes = seed(
            &case.row,
            &case.method,
            &ours(&case.url),
            &headers,
            ours(&body).as_bytes(),
        );
        seeds.insert(format!("{}.{}", case.row, case.name), bytes);
    }
    Ok(seeds)
}
