//! What is done with bytes before they are signed.

use sha2::{Digest as _, Sha256};

use crate::scheme::{Encoding, Transform};

/// Applies a transformation; `None` for bytes that it has no meaning for.
pub(crate) fn apply(transform: Transform, bytes: Vec<u8>) -> Option<Vec<u8>> {
    Some(match transform {
        Transform::Join => bytes,
        Transform::Sha256(encoding) => encode(encoding, &Sha256::digest(&bytes)),
        #[cfg(feature = "sha1")]
        Transform::Sha1 => sha1::Sha1::digest(&bytes).to_vec(),
        #[cfg(feature = "crc32")]
        Transform::Crc32 => crc32fast::hash(&bytes).to_string().into_bytes(),
        Transform::LowerCase => bytes.to_ascii_lowercase(),
        Transform::Base64Url => base64url(&bytes).into_bytes(),
        Transform::JsonString => json_string(std::str::from_utf8(&bytes).ok()?),
        Transform::PhpEscapes => php_escapes(std::str::from_utf8(&bytes).ok()?),
        Transform::OtherPort => other_port(std::str::from_utf8(&bytes).ok()?).into_bytes(),
        Transform::UnescapeUri => unescape_uri(bytes),
        #[cfg(feature = "form")]
        Transform::EncodeUri => encode_uri(std::str::from_utf8(&bytes).ok()?).into_bytes(),
        #[cfg(feature = "unicode")]
        Transform::Nfkd => {
            use unicode_normalization::UnicodeNormalization as _;
            let text = std::str::from_utf8(&bytes).ok()?;
            text.nfkd().collect::<String>().into_bytes()
        }
        // Schemes that need a feature which is not there are refused with their secrets.
        #[allow(unreachable_patterns, reason = "with all features there are none left")]
        _ => return None,
    })
}

/// Writes a signature or digest as text; [`Encoding::Plain`] is the bytes themselves.
pub(crate) fn encode(encoding: Encoding, bytes: &[u8]) -> Vec<u8> {
    use base64::{
        Engine as _,
        engine::general_purpose::{STANDARD, URL_SAFE},
    };
    match encoding {
        Encoding::Hex | Encoding::LowerHex => lower_hex(bytes).into_bytes(),
        Encoding::Base64 => STANDARD.encode(bytes).into_bytes(),
        Encoding::Base64Url | Encoding::PercentBase64 => URL_SAFE.encode(bytes).into_bytes(),
        Encoding::HexInBase64 => STANDARD.encode(lower_hex(bytes)).into_bytes(),
        Encoding::Plain => bytes.to_vec(),
    }
}

pub(crate) fn lower_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64url(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    URL_SAFE_NO_PAD.encode(bytes)
}

/// ECMA-262 §25.5.2.3 QuoteJSONString, for text without lone surrogates.
fn json_string(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out.into_bytes()
}

fn php_escapes(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '/' => out.push_str("\\/"),
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.into_bytes()
}

/// Decodes the escapes of a few marks, and no others.
fn unescape_uri(text: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_slice();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let mut decoded = [0];
        let escape = tail.split_at_checked(2).filter(|_| byte == b'%');
        match escape {
            Some((digits, tail))
                if hex::decode_to_slice(digits, &mut decoded).is_ok()
                    && decoded.iter().all(|byte| b":/?@!$'()*,;".contains(byte)) =>
            {
                out.extend_from_slice(&decoded);
                rest = tail;
            }
            _ => out.push(byte),
        }
    }
    out
}

/// With the default port if it has none, without it if it has one.
fn other_port(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let port = match scheme.to_ascii_lowercase().as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return url.to_owned(),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    // A colon behind the bracket of an IPv6 address, or any colon, begins a port.
    let bracket = authority.rfind(']').unwrap_or_default();
    match authority.rfind(':').filter(|colon| *colon >= bracket) {
        Some(colon) => {
            let host = authority.get(..colon).unwrap_or_default();
            format!("{scheme}://{host}{tail}")
        }
        None => format!("{scheme}://{authority}{port}{tail}"),
    }
}

/// JavaScript's `encodeURI` over a path, with the query escaped as one component before.
#[cfg(feature = "form")]
fn encode_uri(target: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    // ECMA-262 §19.2.6: what encodeURIComponent keeps, and what encodeURI keeps beside it.
    const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'!')
        .remove(b'~')
        .remove(b'*')
        .remove(b'\'')
        .remove(b'(')
        .remove(b')');
    const URI: &AsciiSet = &COMPONENT
        .remove(b';')
        .remove(b'/')
        .remove(b'?')
        .remove(b':')
        .remove(b'@')
        .remove(b'&')
        .remove(b'=')
        .remove(b'+')
        .remove(b'$')
        .remove(b',')
        .remove(b'#');
    let whole = match target.split_once('?') {
        // An empty query goes with its question mark, as in the SDK that does this.
        Some((path, "")) => path.to_owned(),
        Some((path, query)) => format!("{path}?{}", utf8_percent_encode(query, COMPONENT)),
        None => target.to_owned(),
    };
    utf8_percent_encode(&whole, URI).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_default_port_comes_and_goes() {
        for (with, without) in [
            ("https://a.example:443/x?y=:1", "https://a.example/x?y=:1"),
            ("http://a.example:80", "http://a.example"),
            ("https://[2001:db8::1]:443/x", "https://[2001:db8::1]/x"),
        ] {
            assert_eq!(other_port(with), without);
            assert_eq!(other_port(without), with);
        }
        assert_eq!(
            other_port("https://a.example:8443/x"),
            "https://a.example/x"
        );
        assert_eq!(other_port("https://[::1]:80/"), "https://[::1]/");
        assert_eq!(other_port("nonsense"), "nonsense");
    }

    #[test]
    fn only_the_marks_are_unescaped() {
        let url = b"https://a.example/%C3%A9?q=a%3Ab%2fc%26%2".to_vec();
        let read = String::from_utf8(unescape_uri(url)).unwrap();
        assert_eq!(read, "https://a.example/%C3%A9?q=a:b/c%26%2");
    }

    #[test]
    fn strings_are_escaped_as_the_engines_do() {
        let text = "a\"\\/\n\u{1}\u{2028}é😀";
        assert_eq!(
            String::from_utf8(json_string(text)).unwrap(),
            "\"a\\\"\\\\/\\n\\u0001\u{2028}é😀\""
        );
        assert_eq!(
            String::from_utf8(php_escapes("/é😀")).unwrap(),
            "\\/\\u00e9\\ud83d\\ude00"
        );
    }
}
