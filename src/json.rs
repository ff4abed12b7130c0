//! Single values out of a JSON body, and a hash of a JSON body that ignores its spelling.
//!
//! Only bodies that have been authenticated come here. Parsing is serde_json's; nothing is built
//! in memory on the way to one value.

#[cfg(feature = "jwt")]
mod members;
#[cfg(feature = "jwt")]
mod stringify;

use std::fmt;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

#[cfg(feature = "jwt")]
pub(crate) use members::{Members, text};
#[cfg(feature = "jwt")]
pub(crate) use stringify::{stringify, stringify_request};

/// A value that can name something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text(String),
    Number(i128),
}

impl Scalar {
    fn from_json(text: &str) -> Option<Self> {
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Scalar::Text);
        }
        // serde_json has checked the grammar; fractions and exponents do not parse here.
        text.parse().ok().map(Scalar::Number)
    }

    pub(crate) fn into_text(self) -> String {
        match self {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
        }
    }
}

/// The string or whole number at an RFC 6901 pointer. `None` if the body is not JSON, nothing is
/// there, something else is there, or a name on the way occurs twice, which parsers read
/// differently.
pub(crate) fn find(body: &[u8], pointer: &str) -> Option<Scalar> {
    Scalar::from_json(find_raw(body, pointer).ok()??)
}

/// A body that is not JSON, or names something twice on the way to what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

/// The value at a pointer as it is written; an empty pointer is the whole document.
pub(crate) fn find_raw<'b>(body: &'b [u8], pointer: &str) -> Result<Option<&'b str>, NotJson> {
    // JSON is UTF-8 (RFC 8259 §8.1), in the strings that are skipped on the way too.
    let text = std::str::from_utf8(body).map_err(|_| NotJson)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = Seek(pointer).deserialize(&mut deserializer);
    let found = found.map_err(|_| NotJson)?;
    deserializer.end().map_err(|_| NotJson)?;
    Ok(found)
}

/// A scalar as providers print it into what they sign: a string's text, a number or truth value as
/// it is written. `None` for `null`, for what is not there, and for lists and objects.
pub(crate) fn text_at<'b>(
    body: &'b [u8],
    pointer: &str,
) -> Result<Option<std::borrow::Cow<'b, str>>, NotJson> {
    let Some(raw) = find_raw(body, pointer)? else {
        return Ok(None);
    };
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(raw)
            .map(|text| Some(text.into()))
            .map_err(|_| NotJson),
        Some(b'{' | b'[' | b'n') | None => Ok(None),
        Some(_) => Ok(Some(raw.into())),
    }
}

/// The elements of the array at a pointer, as they are written; at most `most`.
pub(crate) fn elements<'b>(
    body: &'b [u8],
    pointer: &str,
    most: usize,
) -> Result<Vec<&'b str>, NotJson> {
    let raw = find_raw(body, pointer)?.ok_or(NotJson)?;
    let all: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| NotJson)?;
    if all.len() > most {
        return Err(NotJson);
    }
    Ok(all.into_iter().map(RawValue::get).collect())
}

/// Descends to the rest of a pointer.
#[derive(Clone, Copy)]
struct Seek<'p>(&'p str);

impl<'p> Seek<'p> {
    /// The next name and what remains behind it.
    fn step(self) -> Option<(&'p str, Seek<'p>)> {
        let rest = self.0.strip_prefix('/')?;
        let (name, _) = rest.split_once('/').unwrap_or((rest, ""));
        Some((name, Seek(rest.strip_prefix(name)?)))
    }
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            // The raw text, because how numbers are handed over depends on features of serde_json
            // that another crate in the build may have switched on.
            return Ok(Some(<&RawValue>::deserialize(deserializer)?.get()));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let step = self.step();
        let mut found = None;
        let mut seen = false;
        while let Some(wanted) = map.next_key_seed(NameIs(step.map(|(name, _)| name)))? {
            match step {
                Some((_, rest)) if wanted => {
                    if seen {
                        return Err(A::Error::custom("a name occurs twice"));
                    }
                    seen = true;
                    found = map.next_value_seed(rest)?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let step = self.step();
        let wanted = step.and_then(|(name, _)| name.parse::<usize>().ok());
        let mut found = None;
        let mut index = 0_usize;
        loop {
            match step {
                Some((_, rest)) if wanted == Some(index) => match seq.next_element_seed(rest)? {
                    Some(value) => found = value,
                    None => return Ok(found),
                },
                _ => {
                    if seq.next_element::<IgnoredAny>()?.is_none() {
                        return Ok(found);
                    }
                }
            }
            index = index.saturating_add(1);
        }
    }
}

/// Compares a member's name with a pointer token without keeping it.
struct NameIs<'p>(Option<&'p str>);

impl<'de> DeserializeSeed<'de> for NameIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0.is_some_and(|token| {
            // RFC 6901 §4: `~1` is a slash, `~0` a tilde.
            if token.contains('~') {
                token.replace("~1", "/").replace("~0", "~") == name
            } else {
                token == name
            }
        }))
    }
}

/// Feeds a hash with the meaning of a JSON body, but for the members at `except`: equal for any
/// spelling, white space and order of members. `None` if the body is not JSON.
pub(crate) fn digest_except(body: &[u8], except: &[&str]) -> Option<[u8; 32]> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let mut hash = Sha256::new();
    feed(&mut hash, &value, &mut String::new(), except);
    Some(hash.finalize().into())
}

/// Each value is written as a tag and a length or count, so that no two values look alike. Members
/// are sorted here and not by the map, whose order another crate's choice of features can change.
/// serde_json bounds the depth (128).
fn feed(hash: &mut Sha256, value: &Value, path: &mut String, except: &[&str]) {
    let text = |hash: &mut Sha256, tag: u8, text: &str| {
        hash.update([tag]);
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    let count = |hash: &mut Sha256, tag: u8, count: usize| {
        hash.update([tag]);
        hash.update((count as u64).to_be_bytes());
    };
    let depth = path.len();
    match value {
        Value::Null => hash.update(b"0"),
        Value::Bool(yes) => hash.update(if *yes { b"t" } else { b"f" }),
        Value::Number(number) => text(hash, b'n', &number.to_string()),
        Value::String(string) => text(hash, b's', string),
        Value::Array(items) => {
            count(hash, b'a', items.len());
            for (index, item) in items.iter().enumerate() {
                path.push('/');
                path.push_str(&index.to_string());
                if !except.contains(&path.as_str()) {
                    feed(hash, item, path, except);
                }
                path.truncate(depth);
            }
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            hash.update(b"{");
            for (name, item) in members {
                path.push('/');
                path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                if !except.contains(&path.as_str()) {
                    text(hash, b'm', name);
                    feed(hash, item, path, except);
                }
                path.truncate(depth);
            }
            hash.update(b"}");
        }
    }
}
