//! Form bodies and URL queries, parsed by `form_urlencoded`.
//!
//! Its decoder replaces what is not UTF-8, so that two bodies could look alike. Such input is
//! refused here before it is parsed.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::Malformed;

/// Most fields of a form, and parameters of a query, that are looked at.
const MAX_PAIRS: usize = 1000;

type Pairs<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

fn pairs(text: &[u8]) -> Result<Pairs<'_>, Malformed> {
    let utf8 = percent_decode(text).decode_utf8().is_ok();
    let pairs: Pairs<'_> = form_urlencoded::parse(text).take(MAX_PAIRS + 1).collect();
    if utf8 && pairs.len() <= MAX_PAIRS {
        Ok(pairs)
    } else {
        Err(Malformed::Form)
    }
}

/// The query of a URL, without question mark and fragment.
pub(super) fn query(url: &str) -> &str {
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    url.split_once('?').map_or("", |(_, query)| query)
}

pub(super) fn query_value<'a>(
    url: &'a str,
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, Malformed> {
    only(pairs(query(url).as_bytes())?, name)
}

/// The one value of that name.
fn only<'a>(pairs: Pairs<'a>, name: &'static str) -> Result<Option<Cow<'a, str>>, Malformed> {
    let mut found = pairs.into_iter().filter(|(own, _)| own == name);
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some((_, value)), None) => Ok(Some(value)),
        (Some(_), Some(_)) => Err(Malformed::RepeatedValue(name)),
    }
}

/// What a body is, by its `Content-Type`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    UrlEncoded,
    /// With the boundary.
    Multipart(&'a [u8]),
    Other,
}

pub(super) fn kind(content_type: Option<&[u8]>) -> Kind<'_> {
    // A form without a type: what a scheme reads as a form is one.
    let Some(value) = content_type else {
        return Kind::UrlEncoded;
    };
    let mut items = value.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    let media = items.next().unwrap_or_default();
    if media.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
        return Kind::UrlEncoded;
    }
    if !media.eq_ignore_ascii_case(b"multipart/form-data") {
        return Kind::Other;
    }
    let mut boundaries = items.filter_map(|item| {
        let (name, value) = item.split_at_checked(9)?;
        name.eq_ignore_ascii_case(b"boundary=").then_some(value)
    });
    // Of two, another parser may take the other, and read another form.
    let boundary = match (boundaries.next(), boundaries.next()) {
        (Some(_), Some(_)) => Some(&b""[..]),
        (boundary, _) => boundary,
    };
    let quoted =
        |value: &'_ [u8]| value.len() > 1 && value.starts_with(b"\"") && value.ends_with(b"\"");
    match boundary {
        Some(value) if quoted(value) => Kind::Multipart(
            value
                .trim_ascii_start()
                .strip_prefix(b"\"")
                .and_then(|value| value.strip_suffix(b"\""))
                .unwrap_or_default(),
        ),
        Some(value) => Kind::Multipart(value),
        None => Kind::Other,
    }
}

/// The one form field of that name. `None` also where the body is no form.
pub(super) fn field<'a>(
    kind: Kind<'_>,
    body: &'a [u8],
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, Malformed> {
    match kind {
        Kind::UrlEncoded => only(pairs(body)?, name),
        Kind::Multipart(boundary) => only(multipart(boundary, body, Files::Skipped)?, name),
        Kind::Other => Ok(None),
    }
}

/// What becomes of the files in a form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    Skipped,
    Refused,
}

/// The text fields of a `multipart/form-data` body (RFC 7578), strictly: the parsers at hand are
/// asynchronous and bring a runtime's types, for what a handful of senders use.
fn multipart<'a>(boundary: &[u8], body: &'a [u8], files: Files) -> Result<Pairs<'a>, Malformed> {
    // RFC 2046 §5.1.1: 1 to 70 characters.
    if boundary.is_empty() || boundary.len() > 70 {
        return Err(Malformed::Form);
    }
    let mark = [b"--", boundary].concat();
    let mut rest = body.strip_prefix(mark.as_slice()).ok_or(Malformed::Form)?;
    let mark = [b"\r\n", mark.as_slice()].concat();
    let mut found = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Ok(found);
        }
        rest = rest.strip_prefix(b"\r\n").ok_or(Malformed::Form)?;
        let (part, behind) = split(rest, &mark).ok_or(Malformed::Form)?;
        rest = behind;
        let (head, value) = split(part, b"\r\n\r\n").ok_or(Malformed::Form)?;
        match disposition(head).ok_or(Malformed::Form)? {
            Disposition::Field(name) => {
                let value = std::str::from_utf8(value).map_err(|_| Malformed::Form)?;
                found.push((name.into(), value.into()));
            }
            Disposition::File if files == Files::Skipped => {}
            Disposition::File => return Err(Malformed::Form),
        }
        if found.len() > MAX_PAIRS {
            return Err(Malformed::Form);
        }
    }
}

/// What a part of a multipart body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition<'a> {
    Field(&'a str),
    File,
}

/// Reads a part's one `Content-Disposition`. What is written in any other way than senders write it
/// is refused and not skipped: another parser may find a field there that was not looked at here.
fn disposition(head: &[u8]) -> Option<Disposition<'_>> {
    let mut value = None;
    for line in std::str::from_utf8(head).ok()?.split("\r\n") {
        let (name, rest) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-disposition") && value.replace(rest).is_some() {
            return None;
        }
    }
    let (mut quoted, mut escaped) = (false, false);
    let mut items = value?.split(|c: char| {
        let cut = c == ';' && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        cut
    });
    let kind = items.next()?.trim_matches(BLANKS);
    if !kind.eq_ignore_ascii_case("form-data") {
        return None;
    }
    let (mut name, mut file) = (None, false);
    for item in items {
        match item.trim_matches(BLANKS).split_once('=')? {
            ("name", text) if name.replace(text).is_none() => {}
            ("filename" | "filename*", _) => file = true,
            _ => return None,
        }
    }
    let name = name?.strip_prefix('"')?.strip_suffix('"')?;
    match file {
        true => Some(Disposition::File),
        // Escapes are read in several ways.
        false if name.contains(['"', '\\', '%']) => None,
        false => Some(Disposition::Field(name)),
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

/// What stands before and behind the first `mark`.
fn split<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    let (before, rest) = text.split_at_checked(at)?;
    Some((before, rest.get(mark.len()..)?))
}

/// The bytes of [`Part::SortedForm`].
pub(super) fn sorted_form(kind: Kind<'_>, body: &[u8]) -> Result<String, Malformed> {
    if body.is_empty() {
        return Ok(String::new());
    }
    let mut pairs = match kind {
        Kind::UrlEncoded => pairs(body)?,
        // A file is not among what is signed, and would be part of what is said to be.
        Kind::Multipart(boundary) => multipart(boundary, body, Files::Refused)?,
        Kind::Other => return Err(Malformed::Form),
    };
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs
        .into_iter()
        .fold(String::new(), |mut text, (name, value)| {
            text.push_str(&name);
            text.push_str(&value);
            text
        }))
}

/// The bytes of [`Part::SortedQuery`].
pub(super) fn sorted_query(url: &str) -> Result<String, Malformed> {
    let mut pairs = pairs(query(url).as_bytes())?;
    pairs.sort_unstable();
    let one = |(name, value): &(Cow<'_, str>, Cow<'_, str>)| format!("{name}={value}");
    Ok(pairs.iter().map(one).collect::<Vec<_>>().join("&"))
}

/// Whether a form body has any field.
pub(super) fn has_fields(kind: Kind<'_>, body: &[u8]) -> Result<bool, Malformed> {
    // A type that says form over an empty body is no form with fields.
    Ok(match kind {
        Kind::Other => false,
        _ => !sorted_form(kind, body)?.is_empty(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn body(heads: &[&str]) -> Vec<u8> {
        let part = |head: &&str| format!("--x\r\n{head}\r\n\r\nv\r\n");
        let parts: String = heads.iter().map(part).collect();
        format!("{parts}--x--\r\n").into_bytes()
    }

    const FIELD: &str = r#"Content-Disposition: form-data; name="a""#;

    /// A part that one parser skips and another reads would be a field that nobody signed.
    #[test]
    fn parts_that_parsers_read_differently_are_refused() {
        let value = |head: &str| {
            let body = body(&[head, FIELD]);
            let value = field(Kind::Multipart(b"x"), &body, "a");
            value.map(|value| value.map(Cow::into_owned))
        };
        for head in [
            "Content-Disposition:\u{7}form-data; name=\"a\"",
            "Content-Disposition : form-data; name=\"a\"",
            "Content-Disposition: form-data; name=a",
            "Content-Disposition: form-data; NAME=\"a\"",
            "Content-Disposition: form-data; name=\"\\a\"",
            "Content-Disposition: form-data; name=\"%61\"",
            "Content-Disposition: form-data; name=\"a\"; x=\"filename\"",
            "Content-Disposition: form-data; name=\"b\"; name=\"a\"",
            "Content-Disposition: form-data; name=\"b\"\r\n ; name=\"a\"",
            "Content-Disposition: form-data; name=\"b\"\r\nContent-Disposition: form-data; name=\"a\"",
            "Content-Disposition: attachment; name=\"a\"",
            "Content-Type: text/plain",
        ] {
            assert_eq!(value(head), Err(Malformed::Form), "{head}");
        }
        assert_eq!(value(FIELD), Err(Malformed::RepeatedValue("a")));
        for head in [
            r#"content-disposition: form-data; name="b""#,
            "Content-Type: text/plain\r\nContent-Disposition: form-data;\tname=\"b;c\"",
            r#"Content-Disposition: form-data; name="a"; filename="x;\"; name=y.txt""#,
            r#"Content-Disposition: form-data; filename*=UTF-8''x.txt; name="a""#,
        ] {
            assert_eq!(value(head).unwrap().as_deref(), Some("v"), "{head}");
        }
    }

    #[test]
    fn a_file_is_no_part_of_what_is_signed() {
        let file = r#"Content-Disposition: form-data; name="f"; filename="x.txt""#;
        let sorted = |heads: &[&str]| sorted_form(Kind::Multipart(b"x"), &body(heads));
        assert_eq!(sorted(&[FIELD]).as_deref(), Ok("av"));
        assert_eq!(sorted(&[FIELD, file]), Err(Malformed::Form));
    }

    #[test]
    fn of_two_boundaries_neither_is_taken() {
        let kind = kind(Some(b"multipart/form-data; boundary=x; boundary=y"));
        assert_eq!(field(kind, &body(&[FIELD]), "a"), Err(Malformed::Form));
    }
}
