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
/// written with an exponent, does not fit, or has two shortest texts.
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
    ((1e-6..1e21).contains(&size) && !is_halfway(size)).then(|| format!("{number}"))
}

/// Whether two shortest texts are equally close to the number, which then lies halfway between
/// them: Rust takes the upper one, and JavaScript engines the even one, though none has to.
fn is_halfway(size: f64) -> bool {
    let digits = |text: String| {
        let (digits, _) = text.split_once('e').unwrap_or((&text, ""));
        digits.replace('.', "").trim_end_matches('0').to_owned()
    };
    // In this range no double has more than 70 digits, so this is all of them.
    let exact = digits(format!("{size:.80e}"));
    let shortest = digits(format!("{size:e}"));
    exact.ends_with('5') && exact.len() == shortest.len().saturating_add(1)
}

/// Whether a name may be an array index, which JavaScript sorts before all other names.
fn is_index(name: &str) -> bool {
    let leading_zero = name.len() > 1 && name.starts_with('0');
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) && !leading_zero
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    /// What Node's `JSON.stringify(JSON.parse(text))` gave for each text.
    #[test]
    fn texts_are_written_as_javascript_writes_them() {
        for (text, written) in [
            (" [ 1 , 2.0 , 1e3 , -0 , 0.10 ] ", "[1,2,1000,0,0.1]"),
            (
                "[1E20,123456789012345680000]",
                "[100000000000000000000,123456789012345680000]",
            ),
            (
                "[9007199254740993,0.1e-5,1e-6]",
                "[9007199254740992,0.000001,0.000001]",
            ),
            (
                "[0.30000000000000004,1.7976931348623157]",
                "[0.30000000000000004,1.7976931348623157]",
            ),
            (r#""\u0041\/\u00e9\uD834\uDD1E""#, "\"A/é𝄞\""),
            (
                r#""\b\t\n\f\r\"\\\u0000\u001F\u007f\u2028""#,
                "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f\u{7f}\u{2028}\"",
            ),
            (
                r#"{"b":{"\u0061":[]},"a":null,"01":true}"#,
                r#"{"b":{"a":[]},"a":null,"01":true}"#,
            ),
            (r#"{"a" : "x:y", "b":"\"}:" }"#, r#"{"a":"x:y","b":"\"}:"}"#),
            (r#"[{"a":1},{"a":2}]"#, r#"[{"a":1},{"a":2}]"#),
            (r#"{"__proto__":1,"":2}"#, r#"{"__proto__":1,"":2}"#),
            ("true", "true"),
            ("-1.50", "-1.5"),
        ] {
            assert_eq!(
                stringify(text.as_bytes()).as_deref(),
                Some(written),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        for text in [
            r#"{"1":0}"#,
            r#"{"0":0}"#,
            r#"{"a":{"4294967295":0}}"#,
            r#"{"\u0031":0}"#,
            r#"{"a":0,"a":0}"#,
            r#"{"a":0,"\u0061":0}"#,
            r#"["\ud800"]"#,
            r#"["\udc00\ud800"]"#,
            "[1e21]",
            "[999999999999999999999]",
            "[5e-324]",
            // 742676184178187.25, which Node writes with .2 and Rust with .3.
            "[74.267618417818728685e13]",
            "[1e-7]",
            "[1e999]",
            "[-1e400]",
            "",
            " ",
            "{",
            "[1,]",
            "[01]",
            "NaN",
            "[1] 2",
            "\u{feff}[]",
            "['a']",
            "[\"\t\"]",
        ] {
            assert_eq!(stringify(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(stringify(b"[\"\xff\"]"), None);
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let deepest = nested(127);
        assert_eq!(stringify(deepest.as_bytes()), Some(deepest));
        assert_eq!(stringify(nested(1_000_000).as_bytes()), None);
    }

    #[test]
    fn a_request_without_a_body_has_null() {
        let text = stringify_request("https://a.example/?q=\"", "GET", b"");
        let written = r#"{"url":"https://a.example/?q=\"","method":"GET","body":null}"#;
        assert_eq!(text.as_deref(), Some(written));
        assert_eq!(stringify_request("u", "GET", b"{"), None);
    }
}
