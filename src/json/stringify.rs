//! JSON text as JavaScript's `JSON.stringify(JSON.parse(text))` writes it, or nothing.
//!
//! serde_json checks the grammar and reads and writes the strings; here is only what is left
//! between them. It works on the text and not on a tree, because a tree has lost how numbers and
//! the order of names were written. One pass, whose memory is bounded by the text's length.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

/// Deepest nesting, as serde_json's own.
const MAX_DEPTH: usize = 128;

/// The text of `{url, method, body}`, where an empty body is `null`.
pub(crate) fn stringify_request(url: &str, method: &str, body: &[u8]) -> Option<String> {
    let (url, method) = (quote(url)?, quote(method)?);
    let body = if body.is_empty() {
        "null".to_owned()
    } else {
        stringify(body)?
    };
    Some(format!(
        r#"{{"url":{url},"method":{method},"body":{body}}}"#
    ))
}

/// `None` where the text is not JSON, or JavaScript's is not certain: a name that occurs twice or
/// looks like an array index (which moves to the front), half a surrogate pair, a number that is
/// written with an exponent or does not fit.
pub(crate) fn stringify(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut out = String::with_capacity(text.len());
    // The names of each open object; none for an open array.
    let mut open: Vec<Option<BTreeSet<String>>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let length = token(rest)?;
        let (token, behind) = rest.split_at_checked(length)?;
        rest = behind;
        match first {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' => {
                let string: String = serde_json::from_str(token).ok()?;
                out.push_str(&quote(&string)?);
                // In checked JSON, a string before a colon is a name.
                if rest.trim_start().starts_with(':') {
                    let names = open.last_mut()?.as_mut()?;
                    if is_index(&string) || !names.insert(string) {
                        return None;
                    }
                }
            }
            b'-' | b'0'..=b'9' => out.push_str(&number(token)?),
            _ => {
                match first {
                    b'{' => open.push(Some(BTreeSet::new())),
                    b'[' => open.push(None),
                    b'}' | b']' => drop(open.pop()?),
                    _ => {}
                }
                if open.len() > MAX_DEPTH {
                    return None;
                }
                out.push_str(token);
            }
        }
    }
    Some(out)
}

/// The length of the token at the start of checked JSON.
fn token(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = |such: fn(&u8) -> bool| bytes.iter().position(|byte| !such(byte));
    Some(match bytes.first()? {
        b'"' => {
            let mut escaped = false;
            let closed = bytes.iter().skip(1).position(|byte| {
                let closes = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                closes
            });
            closed?.checked_add(2)?
        }
        b'-' | b'0'..=b'9' => {
            end(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                .unwrap_or(bytes.len())
        }
        b'a'..=b'z' => end(u8::is_ascii_lowercase).unwrap_or(bytes.len()),
        _ => 1,
    })
}

/// ECMA-262 §25.5.2.3: the same escapes as serde_json writes, in lower case, and nothing else.
fn quote(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

/// ECMA-262 §6.1.6.1.20: the shortest digits that read as the same double, closest first, as Rust
/// writes it too; without an exponent from 10^-6 up to 10^21.
fn number(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    let size = number.abs();
    if size == 0.0 {
        // Of minus zero too.
        return Some("0".to_owned());
    }
    (1e-6..1e21).contains(&size).then(|| format!("{number}"))
}

/// Whether a name may be an array index, which JavaScript sorts before all other names.
fn is_index(name: &str) -> bool {
    let leading_zero = name.len() > 1 && name.starts_with('0');
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) && !leading_zero
}
