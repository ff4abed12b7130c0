//! Keyed MAC states, and the one place where a signature is compared.

use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use hmac::{Hmac, KeyInit};
use sha2::{Digest, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use crate::scheme::{Encoding, Mac};

/// Longest MAC of any algorithm here, in bytes.
pub(crate) const MAX_TAG: usize = 64;

/// Base64 text of the longest MAC is 88 bytes, which the decoder takes as 66.
const DECODE_ROOM: usize = 66;

const URL_SAFE_ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A key with its schedule done: cloning it is all that a request pays.
///
/// Zeroized on drop by the hash crates' own `zeroize` feature.
pub(crate) enum MacKey {
    Sha256(Hmac<Sha256>),
    Sha512(Box<Hmac<Sha512>>),
    #[cfg(feature = "sha1")]
    Sha1(Hmac<sha1::Sha1>),
    /// A keyed digest of the token: comparing digests hides where, and whether in length, two
    /// tokens differ.
    Token(Hmac<Sha256>, Tag),
}

/// The MAC of one request under one key. Compared in constant time only.
pub(crate) struct Tag {
    bytes: [u8; MAX_TAG],
    length: usize,
}

impl Tag {
    fn new(mac: &[u8]) -> Self {
        let mut bytes = [0; MAX_TAG];
        for (to, from) in bytes.iter_mut().zip(mac) {
            *to = *from;
        }
        Self {
            bytes,
            length: mac.len(),
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Constant-time for signatures of the right length, which is no secret.
    fn matches(&self, signature: &[u8]) -> bool {
        self.as_slice().ct_eq(signature).into()
    }
}

fn keyed<M: KeyInit>(key: &[u8]) -> M {
    // HMAC takes keys of any length (RFC 2104 §2), so the fallback is never used; it is what a
    // crate without panics writes instead of `expect`.
    M::new_from_slice(key).unwrap_or_else(|_| M::new(&hmac::digest::Key::<M>::default()))
}

#[cfg(test)]
thread_local! {
    /// MACs computed on this thread, for the test that bounds them.
    pub(crate) static COMPUTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn run<M: hmac::Mac + Clone>(key: &M, parts: &[&[u8]]) -> Tag {
    #[cfg(test)]
    COMPUTED.set(COMPUTED.get().saturating_add(1));
    let mut mac = key.clone();
    for part in parts {
        mac.update(part);
    }
    Tag::new(&mac.finalize().into_bytes())
}

impl MacKey {
    pub(crate) fn new(algorithm: Mac, key: &[u8]) -> Self {
        match algorithm {
            Mac::HmacSha256 => MacKey::Sha256(keyed(key)),
            Mac::HmacSha512 => MacKey::Sha512(Box::new(keyed(key))),
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => MacKey::Sha1(keyed(key)),
            Mac::Token => {
                // The key only has to be unknown to whoever times us; a digest of the token is.
                let blind: Hmac<Sha256> = keyed(&Sha256::digest(key));
                let tag = run(&blind, &[key]);
                MacKey::Token(blind, tag)
            }
        }
    }

    /// The MAC over `parts` in order; of a token scheme, the stored digest.
    pub(crate) fn compute(&self, parts: &[&[u8]]) -> Tag {
        match self {
            MacKey::Sha256(key) => run(key, parts),
            MacKey::Sha512(key) => run(key.as_ref(), parts),
            #[cfg(feature = "sha1")]
            MacKey::Sha1(key) => run(key, parts),
            MacKey::Token(_, tag) => Tag::new(tag.as_slice()),
        }
    }

    /// Decodes one signature as received and lets the MAC compare it. `None`: not readable.
    pub(crate) fn compare(&self, tag: &Tag, encoding: Encoding, text: &[u8]) -> Option<bool> {
        let mut room = [0; DECODE_ROOM];
        match (self, encoding) {
            (MacKey::Token(blind, _), _) => {
                Some(!text.is_empty() && tag.matches(run(blind, &[text]).as_slice()))
            }
            (_, encoding) => decode(encoding, text, &mut room).map(|bytes| tag.matches(bytes)),
        }
    }
}

/// Decodes a signature into `room`; `None` if it is not written as the encoding says.
fn decode<'r>(
    encoding: Encoding,
    text: &[u8],
    room: &'r mut [u8; DECODE_ROOM],
) -> Option<&'r [u8]> {
    let length = match encoding {
        Encoding::Hex => {
            let length = text.len().div_euclid(2);
            hex::decode_to_slice(text, room.get_mut(..length)?).ok()?;
            length
        }
        Encoding::Base64 => STANDARD.decode_slice(text, room).ok()?,
        Encoding::Base64Url => URL_SAFE_ANY_PADDING.decode_slice(text, room).ok()?,
        Encoding::Plain => return None,
    };
    room.get(..length)
}

/// Whether a text can be a signature of this algorithm at all, by its length alone.
pub(crate) fn plausible(algorithm: Mac, encoding: Encoding, text: &[u8]) -> bool {
    let Some(bytes) = algorithm.tag_len() else {
        return !text.is_empty();
    };
    let unpadded = bytes.saturating_mul(4).div_ceil(3);
    let padded = bytes.div_ceil(3).saturating_mul(4);
    match encoding {
        Encoding::Hex => text.len() == bytes.saturating_mul(2),
        Encoding::Base64 => text.len() == padded,
        Encoding::Base64Url => text.len() == padded || text.len() == unpadded,
        Encoding::Plain => false,
    }
}
