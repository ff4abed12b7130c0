//! Dictionary fields (RFC 8941 §3.2), parsed by a library and held to the sender's own bytes.
//!
//! What is signed is text, and a parser's tree is not text. So each member is serialised again and
//! must give back exactly what the sender wrote; that slice is then what goes on. Spellings that a
//! parser understands but a serialiser would not write (two blanks, a leading zero, base64 with
//! loose bits) are refused: under them, one signature would have several texts.

use sfv::{
    BareItemFromInput, DictSerializer, KeyRef, Parser, RefBareItem, Version,
    visitor::{DictionaryVisitor, EntryVisitor, InnerListVisitor, ItemVisitor, ParameterVisitor},
};

use crate::scheme::{MAX_COMPONENTS, MAX_SIGNATURES};

/// Most parameters of one item or list.
const MAX_PARAMETERS: usize = 16;

/// A dictionary that repeats a key, is too long, or is not as its field's definition says. What is
/// wrong is not kept: nobody but a stranger would be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a field that cannot be read as its definition says")]
pub(crate) struct Unreadable;

type Parameters<'h> = Vec<(&'h KeyRef, BareItemFromInput<'h>)>;

/// A bare value with its parameters, no key twice.
#[derive(Debug)]
pub(crate) struct Item<'h> {
    pub(crate) value: BareItemFromInput<'h>,
    pub(crate) parameters: Parameters<'h>,
}

/// One member of a dictionary.
#[derive(Debug)]
pub(crate) struct Member<'h> {
    key: &'h KeyRef,
    pub(crate) value: Value<'h>,
    /// The sender's bytes behind `key=`, once proved to be canonical.
    pub(crate) text: &'h [u8],
}

#[derive(Debug)]
pub(crate) enum Value<'h> {
    Item(Item<'h>),
    List(Vec<Item<'h>>, Parameters<'h>),
}

impl<'h> Member<'h> {
    pub(crate) fn key(&self) -> &'h str {
        self.key.as_str()
    }

    /// The value and its parameters as a serialiser writes them, with `key=` in front.
    fn serialised(&self) -> String {
        let mut text = DictSerializer::new();
        match &self.value {
            Value::Item(item) => {
                let written = text.bare_item(self.key, RefBareItem::from(&item.value));
                let _ = written.parameters(borrowed(&item.parameters));
            }
            Value::List(items, parameters) => {
                let mut list = text.inner_list(self.key);
                for item in items {
                    let written = list.bare_item(RefBareItem::from(&item.value));
                    let _ = written.parameters(borrowed(&item.parameters));
                }
                let _ = list.finish().parameters(borrowed(parameters));
            }
        }
        text.finish().unwrap_or_default()
    }
}

fn borrowed<'p>(
    parameters: &'p Parameters<'_>,
) -> impl Iterator<Item = (&'p KeyRef, RefBareItem<'p>)> {
    parameters
        .iter()
        .map(|(key, value)| (*key, RefBareItem::from(value)))
}

/// Parses a dictionary of few members, and proves the spelling of each.
pub(crate) fn canonical(field: &[u8]) -> Result<Vec<Member<'_>>, Unreadable> {
    let mut members = parse(field)?;
    let mut rest = field.trim_ascii_start();
    for member in &mut members {
        let text = member.serialised();
        let (own, behind) = rest.split_at_checked(text.len()).ok_or(Unreadable)?;
        if own != text.as_bytes() {
            return Err(Unreadable);
        }
        let value = own.get(member.key().len()..).unwrap_or_default();
        member.text = value.strip_prefix(b"=").unwrap_or_default();
        let behind = behind.trim_ascii_start();
        rest = match behind.split_first() {
            Some((b',', behind)) => behind.trim_ascii_start(),
            _ => behind,
        };
    }
    rest.is_empty().then_some(members).ok_or(Unreadable)
}

/// Parses a dictionary of few members, whatever their spelling.
pub(crate) fn parse(field: &[u8]) -> Result<Vec<Member<'_>>, Unreadable> {
    let mut members = Vec::new();
    Parser::new(field)
        // What RFC 9421 and RFC 9530 are written for; dates and display strings came later.
        .with_version(Version::Rfc8941)
        .parse_dictionary_with_visitor(Members(&mut members))
        .map_err(|_| Unreadable)?;
    Ok(members)
}

struct Members<'v, 'h>(&'v mut Vec<Member<'h>>);

impl<'h> DictionaryVisitor<'h> for Members<'_, 'h> {
    type Out = ();
    type Error = Unreadable;

    fn entry(&mut self, key: &'h KeyRef) -> Result<impl EntryVisitor<'h>, Unreadable> {
        // The later of two members would win (RFC 8941 §4.2.2), but not in every parser.
        if self.0.len() == MAX_SIGNATURES || self.0.iter().any(|member| member.key == key) {
            return Err(Unreadable);
        }
        Ok(Entry(self.0, key))
    }

    fn finish(self) -> Result<(), Unreadable> {
        Ok(())
    }
}

struct Entry<'v, 'h>(&'v mut Vec<Member<'h>>, &'h KeyRef);

impl<'v, 'h> Entry<'v, 'h> {
    fn push(self, value: Value<'h>) -> Result<&'v mut Value<'h>, Unreadable> {
        let Self(members, key) = self;
        let text = b"".as_slice();
        members.push(Member { key, value, text });
        let last = members.last_mut().ok_or(Unreadable)?;
        Ok(&mut last.value)
    }
}

impl<'h> EntryVisitor<'h> for Entry<'_, 'h> {
    type Error = Unreadable;

    fn item(self) -> Result<impl ItemVisitor<'h>, Unreadable> {
        Ok(|value| match self.push(Value::Item(bare(value)))? {
            Value::Item(item) => Ok(Gather(&mut item.parameters)),
            Value::List(..) => Err(Unreadable),
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'h>, Unreadable> {
        match self.push(Value::List(Vec::new(), Vec::new()))? {
            Value::List(items, parameters) => Ok(List(items, parameters)),
            Value::Item(_) => Err(Unreadable),
        }
    }
}

struct List<'v, 'h>(&'v mut Vec<Item<'h>>, &'v mut Parameters<'h>);

impl<'h> InnerListVisitor<'h> for List<'_, 'h> {
    type Error = Unreadable;

    fn item(&mut self) -> Result<impl ItemVisitor<'h>, Unreadable> {
        if self.0.len() == MAX_COMPONENTS {
            return Err(Unreadable);
        }
        let items = &mut *self.0;
        Ok(move |value| {
            // Moved, since what is returned borrows from it.
            let items = items;
            items.push(bare(value));
            let item = items.last_mut().ok_or(Unreadable)?;
            Ok::<_, Unreadable>(Gather(&mut item.parameters))
        })
    }

    fn finish(self) -> Result<impl ParameterVisitor<'h>, Unreadable> {
        Ok(Gather(self.1))
    }
}

fn bare(value: BareItemFromInput<'_>) -> Item<'_> {
    Item {
        value,
        parameters: Vec::new(),
    }
}

struct Gather<'v, 'h>(&'v mut Parameters<'h>);

impl<'h> ParameterVisitor<'h> for Gather<'_, 'h> {
    type Out = ();
    type Error = Unreadable;

    fn parameter(
        &mut self,
        key: &'h KeyRef,
        value: BareItemFromInput<'h>,
    ) -> Result<(), Unreadable> {
        if self.0.len() == MAX_PARAMETERS || self.0.iter().any(|(known, _)| *known == key) {
            return Err(Unreadable);
        }
        self.0.push((key, value));
        Ok(())
    }

    fn finish(self) -> Result<(), Unreadable> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn texts(field: &str) -> Option<Vec<(&str, &str)>> {
        let members = canonical(field.as_bytes()).ok()?;
        let text = |member: &Member<'_>| {
            let place = (member.text.as_ptr() as usize).wrapping_sub(field.as_ptr() as usize);
            let behind = field.get(place..).unwrap_or_default();
            behind.get(..member.text.len()).unwrap()
        };
        Some(members.iter().map(|m| (m.key(), text(m))).collect())
    }

    /// Each text is a slice of the field itself, at its own place.
    #[test]
    fn members_are_slices_of_the_field() {
        let a =
            r#"("@method" "x";name="a\"b\\");created=1;alg="x y";flag;n=-7;d=1.5;t=tok;b=:aGk=:"#;
        for gap in [",", ", ", " ,\t", "  ,  "] {
            let field = format!(" sig1={a}{gap}b=(){gap}c=:aGk=:{gap}d;p ");
            let expected = [("sig1", a), ("b", "()"), ("c", ":aGk=:"), ("d", "")];
            assert_eq!(texts(&field).unwrap(), expected, "{field}");
        }
    }

    #[test]
    fn spellings_that_no_serialiser_writes_are_refused() {
        for field in [
            r#"a=("x"  "y")"#,
            r#"a=( "x")"#,
            r#"a=("x" )"#,
            r#"a=("x"); created=1"#,
            r#"a=("x");created=01"#,
            r#"a=("x");n=-0"#,
            r#"a=("x");flag=?1"#,
            r#"a=("x");d=1.50"#,
            "a=:aGk:",
            "a=:aGl=:",
            "a=?1",
        ] {
            assert!(parse(field.as_bytes()).is_ok(), "{field}");
            assert_eq!(texts(field), None, "{field}");
        }
    }

    /// What fields are made of, and some of what they are not.
    const PIECES: &[&str] = &[
        "a", "b=", "(", ")", "\"x\"", "\"", "\\", ";", "n=1", ";n=\"y\"", ":aGk=:", ":", ", ", ",",
        " ", "=", "?0", "-", "1.5", "\t", "\u{e9}", "\0", "*",
    ];

    proptest::proptest! {
        /// Nothing panics, and what is understood is the field's own text, in order.
        #[test]
        fn any_field_is_refused_or_sliced(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12)
        ) {
            let field = pieces.concat();
            let mut rest = field.as_str();
            for (key, text) in texts(&field).unwrap_or_default() {
                rest = rest.split_once(key).unwrap().1.split_once(text).unwrap().1;
            }
        }

        /// No byte can be put into a member without changing its text, or having it refused.
        #[test]
        fn one_byte_more_is_never_the_same_text(place in 1_usize..54, byte in 0_u8..128) {
            let field = r#"sig1=("@method" "x" "y";name="z");created=18;keyid="k""#;
            let mut other = field.to_owned();
            other.insert(place, char::from(byte));
            proptest::prop_assert_ne!(texts(&other), texts(field));
        }
    }

    #[test]
    fn what_is_repeated_or_too_long_is_refused() {
        let many = |count: usize, join: &str, make: &dyn Fn(usize) -> String| {
            (0..count).map(make).collect::<Vec<_>>().join(join)
        };
        let components = |count| format!("a=({})", many(count, " ", &|n| format!("\"c{n}\"")));
        let parameters = |count| format!("a=(){}", many(count, "", &|n| format!(";p{n}")));
        let members = |count| many(count, ", ", &|n| format!("m{n}=()"));
        assert!(texts(&components(MAX_COMPONENTS)).is_some());
        assert!(texts(&components(MAX_COMPONENTS + 1)).is_none());
        assert!(texts(&parameters(MAX_PARAMETERS)).is_some());
        assert!(texts(&parameters(MAX_PARAMETERS + 1)).is_none());
        assert!(texts(&members(MAX_SIGNATURES)).is_some());
        assert!(texts(&members(MAX_SIGNATURES + 1)).is_none());
        for field in [
            "a=(), a=()",
            "a=();b;b",
            r#"a=("x";n=1;n=2)"#,
            "a=() b",
            "a=(),",
            "a=()\u{e9}",
        ] {
            assert_eq!(texts(field), None, "{field}");
        }
    }
}
