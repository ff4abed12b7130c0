//! The members of one JSON object, for objects in which every name counts.

use std::{collections::BTreeMap, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, their values as raw text.
pub(crate) struct Members<'t>(BTreeMap<String, &'t RawValue>);

impl<'t> Members<'t> {
    /// `None` if the text is not JSON, not an object, or has a name twice, which parsers read
    /// differently.
    pub(crate) fn read(text: &'t [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(text).ok()?).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.0.get(name).copied()
    }
}

/// A string, and nothing else.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Read)
    }
}

struct Read;

impl<'t> Visitor<'t> for Read {
    type Value = Members<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, &'t RawValue>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name occurs twice"));
            }
        }
        Ok(Members(members))
    }
}
