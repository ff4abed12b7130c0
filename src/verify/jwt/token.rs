//! Reading a token, as far as that is possible before anything in it is believed.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    json::{Members, text},
    scheme::{Jwt, MAX_HEADER_BYTES, Place},
};

use super::super::{Malformed, Request};

/// Longest signature, as text: RSA with 8192 bits.
const MAX_SIGNATURE_TEXT: usize = 1366;

/// A token whose header has been read.
pub(super) struct Token<'a> {
    /// As it came, in base64url.
    pub(super) header: &'a [u8],
    /// As it came, in base64url; empty if detached.
    pub(super) payload: &'a [u8],
    pub(super) signature: Vec<u8>,
    /// The scheme's number of the algorithm.
    pub(super) algorithm: usize,
    pub(super) key_id: Option<Vec<u8>>,
}

impl<'a> Token<'a> {
    pub(super) fn read(request: &Request<'a>, rules: &Jwt) -> Result<Self, Malformed> {
        let scheme = request.reader.scheme;
        let (header, payload, signature) =
            segments(find(request)?).ok_or(Malformed::Token("it has not three segments"))?;
        if header.len() > MAX_HEADER_BYTES || signature.len() > MAX_SIGNATURE_TEXT {
            return Err(Malformed::Token("a segment is too long"));
        }
        if header.is_empty() || signature.is_empty() || payload.is_empty() != rules.is_detached() {
            return Err(Malformed::Token(
                "a segment is empty that must not be, or full",
            ));
        }
        let signature =
            decode(signature).ok_or(Malformed::Token("its signature is not base64url"))?;
        let json = decode(header).ok_or(Malformed::Token("its header is not base64url"))?;
        let members =
            Members::read(&json).ok_or(Malformed::Token("its header is not a JSON object"))?;
        let algorithm = members
            .get("alg")
            .and_then(text)
            .and_then(|name| scheme.algorithm_named(&name))
            .ok_or(Malformed::Token("its algorithm is not the scheme's"))?;
        if !is_uncritical(&members, rules) {
            return Err(Malformed::Token(
                "its header asks for more than the scheme knows",
            ));
        }
        let key_id = match (scheme.key_id_slot(), members.get("kid")) {
            (Some(slot), _) => request.single(&slot)?.map(Cow::into_owned),
            (None, Some(kid)) => {
                let kid = text(kid).ok_or(Malformed::Token("its key id is not a text"))?;
                Some(kid.into_bytes())
            }
            (None, None) => None,
        };
        Ok(Self {
            header,
            payload,
            signature,
            algorithm,
            key_id,
        })
    }
}

/// RFC 7515 §4.1.11, and RFC 7797 §6, by which `b64` means nothing unless it is listed.
fn is_uncritical(members: &Members<'_>, rules: &Jwt) -> bool {
    let known = rules.critical_names();
    let listed: Option<Vec<String>> = match members.get("crit") {
        None => Some(Vec::new()),
        Some(list) => serde_json::from_str(list.get()).ok(),
    };
    let Some(listed) = listed else {
        return false;
    };
    let meant = |name: &String| known.contains(&name.as_str()) && members.get(name).is_some();
    let empty = members.get("crit").is_some() && listed.is_empty();
    let stray = members.get("b64").is_some() && !listed.iter().any(|name| name == "b64");
    let once = |name: &String| listed.iter().filter(|other| *other == name).count() == 1;
    listed.iter().all(|name| meant(name) && once(name)) && !empty && !stray
}

/// The token's text, wherever the row says that it is.
pub(super) fn find<'a>(request: &Request<'a>) -> Result<&'a [u8], Malformed> {
    let slot = request.reader.scheme.signature_slot();
    let slot = slot.ok_or(Malformed::NoSignature(""))?;
    let value = match slot.place() {
        Place::Body => request.body,
        _ => request.reader.one(slot.name())?,
    };
    slot.single(value)
        .ok_or(Malformed::NoSignature(slot.name()))
}

/// Header, payload and signature.
pub(super) fn segments(token: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut segments = token.split(|byte| *byte == b'.');
    let three = (segments.next()?, segments.next()?, segments.next()?);
    segments.next().is_none().then_some(three)
}

/// Strict: no padding, no white space, and no bits set behind the last byte, so that a token has
/// one spelling.
pub(super) fn decode(segment: &[u8]) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(segment).ok()
}

pub(super) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
