//! Tokens: a JSON Web Signature in compact form (RFC 7515 §3.1), judged by a row's rules.
//!
//! Nothing that the token says about itself is believed before its signature holds, but for the
//! name of the algorithm, which must be one of the row's own, and the id of the key, which may
//! choose among the keys of the ring.

mod claims;
mod token;

use time::OffsetDateTime;

use crate::{
    scheme::{ClaimRule, Jwt, Scheme, Stamp},
    secrets::{Key, Secrets},
};

use super::{
    Malformed, Reader, Rejection, Request, StaleDelivery, Verified,
    compose::{Composer, Purpose},
    ring::{self, Tried},
    stamp,
};
use claims::{Claims, Compared};
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
    let request = Request {
        reader,
        body,
        element: None,
    };
    let token = Token::read(&request, rules)?;
    if rules.is_detached() {
        let stamp = header_stamp(&request)?;
        let payload = base64url(&content(request)?);
        let key = matching_key(secrets, &token, payload.as_bytes(), now)?;
        return Verified::judge(reader, body, stamp, now, key, secrets, 0);
    }

    let key = matching_key(secrets, &token, token.payload, now)?;
    let text = claims_text(token.payload)?;
    let compared = Compared {
        body,
        method: reader.method(),
        url: reader.url(),
        key: key.1,
    };
    let claims = Claims::read(&text)?.holding(rules, &compared)?;
    let times = claims.times(reader.scheme, rules)?;
    let id = (key.0, key.1.id.as_deref());
    let verified = |stamp| Verified::new(reader, body, stamp, now, id, secrets.window());
    if times.are_good(now, secrets.freshness()) {
        Ok(verified(times.sent))
    } else {
        let late = verified(times.sent.or(times.any()));
        Err(Rejection::Stale(Box::new(StaleDelivery::keep(&late))))
    }
}

fn header_stamp(request: &Request<'_>) -> Result<Option<i128>, Malformed> {
    let Some((Stamp::Slot(slot), unit)) = request.reader.scheme.timestamp_source() else {
        return Ok(None);
    };
    let text = request.single(&slot)?.ok_or(Malformed::Timestamp)?;
    stamp::parse(&text, unit)
        .map(Some)
        .ok_or(Malformed::Timestamp)
}

/// The payload that the request implies.
fn content(request: Request<'_>) -> Result<Vec<u8>, Malformed> {
    let composer = Composer {
        request,
        key: None,
        purpose: Purpose::Verify,
    };
    let content = composer.content(request.reader.scheme.parts());
    content.map_err(Malformed::from)
}

/// Lets one key after the other check the signature over `header.payload`: one check per key.
fn matching_key<'s>(
    secrets: &'s Secrets,
    token: &Token<'_>,
    payload: &[u8],
    now: OffsetDateTime,
) -> Result<(usize, &'s Key), Rejection> {
    let parts = [token.header, b".", payload];
    ring::matching(secrets, token.key_id.as_deref(), now, "", |key| {
        Ok(match key.mac_number(token.algorithm) {
            Some(mac) if mac.verifies(&parts, &token.signature) => Tried::Matched,
            _ => Tried::Unlike,
        })
    })
}

fn claims_text(payload: &[u8]) -> Result<String, Malformed> {
    let bytes = token::decode(payload).ok_or(Malformed::Token("its claims are not base64url"))?;
    String::from_utf8(bytes).map_err(|_| Malformed::Token("its claims are not UTF-8"))
}

/// The claims' text of a delivery that has been verified.
pub(super) fn claims(request: &Request<'_>) -> Option<String> {
    request.reader.scheme.token_rules()?;
    let (_, payload, _) = token::segments(token::find(request).ok()?)?;
    // A detached payload is empty here, and is no claims.
    claims_text(payload).ok().filter(|text| !text.is_empty())
}

/// What the token covers of a body of which it covers the meaning and not the bytes.
pub(super) fn covered_meaning(scheme: &Scheme, body: &[u8]) -> Option<String> {
    let rules = scheme.token_rules()?.claim_rules();
    let meant = |rule: &ClaimRule| matches!(rule, ClaimRule::RequestJson(_));
    if rules.iter().any(meant) {
        crate::json::stringify(body)
    } else {
        None
    }
}
