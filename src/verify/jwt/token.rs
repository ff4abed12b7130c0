//! Reading a token, as far as that is possible before anything in it is believed.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    json::{Members, text},
    scheme::{Bearer, Jwt, MAX_HEADER_BYTES, Payload},
};

use super::super::{Malformed, Reader};

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
    pub(super) fn read(reader: Reader<'a>, rules: &Jwt, body: &'a [u8]) -> Result<Self, Malformed> {
        let (header, payload, signature) = segments(find(reader, rules, body)?)
            .ok_or(Malformed::Token("it has not three segments"))?;
        let detached = match rules.payload_kind() {
            Payload::Claims | Payload::WholeBody(_) => false,
            Payload::Detached | Payload::DetachedEncodedBody => true,
        };
        if header.len() > MAX_HEADER_BYTES || signature.len() > MAX_SIGNATURE_TEXT {
            return Err(Malformed::Token("a segment is too long"));
        }
        if header.is_empty() || signature.is_empty() || payload.is_empty() != detached {
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
            .and_then(|name| reader.scheme.algorithm_named(&name))
            .ok_or(Malformed::Token("its algorithm is not the scheme's"))?;
        if !is_uncritical(&members, rules) {
            return Err(Malformed::Token(
                "its header asks for more than the scheme knows",
            ));
        }
        let key_id = match (reader.scheme.key_id_header(), members.get("kid")) {
            (Some(header), _) => reader.optional(header)?.map(<[u8]>::to_vec),
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
    listed.iter().all(meant) && !empty && !stray
}

/// The token's text, wherever the row says that it is.
pub(super) fn find<'a>(
    reader: Reader<'a>,
    rules: &Jwt,
    body: &'a [u8],
) -> Result<&'a [u8], Malformed> {
    if let Payload::WholeBody(_) = rules.payload_kind() {
        return Ok(body);
    }
    let slot = reader.scheme.signature_slot();
    let name = slot.ok_or(Malformed::NoSignature(""))?.name();
    let value = reader.one(name)?;
    let behind_word = value
        .split_at_checked(7)
        .and_then(|(word, token)| word.eq_ignore_ascii_case(b"Bearer ").then_some(token));
    match (rules.bearer_word(), behind_word) {
        (Bearer::No, None) | (Bearer::Optional, None) => Ok(value),
        (Bearer::Required | Bearer::Optional, Some(token)) => Ok(token),
        (Bearer::No, Some(_)) | (Bearer::Required, None) => Err(Malformed::HeaderValue(name)),
    }
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
