//! Places, parts and conditions in words.

use hookproof::scheme::{Condition, Encoding, Part, Place, Slot, Transform};

pub(crate) fn place(slot: Slot) -> String {
    let name = slot.name();
    let value = match slot.place() {
        Place::Header => format!("header `{name}`"),
        Place::Query => format!("parameter `{name}` of the URL"),
        Place::Form => format!("form field `{name}`"),
        Place::Param => format!("parameter or form field `{name}`"),
        Place::Json => format!("`{name}` in the body"),
        Place::Body => "the body".into(),
        _ => panic!("a new place needs a name here"),
    };
    let inside = slot.inner_pointer();
    let value = match inside {
        Some(pointer) => format!("`{pointer}` in the JSON in base64 in {value}"),
        None => value,
    };
    let item = match slot.mark() {
        Some(mark) => format!("`{}…{}…`", slot.fixed_prefix(), char::from(mark)),
        None => format!("`{}…`", slot.fixed_prefix()),
    };
    match (slot.separator(), slot.fixed_prefix()) {
        (None, "") => value,
        (None, prefix) => format!("{value} after `{prefix}`"),
        (Some(b' '), _) => format!("{value}, items {item} between blanks"),
        (Some(separator), _) => {
            format!("{value}, items {item} between `{}`", char::from(separator))
        }
    }
}

pub(crate) fn parts(all: &[Part]) -> String {
    let (conditions, content): (Vec<&Part>, Vec<&Part>) = all
        .iter()
        .partition(|part| matches!(part, Part::Require(_)));
    let list = |parts: Vec<&Part>, between| {
        let words: Vec<String> = parts.into_iter().map(part).collect();
        words.join(between)
    };
    match conditions.is_empty() {
        true => list(content, " "),
        false => format!("{} (if {})", list(content, " "), list(conditions, ", ")),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("`{text:?}`"),
        Part::Timestamp => "time".into(),
        Part::Header(slot) => format!("`{}`", slot.name()),
        Part::Body => "body".into(),
        Part::Method => "method".into(),
        Part::Url => "URL".into(),
        Part::UrlBase => "URL-without-query".into(),
        Part::PathAndQuery => "path-and-query".into(),
        Part::Path => "path".into(),
        Part::SortedQuery => "sorted-query".into(),
        Part::SortedForm => "sorted-form".into(),
        Part::Value(slot) => value(slot),
        Part::JsonText(pointer) => format!("text-of(`{pointer}`)"),
        Part::HeaderList(list) => format!("the headers listed in {}", place(list.names)),
        Part::Secret => "secret".into(),
        Part::Setting(name) => format!("setting(`{name}`)"),
        Part::Of(Transform::Join, inner) => parts(inner),
        Part::Of(how, inner) => format!("{}({})", transform(*how), parts(inner)),
        Part::IfPresent(inner) => format!("optional({})", parts(inner)),
        Part::Require(condition) => self::condition(condition),
        _ => panic!("a new part needs a name here"),
    }
}

/// Short, since some contents have twenty of them.
fn value(slot: &Slot) -> String {
    let name = slot.name();
    match slot.place() {
        Place::Json if slot.inner_pointer().is_none() => format!("`{name}`"),
        Place::Query => format!("query(`{name}`)"),
        Place::Form => format!("form(`{name}`)"),
        _ => place(*slot),
    }
}

fn transform(how: Transform) -> &'static str {
    match how {
        Transform::Sha256(Encoding::Hex | Encoding::LowerHex) => "SHA-256-hex",
        Transform::Sha256(Encoding::Base64) => "SHA-256-base64",
        Transform::Sha256(Encoding::Plain) => "SHA-256",
        Transform::Sha1 => "SHA-1",
        Transform::Crc32 => "CRC-32",
        Transform::LowerCase => "lower-case",
        Transform::Base64Url => "URL-safe-base64",
        Transform::JsonString => "JSON-string",
        Transform::PhpEscapes => "PHP-escapes",
        Transform::OtherPort => "other-port",
        Transform::UnescapeUri => "unescaped",
        Transform::EncodeUri => "encodeURI",
        Transform::Nfkd => "NFKD",
        _ => panic!("a new transformation needs a name here"),
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Equals(slot, wanted) => format!("{} is `{wanted}`", place(*slot)),
        Condition::EqualsSetting(slot, name) => {
            format!("{} is the setting `{name}`", place(*slot))
        }
        Condition::Missing(slot) => format!("{} is missing", place(*slot)),
        Condition::BodySha256(slot) => format!("{} is the body's SHA-256", place(*slot)),
        Condition::Listed(slot, name) => format!("{} lists `{name}`", place(*slot)),
        Condition::NoQuery => "the URL has no query".into(),
        Condition::Query => "the URL has a query".into(),
        Condition::NoBody => "the body is empty".into(),
        Condition::NoForm => "the body is no form".into(),
        Condition::Form => "the body is a form".into(),
        _ => panic!("a new condition needs a name here"),
    }
}
