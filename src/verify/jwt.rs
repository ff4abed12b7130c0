//! Tokens: a JSON Web Signature in compact form (RFC 7515 §3.1), judged by a row's rules.
//!
//! Nothing that the token says about itself is believed before its signature holds, but for the
//! name of the algorithm, which must be one of the row's own, and the id of the key, which may
//! choose among the keys of the ring.

mod claims;
mod token;

use time::OffsetDateTime;

use crate::{
    scheme::{ClaimRule, Jwt, KeySource, MAX_PARTS, Part, Payload, Scheme},
    secrets::{Key, Secrets},
};

use super::{
    Invalid, KeyNeeded, Malformed, Reader, Rejection, StaleDelivery, Verified, printable, stamp,
};
use claims::{Claims, Request};
use token::{Token, base64url};

/// Verifies a delivery under a scheme with token rules. The order is that of
/// [`verify`](crate::verify): bounded reading, the signature, what it covers, and freshness last.
pub(super) fn verify<'a>(
    reader: Reader<'a>,
    rules: &'static Jwt,
    body: &'a [u8],
    secrets: &'a Secrets,
    now: OffsetDateTime,
) -> Result<Verified<'a>, Rejection> {
    let token = Token::read(reader, rules, body)?;
    let freshness = secrets.freshness();
    let verified = |stamp, (index, key): (usize, &'a Key)| {
        let key = (index, key.id.as_deref());
        Verified::new(reader, body, stamp, now, key, secrets.window())
    };

    if let Payload::Detached | Payload::DetachedEncodedBody = rules.payload_kind() {
        let (payload, stamp) = detached(reader, rules, body)?;
        let key = matching_key(secrets, &token, payload.as_bytes(), now)?;
        let fresh = match (stamp, reader.scheme.timestamp_source()) {
            (Some(stamp), Some((_, unit))) => stamp::is_fresh(stamp, unit, now, freshness),
            _ => true,
        };
        return if fresh {
            Ok(verified(stamp, key))
        } else {
            Err(stale(&verified(stamp, key)))
        };
    }

    let key = matching_key(secrets, &token, token.payload, now)?;
    let text = claims_text(token.payload)?;
    let request = Request {
        body,
        method: reader.method(),
        url: reader.url(),
        key: key.1,
    };
    let claims = Claims::read(&text)?.holding(rules, &request)?;
    let times = claims.times(reader.scheme, rules)?;
    if times.are_good(now, freshness) {
        Ok(verified(times.sent, key))
    } else {
        Err(stale(&verified(times.sent.or(times.any()), key)))
    }
}

fn stale(delivery: &Verified<'_>) -> Rejection {
    Rejection::Stale(Box::new(StaleDelivery::keep(delivery)))
}

/// The payload that the request implies, in base64url as it was signed, and the time in it.
fn detached(
    reader: Reader<'_>,
    rules: &Jwt,
    body: &[u8],
) -> Result<(String, Option<i128>), Malformed> {
    let mut parts: [&[u8]; MAX_PARTS] = [&[]; MAX_PARTS];
    let stamp = reader.parts(&mut parts, body, ("", None))?;
    let mut content = Vec::new();
    for (part, bytes) in reader.scheme.parts().iter().zip(parts) {
        match (part, rules.payload_kind()) {
            (Part::Body, Payload::DetachedEncodedBody) => {
                content.extend_from_slice(base64url(bytes).as_bytes());
            }
            _ => content.extend_from_slice(bytes),
        }
    }
    Ok((base64url(&content), stamp))
}

/// Lets one key after the other check the signature over `header.payload`: one check per key.
fn matching_key<'s>(
    secrets: &'s Secrets,
    token: &Token<'_>,
    payload: &[u8],
    now: OffsetDateTime,
) -> Result<(usize, &'s Key), Rejection> {
    // As everywhere, the id narrows the choice, and keys without an id stay candidates.
    let chosen = |key: &&Key| match (&token.key_id, key.id.as_deref()) {
        (Some(named), Some(id)) => named.as_slice() == id.as_bytes(),
        _ => true,
    };
    let parts = [token.header, b".", payload];
    let mut known = false;
    let mut tried = false;
    for (index, key) in secrets.ring().iter().enumerate() {
        if !chosen(&key) {
            continue;
        }
        known = true;
        if !key.in_force(now) {
            continue;
        }
        tried = true;
        let mac = key.mac_number(token.algorithm);
        if mac.is_some_and(|mac| mac.verifies(&parts, &token.signature)) {
            return Ok((index, key));
        }
    }
    Err(match (known, tried) {
        (true, true) => Invalid::Signature.into(),
        (true, false) => Invalid::NoKeyInForce.into(),
        (false, _) => unknown_key(secrets.scheme(), token.key_id.as_deref()),
    })
}

/// Asks for a key to be fetched where keys are, if its id is one that can be asked for.
fn unknown_key(scheme: &Scheme, key_id: Option<&[u8]>) -> Rejection {
    let askable = |id: &&[u8]| {
        !id.is_empty() && id.len() <= 255 && id.iter().all(|byte| byte.is_ascii_graphic())
    };
    match (scheme.key_source(), key_id.filter(askable)) {
        (KeySource::ById(_), Some(id)) => KeyNeeded::Id(printable(id)).into(),
        _ => Invalid::UnknownKey.into(),
    }
}

fn claims_text(payload: &[u8]) -> Result<String, Malformed> {
    let bytes = token::decode(payload).ok_or(Malformed::Token("its claims are not base64url"))?;
    String::from_utf8(bytes).map_err(|_| Malformed::Token("its claims are not UTF-8"))
}

/// The claims' text of a delivery that has been verified.
pub(super) fn claims(reader: Reader<'_>, body: &[u8]) -> Option<String> {
    let rules = reader.scheme.token_rules()?;
    let (_, payload, _) = token::segments(token::find(reader, rules, body).ok()?)?;
    // A detached payload is empty here, and is no claims.
    claims_text(payload).ok().filter(|text| !text.is_empty())
}

/// What the token covers of a body of which it covers the meaning and not the bytes.
pub(super) fn covered_meaning(scheme: &Scheme, body: &[u8]) -> Option<String> {
    let rules = scheme.token_rules()?.claim_rules();
    let meant = rules
        .iter()
        .any(|rule| matches!(rule, ClaimRule::RequestJson(_)));
    if meant {
        crate::json::stringify(body)
    } else {
        None
    }
}
