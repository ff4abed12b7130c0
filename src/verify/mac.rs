//! Keyed MAC states, and the one place where a signature is compared.

use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use hmac::{
    Hmac, KeyInit,
    digest::{CtOutput, Output, OutputSizeUser},
};
use sha2::{Digest, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use crate::scheme::{Encoding, Mac};

/// The longest MAC is 64 bytes; their base64 text of 88 may be 66 for all that the decoder knows.
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
    Token(Hmac<Sha256>, [u8; 32]),
}

/// The MAC of one request under one key. The hash crates compare it in constant time.
pub(crate) enum Tag {
    Sha256(CtOutput<Hmac<Sha256>>),
    Sha512(CtOutput<Hmac<Sha512>>),
    #[cfg(feature = "sha1")]
    Sha1(CtOutput<Hmac<sha1::Sha1>>),
    /// Of a token, which signs nothing.
    Nothing,
}

impl Tag {
    /// For signing, and for the answer to a challenge. Whoever verifies lets [`MacKey::compare`]
    /// do it.
    #[cfg(any(feature = "testing", feature = "handshake"))]
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Tag::Sha256(tag) => tag.as_bytes(),
            Tag::Sha512(tag) => tag.as_bytes(),
            #[cfg(feature = "sha1")]
            Tag::Sha1(tag) => tag.as_bytes(),
            Tag::Nothing => &[],
        }
    }

    fn matches(&self, signature: &[u8]) -> bool {
        match self {
            Tag::Sha256(tag) => same(tag, signature),
            Tag::Sha512(tag) => same(tag, signature),
            #[cfg(feature = "sha1")]
            Tag::Sha1(tag) => same(tag, signature),
            Tag::Nothing => false,
        }
    }
}

/// Constant-time for signatures of the right length, which is no secret.
fn same<M: OutputSizeUser>(tag: &CtOutput<M>, signature: &[u8]) -> bool {
    <&Output<M>>::try_from(signature).is_ok_and(|signature| *tag == CtOutput::from(signature))
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

fn run<M: hmac::Mac + Clone>(key: &M, parts: &[&[u8]]) -> CtOutput<M> {
    #[cfg(test)]
    COMPUTED.set(COMPUTED.get().saturating_add(1));
    let mut mac = key.clone();
    for part in parts {
        mac.update(part);
    }
    mac.finalize()
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
                let digest = run(&blind, &[key]).into_bytes().into();
                MacKey::Token(blind, digest)
            }
        }
    }

    /// The MAC over `parts` in order.
    pub(crate) fn compute(&self, parts: &[&[u8]]) -> Tag {
        match self {
            MacKey::Sha256(key) => Tag::Sha256(run(key, parts)),
            MacKey::Sha512(key) => Tag::Sha512(run(key.as_ref(), parts)),
            #[cfg(feature = "sha1")]
            MacKey::Sha1(key) => Tag::Sha1(run(key, parts)),
            MacKey::Token(..) => Tag::Nothing,
        }
    }

    /// Decodes one signature as received and lets the MAC compare it. `None`: not readable.
    pub(crate) fn compare(&self, tag: &Tag, encoding: Encoding, text: &[u8]) -> Option<bool> {
        let mut room = [0; DECODE_ROOM];
        match (self, encoding) {
            (MacKey::Token(blind, digest), _) => {
                let presented: [u8; 32] = run(blind, &[text]).into_bytes().into();
                Some(presented.as_slice().ct_eq(digest).into())
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
        Encoding::Hex => match text.try_into() {
            Ok(text) => {
                *room.first_chunk_mut()? = decode_sha256(text)?;
                32
            }
            Err(_) => {
                let length = text.len().div_euclid(2);
                hex::decode_to_slice(text, room.get_mut(..length)?).ok()?;
                length
            }
        },
        Encoding::Base64 => STANDARD.decode_slice(text, room).ok()?,
        Encoding::Base64Url => URL_SAFE_ANY_PADDING.decode_slice(text, room).ok()?,
        Encoding::Plain => return None,
    };
    room.get(..length)
}

/// Decodes the hexadecimal text of a SHA-256 tag.
///
/// Without branches and of fixed length, so that it compiles to vector instructions: the `hex`
/// crate looks at one digit after the other, which is a tenth of a small delivery's time.
fn decode_sha256(text: &[u8; 64]) -> Option<[u8; 32]> {
    let mut digits = [0; 64];
    for (digit, byte) in digits.iter_mut().zip(text) {
        *digit = value(*byte);
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks().0) {
        *byte = high << 4 | low;
    }
    let seen = digits.iter().fold(0, |seen, digit| seen | digit);
    (seen < 16).then_some(bytes)
}

/// The value of a hexadecimal digit; 255 for any other byte.
fn value(text: u8) -> u8 {
    let number = text.wrapping_sub(b'0');
    let letter = (text | 0x20).wrapping_sub(b'a');
    let number = if number < 10 { number } else { 255 };
    let letter = if letter < 6 {
        letter.wrapping_add(10)
    } else {
        255
    };
    number & letter
}

/// Writes a MAC or digest of at most 64 bytes as text.
#[cfg(any(feature = "testing", feature = "handshake"))]
pub(crate) fn encode(encoding: Encoding, tag: &[u8]) -> String {
    let mut room = [0_u8; 128];
    let length = match encoding {
        Encoding::Hex => {
            let length = tag.len().saturating_mul(2);
            room.get_mut(..length)
                .and_then(|room| hex::encode_to_slice(tag, room).ok());
            length
        }
        Encoding::Base64 => STANDARD.encode_slice(tag, &mut room).unwrap_or_default(),
        Encoding::Base64Url => URL_SAFE_ANY_PADDING
            .encode_slice(tag, &mut room)
            .unwrap_or_default(),
        Encoding::Plain => 0,
    };
    room.iter().take(length).copied().map(char::from).collect()
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The `hex` crate is the oracle, for every byte in every place.
    #[test]
    fn hex_is_read_as_the_hex_crate_reads_it() {
        let good = *b"00112233445566778899aAbBcCdDeEfF0f1e2d3c4b5a69788796A5B4C3D2E1F0";
        for place in 0..good.len() {
            for byte in 0..=u8::MAX {
                let mut text = good;
                *text.get_mut(place).unwrap() = byte;
                let (mut room, mut expected) = ([0; DECODE_ROOM], [0; 32]);
                let read = decode(Encoding::Hex, &text, &mut room);
                let oracle = hex::decode_to_slice(text, &mut expected);
                assert_eq!(
                    read,
                    oracle.is_ok().then_some(&expected[..]),
                    "{byte} at {place}"
                );
            }
        }
    }

    #[test]
    fn hex_of_other_lengths_is_read_too() {
        for length in 0..=2 * DECODE_ROOM + 2 {
            let mut room = [0; DECODE_ROOM];
            let read = decode(Encoding::Hex, &vec![b'7'; length], &mut room).map(<[u8]>::to_vec);
            let good = length % 2 == 0 && length <= 2 * DECODE_ROOM;
            assert_eq!(read, good.then(|| vec![0x77; length / 2]), "{length}");
        }
    }
}
