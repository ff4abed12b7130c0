//! Where a value sits in a request, and how it is cut out. The only header parser in the crate.

mod items;

pub use items::Items;
pub(crate) use items::any;
use items::behind;

/// Longest header value that is looked at, in bytes. Longer ones are refused before any work.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Most signatures that are compared in one request. A rotation needs two or three.
pub const MAX_SIGNATURES: usize = 16;

/// Most signatures that are looked at in one request where keys are public: each is checked by
/// itself under each key, which costs as much as a MAC over many kilobytes.
pub const MAX_PUBLIC_KEY_SIGNATURES: usize = 4;

/// Which bytes a header value may consist of when it goes into the signed content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Visible ASCII without blanks (`0x21..=0x7e`). The default.
    Visible,
    /// Letters, digits and `+ / = _ -`: ids and base64, but no full stop, colon or brace.
    ///
    /// Needed where a provider joins parts without a separator, so that the parts cannot be cut
    /// at another place under the same signature.
    Token,
    /// The same and full stops, or nothing: names of files and accounts, but no colon or brace.
    Dotted,
    /// Digits and nothing else.
    Digits,
    /// `true` or `false`.
    Flag,
    /// A date and time of the form `YYYY-MM-DDThh:mm:ss`, with a fraction and a zone or without.
    ///
    /// The four digits of the year end a number that stands right before it.
    DateTime,
    /// Any byte but control characters: a value that ends with its line.
    Line,
    /// Anything. The default of values that are not in headers.
    Any,
}

impl Shape {
    /// Whether a value of this shape may hold the byte.
    pub(super) fn allows(self, byte: u8) -> bool {
        match self {
            Shape::Visible => byte.is_ascii_graphic(),
            Shape::Token => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
            }
            Shape::Dotted => byte == b'.' || Shape::Token.allows(byte),
            Shape::Digits => byte.is_ascii_digit(),
            Shape::Flag => byte.is_ascii_lowercase(),
            Shape::DateTime => {
                byte.is_ascii_digit() || matches!(byte, b'-' | b'T' | b':' | b'.' | b'+' | b'Z')
            }
            Shape::Line => !byte.is_ascii_control(),
            Shape::Any => true,
        }
    }
}

/// Whether a text begins `YYYY-MM-DDThh:mm:ss`, and goes on as a fraction and a zone may.
fn is_date_time(value: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let Some((head, tail)) = value.split_at_checked(FORM.len()) else {
        return false;
    };
    let as_form = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    head.iter().zip(FORM).all(as_form) && !tail.first().is_some_and(u8::is_ascii_digit)
}

/// The part of a request that a [`Slot`] looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A header field.
    Header,
    /// A parameter of the URL's query, percent-decoded. Needs feature `form`.
    Query,
    /// A field of a form body (`application/x-www-form-urlencoded`, or `multipart/form-data`
    /// without files in it), decoded. Needs feature `form`.
    Form,
    /// A parameter of the query or a field of the form, whichever there is. Needs feature `form`.
    Param,
    /// A value in the JSON body, at an RFC 6901 pointer. Needs feature `json`.
    Json,
    /// The whole body.
    Body,
}

/// How the fixed text before a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead {
    Exact,
    AnyCase,
    Optional,
}

/// A place in a request: a header field, a parameter, a member of the body, and optionally a list
/// separator and a fixed prefix.
///
/// These few parts cover the field's spellings of one idea:
///
/// | header value | slot |
/// |---|---|
/// | `5f2c…` | `Slot::header("X-Signature")` |
/// | `sha256=5f2c…` | `Slot::header("X-Hub-Signature-256").prefix("sha256=")` |
/// | `t=17…,v1=5f2c…,v1=91…` | `Slot::header("Stripe-Signature").list(b',').prefix("v1=")` |
/// | `v1,X8s= v1,9Qk=` | `Slot::header("webhook-signature").list(b' ').prefix("v1,")` |
/// | `v0=5f2c…,91ab…` | `Slot::header("X-Signature").before_list("v0=").list(b',')` |
/// | `17…,5f2c…` | `Slot::header("X-Signature").list(b',').first()` for the time |
/// | `keyid\|5f2c…` | `Slot::header("X-Signature").after(b'\|')` |
/// | `Bearer eyJ…` | `Slot::header("Authorization").word("Bearer ")` |
/// | `?sig=5f2c…` in the URL | `Slot::query("sig")` |
/// | `hash=5f2c…` in a form | `Slot::form("hash")` |
/// | `{"auth":{"mac":"5f2c…"}}` | `Slot::json("/auth/mac")` |
///
/// A prefix is compared, never hashed, and never chosen by the sender.
///
/// ```
/// use hookproof::scheme::Slot;
///
/// const V1: Slot = Slot::header("Stripe-Signature").list(b',').prefix("v1=");
/// let items: Vec<&[u8]> = V1.items(b"t=1800000000,v1=aa, v1=bb,v0=cc").collect();
/// assert_eq!(items, [b"aa", b"bb"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    name: &'static str,
    place: Place,
    before: &'static str,
    separator: Option<u8>,
    first: bool,
    lines: bool,
    prefix: &'static str,
    lead: Lead,
    after: Option<u8>,
    inside: Option<&'static str>,
    shape: Shape,
}

impl Slot {
    const fn at(place: Place, name: &'static str) -> Self {
        Self {
            name,
            place,
            before: "",
            separator: None,
            first: false,
            lines: false,
            prefix: "",
            lead: Lead::Exact,
            after: None,
            inside: None,
            shape: match place {
                Place::Header => Shape::Visible,
                _ => Shape::Any,
            },
        }
    }

    /// The whole value of the header field `name`.
    pub const fn header(name: &'static str) -> Self {
        Self::at(Place::Header, name)
    }

    /// A parameter of the URL's query, which must occur once.
    pub const fn query(name: &'static str) -> Self {
        Self::at(Place::Query, name)
    }

    /// A field of a form body, which must occur once.
    pub const fn form(name: &'static str) -> Self {
        Self::at(Place::Form, name)
    }

    /// A parameter of the query or a field of the form, which must occur once in both together.
    pub const fn param(name: &'static str) -> Self {
        Self::at(Place::Param, name)
    }

    /// A string, number or truth value in the JSON body.
    pub const fn json(pointer: &'static str) -> Self {
        Self::at(Place::Json, pointer)
    }

    /// The whole body.
    pub const fn body() -> Self {
        Self::at(Place::Body, "body")
    }

    /// The value is a list of items between `separator`s; white space around an item, which
    /// proxies add when they merge field lines, is dropped.
    #[must_use]
    pub const fn list(self, separator: u8) -> Self {
        Self {
            separator: Some(separator),
            ..self
        }
    }

    /// Only values (of a list: items) that begin with exactly `prefix` count; it is cut off.
    #[must_use]
    pub const fn prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    /// The word before a credential in `Authorization`, in any case (RFC 9110 §11.1), with its blank.
    #[must_use]
    pub const fn word(self, word: &'static str) -> Self {
        Self {
            prefix: word,
            lead: Lead::AnyCase,
            ..self
        }
    }

    /// The same, where some senders leave the word out.
    #[must_use]
    pub const fn optional_word(self, word: &'static str) -> Self {
        Self {
            prefix: word,
            lead: Lead::Optional,
            ..self
        }
    }

    /// A fixed text before the whole list.
    #[must_use]
    pub const fn before_list(self, text: &'static str) -> Self {
        Self {
            before: text,
            ..self
        }
    }

    /// Only the first item of the list.
    #[must_use]
    pub const fn first(self) -> Self {
        Self {
            first: true,
            ..self
        }
    }

    /// The header may stand on several lines, which are then read as one list (RFC 9110 §5.3). Of
    /// all other slots a second line is refused.
    #[must_use]
    pub const fn lines(self) -> Self {
        Self {
            lines: true,
            ..self
        }
    }

    /// What stands behind the first `mark` of each item; items without it do not count.
    #[must_use]
    pub const fn after(self, mark: u8) -> Self {
        Self {
            after: Some(mark),
            ..self
        }
    }

    /// The value is the base64 text of a JSON document, and this is the pointer into that.
    #[must_use]
    pub const fn inside(self, pointer: &'static str) -> Self {
        Self {
            inside: Some(pointer),
            ..self
        }
    }

    /// Restricts the bytes of the value when it becomes part of the signed content.
    #[must_use]
    pub const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The name of the header field, parameter or form field, or the JSON pointer.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where it is.
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Whether it is a header field.
    pub const fn is_header(&self) -> bool {
        matches!(self.place, Place::Header)
    }

    /// The header field's name, if it is in one.
    pub const fn header_name(&self) -> Option<&'static str> {
        match self.place {
            Place::Header => Some(self.name),
            _ => None,
        }
    }

    /// The pointer into the JSON document that the value encodes; see [`Slot::inside`].
    pub const fn inner_pointer(&self) -> Option<&'static str> {
        self.inside
    }

    /// Whether it may stand on several lines; see [`Slot::lines`].
    pub const fn may_repeat(&self) -> bool {
        self.lines
    }

    /// The fixed text before the whole list; see [`Slot::before_list`].
    pub const fn list_prefix(&self) -> &'static str {
        self.before
    }

    /// The mark behind which the value begins; see [`Slot::after`].
    pub const fn mark(&self) -> Option<u8> {
        self.after
    }

    /// The list separator, if the value is a list.
    pub const fn separator(&self) -> Option<u8> {
        self.separator
    }

    /// The fixed text before the value.
    pub const fn fixed_prefix(&self) -> &'static str {
        self.prefix
    }

    pub(crate) const fn value_shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn fits(&self, value: &[u8]) -> bool {
        // Each shape has a loop of its own: to ask for it inside would keep bytes from being
        // judged 16 at once.
        match self.shape {
            Shape::Any => true,
            Shape::Line => value.iter().all(|&byte| Shape::Line.allows(byte)),
            Shape::Dotted => !any(value, |byte| !Shape::Dotted.allows(byte)),
            Shape::Flag => matches!(value, b"true" | b"false"),
            Shape::DateTime => {
                is_date_time(value) && !any(value, |byte| !Shape::DateTime.allows(byte))
            }
            Shape::Visible => !value.is_empty() && !any(value, |byte| !Shape::Visible.allows(byte)),
            Shape::Token => !value.is_empty() && !any(value, |byte| !Shape::Token.allows(byte)),
            Shape::Digits => !value.is_empty() && !any(value, |byte| !byte.is_ascii_digit()),
        }
    }

    /// Cuts every matching value out of a header value, in order. Never allocates, never panics;
    /// what does not match is skipped, so that one odd item cannot spoil a good one.
    pub fn items<'h>(&self, value: &'h [u8]) -> Items<'h> {
        Items {
            rest: behind(value, self.before.as_bytes()),
            separator: self.separator,
            first: self.first,
            prefix: self.prefix,
            lead: self.lead,
            after: self.after,
        }
    }

    /// The one value of a slot that must occur exactly once. `None` when it is missing or repeated.
    pub fn single<'h>(&self, value: &'h [u8]) -> Option<&'h [u8]> {
        let mut items = self.items(value);
        match (items.next(), items.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}
