//! What goes into a signature, piece by piece.

use super::{Encoding, Place, Slot};

/// One piece of the signed content, in order.
///
/// The first six need no memory; the others are for providers that sign something else than bytes
/// of the request, and cost a copy of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Fixed text, such as a separator or a version tag. It is compared with nothing the sender
    /// wrote: a version in the header must be part of the signature slot's prefix.
    Text(&'static str),
    /// The timestamp's text exactly as received (see [`Scheme::timestamp`](super::Scheme::timestamp)).
    Timestamp,
    /// A header's value as received.
    Header(Slot),
    /// The raw body.
    Body,
    /// The request method.
    Method,
    /// The public URL.
    Url,
    /// The value of a slot, decoded: a query parameter, a form field, or in JSON a string's text,
    /// or a number or truth value as it is written.
    Value(Slot),
    /// A value of the JSON body as it is written, with quotes, brackets and white space.
    JsonText(&'static str),
    /// The public URL up to its query.
    UrlBase,
    /// Path and query of the public URL.
    PathAndQuery,
    /// The path of the public URL.
    Path,
    /// All query parameters, decoded, sorted by name and value: `a=1&b=2`.
    SortedQuery,
    /// All fields of a form body, decoded, sorted by name and value and joined without separators:
    /// `a1b2`. Equal pairs count once.
    SortedForm,
    /// Headers that a header of the request lists.
    HeaderList(HeaderList),
    /// A text that the application gives with the secret
    /// ([`Secret::setting`](crate::Secret::setting)).
    Setting(&'static str),
    /// The secret, for [`Mac::Hash`](super::Mac) and derived keys.
    Secret,
    /// Something made of other parts.
    Of(Transform, &'static [Part]),
    /// Other parts, or nothing at all if one of their values is missing or `null`.
    IfPresent(&'static [Part]),
    /// Nothing; but a request that does not meet the condition is not this content.
    Require(Condition),
}

/// What is done with the bytes of other parts before they are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transform {
    /// Nothing: groups parts.
    Join,
    /// SHA-256, written in this encoding ([`Encoding::Plain`]: the 32 bytes).
    Sha256(Encoding),
    /// SHA-1, 20 bytes. Needs feature `sha1`.
    Sha1,
    /// CRC-32 (of gzip and PNG) as an unsigned decimal number. Binds nothing: anyone can find
    /// another text with the same one. Needs feature `form`.
    Crc32,
    /// ASCII letters in lower case.
    LowerCase,
    /// Base64, URL-safe alphabet, without padding.
    Base64Url,
    /// A JSON string as JavaScript's `JSON.stringify` writes it. The bytes must be UTF-8.
    JsonString,
    /// `/` as `\/` and all but ASCII as `\uXXXX`, as PHP's `json_encode` writes what is in strings.
    PhpEscapes,
    /// A URL without its port, or with the default one where it has none.
    OtherPort,
    /// A URL in which the escapes of `: / ? @ ! $ ' ( ) * , ;` are decoded.
    UnescapeUri,
    /// The query of a URL or path escaped as a whole, and the whole as JavaScript's `encodeURI`
    /// does it.
    EncodeUri,
    /// Unicode normalization form KD, for a secret. Needs feature `unicode`.
    Nfkd,
}

/// What a request must look like for a content to be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The slot has this value.
    Equals(Slot, &'static str),
    /// The slot has the value of this setting.
    EqualsSetting(Slot, &'static str),
    /// The slot is not there.
    Missing(Slot),
    /// The slot has the SHA-256 of the body, in lower-case hexadecimal.
    BodySha256(Slot),
    /// The list of names in the slot, that of a [`Part::HeaderList`], has this header.
    Listed(Slot, &'static str),
    /// The URL has no query, or an empty one.
    NoQuery,
    /// The URL has a query.
    Query,
    /// The body is empty.
    NoBody,
    /// The body is not a form.
    NoForm,
    /// The body is a form with at least one field.
    Form,
}

impl Condition {
    pub(crate) fn slot(&self) -> Option<Slot> {
        match self {
            Condition::Equals(slot, _)
            | Condition::EqualsSetting(slot, _)
            | Condition::Missing(slot)
            | Condition::BodySha256(slot)
            | Condition::Listed(slot, _) => Some(*slot),
            _ => None,
        }
    }
}

/// Headers whose names a header of the request lists, so that the sender chooses what is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderList {
    /// The list of names; its separator cuts it.
    pub names: Slot,
    /// Written between two headers.
    pub between: &'static str,
    /// Whether names are written too, as `name:value` in lower case and sorted; else the values
    /// alone, in the list's order.
    pub with_names: bool,
}

impl Part {
    /// Whether it can be had without memory of its own.
    pub(crate) const fn is_plain(&self) -> bool {
        matches!(
            self,
            Part::Text(_)
                | Part::Timestamp
                | Part::Header(_)
                | Part::Body
                | Part::Method
                | Part::Url
        )
    }

    pub(crate) fn is_header(&self, name: &str) -> bool {
        match self {
            Part::Header(slot) | Part::Value(slot) => {
                slot.is_header() && slot.name().eq_ignore_ascii_case(name)
            }
            // What must be listed is in the list of headers that are signed.
            Part::Require(Condition::Listed(_, listed)) => listed.eq_ignore_ascii_case(name),
            _ => false,
        }
    }

    pub(crate) fn is_body(&self) -> bool {
        match self {
            Part::Body | Part::SortedForm | Part::Require(Condition::BodySha256(_)) => true,
            Part::Value(slot) => slot.place() == Place::Body,
            _ => false,
        }
    }

    pub(crate) fn is_query(&self) -> bool {
        matches!(self, Part::Url | Part::PathAndQuery | Part::SortedQuery)
    }

    pub(crate) fn is_timestamp(&self) -> bool {
        *self == Part::Timestamp
    }

    /// Whether it is the value in `slot`, or holds it.
    pub(crate) fn is_value(&self, slot: &Slot) -> bool {
        match self {
            Part::Value(own) => own.place() == slot.place() && own.name() == slot.name(),
            Part::JsonText(pointer) => {
                let rest = slot.name().strip_prefix(pointer);
                slot.place() == Place::Json
                    && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            _ => false,
        }
    }
}

/// Whether a content holds such a part in a way that binds it: not under a checksum, and not only
/// if something else is there.
pub(crate) fn holds(parts: &[Part], such: &dyn Fn(&Part) -> bool) -> bool {
    parts.iter().any(|part| match part {
        Part::Of(Transform::Crc32, _) => false,
        Part::Of(_, inner) => holds(inner, such),
        // A value that may be missing is bound all the same: without it the content is another.
        Part::IfPresent(inner) => holds(inner, such),
        part => such(part),
    })
}

/// Calls `visit` with every part of a content, outer ones first.
pub(crate) fn walk(parts: &'static [Part], visit: &mut dyn FnMut(&'static Part)) {
    for part in parts {
        visit(part);
        if let Part::Of(_, inner) | Part::IfPresent(inner) = part {
            walk(inner, visit);
        }
    }
}
