//! JSON bodies of which parts are signed, and JSON written anew: as a second reader has it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hookproof::scheme::Scheme;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    meaning::{self, Message, header},
    oracle::Answer,
    own,
    signed::{hex, judge, mac, sign},
};

/// The input that reads as a request with this body.
pub fn seed(scheme: u8, body: &[u8]) -> Vec<u8> {
    [&[scheme], body].concat()
}

/// Target: the schemes of [`own::JSON`], over any body.
pub fn json(data: &[u8]) {
    run(data);
}

/// Runs the target, and says whether there was something to sign that passed.
pub fn run(data: &[u8]) -> bool {
    let Some((number, body)) = data.split_first() else {
        return false;
    };
    let scheme = own::JSON[usize::from(*number) % own::JSON.len()];
    let request = Message {
        method: "POST".into(),
        url: "https://hooks.example.com/in?q=\"".into(),
        headers: Vec::new(),
        body: body.to_vec(),
    };
    let right = |request: &Message| right(scheme, request).map(String::into_bytes);
    let Some(signed) = sign(scheme, &request) else {
        // Numbers between two spellings are left alone, and nothing else that can be written.
        let whole = !body.iter().any(|byte| b".eE".contains(byte));
        let can = scheme.token_rules().is_some() && right(&request).is_some();
        assert!(!(whole && can), "{}: {request:?}", scheme.name());
        return false;
    };
    let accepted = judge(scheme, &signed) == Answer::Accepted;
    let sent = match scheme.token_rules() {
        Some(_) => hash(&signed).map(String::into_bytes),
        None => header(&signed, "X-Own-Signature").map(<[u8]>::to_vec),
    };
    let name = scheme.name();
    assert!(!accepted || sent == right(&signed), "{name}: {signed:?}");
    accepted
}

/// The hash in the claims of a token that has no others.
fn hash(request: &Message) -> Option<String> {
    let token = std::str::from_utf8(header(request, "X-Own-Token")?).ok()?;
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    Some(claims["request_hash"].as_str()?.to_owned())
}

/// The signature, or the hash in the token, that a second reader would make.
fn right(scheme: &Scheme, request: &Message) -> Option<String> {
    let body = std::str::from_utf8(&request.body).ok()?;
    let value = |pointer| meaning::at(body, pointer).and_then(meaning::scalar);
    let content = match scheme.name() {
        "own-rewritten" => {
            let written = match body.is_empty() {
                true => "null".to_owned(),
                false => meaning::rewritten(&request.body)?,
            };
            let text = |text: &str| Value::from(text).to_string();
            let (url, method) = (text(&request.url), text(&request.method));
            let content = format!(r#"{{"url":{url},"method":{method},"body":{written}}}"#);
            return Some(hex(&Sha256::digest(content)));
        }
        "own-pointers" => {
            let third = value("/list/1/~0x~1y").unwrap_or_default();
            let raw = meaning::at(body, "/raw")?;
            format!("{}\n{third}\n{raw}", value("/a/b")?)
        }
        _ => {
            let escape = |c: char| match c {
                '/' => "\\/".to_owned(),
                c if c.is_ascii() => c.to_string(),
                c => {
                    let mut units = [0; 2];
                    let units = c.encode_utf16(&mut units).iter();
                    units.map(|unit| format!("\\u{unit:04x}")).collect()
                }
            };
            let raw = meaning::at(body, "/raw")?;
            let php: String = raw.chars().map(escape).collect();
            let text = value("/text")?;
            format!("{}\n{php}", Value::from(text))
        }
    };
    Some(hex(&mac(content.as_bytes())))
}
