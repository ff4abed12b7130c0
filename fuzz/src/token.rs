//! Tokens whose MAC is right, so that a fuzzer gets at the claims, against a second opinion.

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookproof::scheme::MAX_HEADER_BYTES;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256, Sha384};

use crate::{
    meaning::{Message, base64url},
    oracle::{Answer, Members},
    own,
    signed::{KEY, NOW, hex, judge as verify, mac},
};

/// The input that reads as a token and the body it came with. `BODY` in the claims stands for the
/// hash of the body.
pub fn seed(header: &str, claims: &str, body: &[u8]) -> Vec<u8> {
    [&[0, 0, 0], format!("{header}\n{claims}\n").as_bytes(), body].concat()
}

/// Target: [`own::TOKEN`], over any header and claims.
pub fn token(data: &[u8]) {
    judge(data);
}

/// Runs the target, and says what came of it once the second opinion has agreed.
pub fn judge(data: &[u8]) -> Answer {
    let Some(([spoilt, flip, place], rest)) = data.split_first_chunk() else {
        return Answer::Refused;
    };
    let mut lines = rest.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (header, claims, body) = (line(), line(), line());
    let hash = hex(&Sha256::digest(body));
    let claims = String::from_utf8_lossy(claims).replace("BODY", &hash);
    let input = format!("{}.{}", base64url(header), base64url(claims.as_bytes()));
    let tag = match algorithm(header).as_deref() {
        Some("HS384") => {
            let mut mac = Hmac::<Sha384>::new_from_slice(KEY.as_bytes()).expect("any length");
            mac.update(input.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }
        _ => mac(input.as_bytes()),
    };
    let mut token = format!("{input}.{}", base64url(&tag)).into_bytes();
    let right = token.clone();
    if spoilt & 1 != 0 {
        let at = usize::from(*place) * token.len() / 256;
        token[at] ^= flip;
    }
    let expected = match token == right && token.len() <= MAX_HEADER_BYTES {
        true => expected(header, &claims, &hash).unwrap_or(Answer::Refused),
        false => Answer::Refused,
    };
    let request = Message {
        method: "POST".into(),
        url: "https://hooks.example.com/in".into(),
        headers: vec![("X-Own-Token".into(), token)],
        body: body.to_vec(),
    };
    assert_eq!(
        verify(&own::TOKEN, &request),
        expected,
        "{claims} {request:?}"
    );
    expected
}

/// The members of an object in which every name occurs once.
fn members(text: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    let Members(members) = serde_json::from_str(std::str::from_utf8(text).ok()?).ok()?;
    let once = |name: &String| members.iter().filter(|(other, _)| other == name).count() == 1;
    members
        .iter()
        .all(|(name, _)| once(name))
        .then_some(members)
}

fn raw<'t>(members: &[(String, &'t RawValue)], name: &str) -> Option<&'t str> {
    let found = members.iter().find(|(own, _)| own == name);
    found.map(|(_, value)| value.get())
}

fn text(members: &[(String, &RawValue)], name: &str) -> Option<String> {
    serde_json::from_str(raw(members, name)?).ok()
}

fn algorithm(header: &[u8]) -> Option<String> {
    text(&members(header)?, "alg")
}

/// What the rules of [`own::TOKEN`] come to, if they can be read.
fn expected(header: &[u8], claims: &str, hash: &str) -> Option<Answer> {
    let head = members(header)?;
    matches!(algorithm(header)?.as_str(), "HS256" | "HS384").then_some(())?;
    if raw(&head, "kid").is_some() {
        text(&head, "kid")?;
    }
    // `x` alone may be critical, once, and must be there then; `b64` means nothing here.
    let critical: Option<Vec<String>> = match raw(&head, "crit") {
        Some(list) => Some(serde_json::from_str(list).ok()?),
        None => None,
    };
    let sound = critical.is_none_or(|list| list == ["x"] && raw(&head, "x").is_some());
    (sound && raw(&head, "b64").is_none()).then_some(())?;

    let claims = members(claims.as_bytes())?;
    let said = text(&claims, "body_hash")?.eq_ignore_ascii_case(hash)
        && ["a", "b"].contains(&text(&claims, "iss")?.as_str())
        && !text(&claims, "jti")?.is_empty()
        && raw(&claims, "ok")? == "true";
    said.then_some(())?;
    let second = |name| match raw(&claims, name) {
        None => Some(None),
        Some(text) => {
            let number: i64 = text.parse().ok()?;
            let usual = (0..=253_402_300_799).contains(&number) && number.to_string() == text;
            usual.then_some(Some(number))
        }
    };
    let (sent, expires, from) = (second("iat")??, second("exp")??, second("nbf")?);
    let fresh = sent.abs_diff(NOW) <= 300
        && sent <= NOW + 60
        && from.is_none_or(|from| from <= NOW + 60)
        && NOW < expires + 60;
    Some(if fresh {
        Answer::Accepted
    } else {
        Answer::Stale
    })
}
