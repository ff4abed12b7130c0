//! Signatures as they are written: decoded, and judged by their length.

use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

use crate::scheme::{Encoding, Mac};

/// The longest MAC is 64 bytes; their base64 text of 88 may be 66 for all that the decoder knows.
pub(super) const MAC_ROOM: usize = 66;

/// The same for the signature of an RSA key of 8192 bits, 1024 bytes.
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
pub(super) const SIGNATURE_ROOM: usize = 1026;

const URL_SAFE_ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes a signature into `room`; `None` if it is not written as the encoding says.
pub(super) fn decode<'r, const ROOM: usize>(
    encoding: Encoding,
    text: &[u8],
    room: &'r mut [u8; ROOM],
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
        Encoding::LowerHex if text.iter().any(u8::is_ascii_uppercase) => return None,
        Encoding::LowerHex => return decode(Encoding::Hex, text, room),
        Encoding::HexInBase64 => return decode(Encoding::LowerHex, &any_length(text)?, room),
        Encoding::PercentBase64 => return percent_base64(text, room),
        Encoding::Plain => return None,
    };
    room.get(..length)
}

/// Base64 of any length, which costs memory.
pub(super) fn any_length(text: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Base64 in either alphabet, percent-encoded or not.
fn percent_base64<'r, const ROOM: usize>(
    text: &[u8],
    room: &'r mut [u8; ROOM],
) -> Option<&'r [u8]> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let byte = if byte == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            rest = tail;
            let mut byte = [0];
            hex::decode_to_slice(digits, &mut byte).ok()?;
            byte.into_iter().next()?
        } else {
            byte
        };
        plain.push(match byte {
            b'+' => b'-',
            b'/' => b'_',
            byte => byte,
        });
    }
    let length = URL_SAFE_ANY_PADDING.decode_slice(plain, room).ok()?;
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

/// Fewest and most bytes of a signature, or `None` for tokens.
fn sizes(algorithm: Mac) -> Option<(usize, usize)> {
    match algorithm {
        Mac::Token => None,
        // Two integers of 1 to 33 bytes, each with two bytes in front, in a sequence.
        #[cfg(feature = "ecdsa")]
        Mac::EcdsaP256Sha256Der => Some((8, 72)),
        #[cfg(all(feature = "ecdsa", feature = "sha1"))]
        Mac::EcdsaP256Sha1Der => Some((8, 72)),
        // As long as the key's modulus, which is not looked at here.
        #[cfg(feature = "rsa")]
        Mac::RsaSha256 | Mac::RsaSha512 | Mac::RsaPssSha512 => Some((128, 1024)),
        #[cfg(all(feature = "rsa", feature = "sha1"))]
        Mac::RsaSha1 => Some((128, 1024)),
        other => other.tag_len().map(|length| (length, length)),
    }
}

/// Whether a text can be a signature of this algorithm at all, by its length alone.
pub(crate) fn plausible(algorithm: Mac, encoding: Encoding, text: &[u8]) -> bool {
    let Some((least, most)) = sizes(algorithm) else {
        return !text.is_empty();
    };
    let unpadded = |bytes: usize| bytes.saturating_mul(4).div_ceil(3);
    let padded = |bytes: usize| bytes.div_ceil(3).saturating_mul(4);
    let length = text.len();
    let within = |size: fn(usize) -> usize| (size(least)..=size(most)).contains(&length);
    match encoding {
        Encoding::Hex | Encoding::LowerHex => {
            within(|bytes| bytes.saturating_mul(2)) && length.is_multiple_of(2)
        }
        Encoding::HexInBase64 => {
            within(|bytes| bytes.saturating_mul(2).div_ceil(3).saturating_mul(4))
        }
        Encoding::PercentBase64 => length >= unpadded(least),
        Encoding::Base64 => within(padded) && length.is_multiple_of(4),
        Encoding::Base64Url if least == most => length == padded(most) || length == unpadded(most),
        Encoding::Base64Url => (unpadded(least)..=padded(most)).contains(&length),
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
                let (mut room, mut expected) = ([0; MAC_ROOM], [0; 32]);
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
        for length in 0..=2 * MAC_ROOM + 2 {
            let mut room = [0; MAC_ROOM];
            let read = decode(Encoding::Hex, &vec![b'7'; length], &mut room).map(<[u8]>::to_vec);
            let good = length % 2 == 0 && length <= 2 * MAC_ROOM;
            assert_eq!(read, good.then(|| vec![0x77; length / 2]), "{length}");
        }
    }
}
