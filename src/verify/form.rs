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
    let boundary = items.find_map(|item| {
        let (name, value) = item.split_at_checked(9)?;
        name.eq_ignore_ascii_case(b"boundary=").then_some(value)
    });
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
        Kind::Multipart(boundary) => only(multipart(boundary, body)?, name),
        Kind::Other => Ok(None),
    }
}

/// The text fields of a `multipart/form-data` body (RFC 7578), strictly: the parsers at hand are
/// asynchronous and bring a runtime's types, for what a handful of senders use.
fn multipart<'a>(boundary: &[u8], body: &'a [u8]) -> Result<Pairs<'a>, Malformed> {
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
        if let Some(name) = field_name(head) {
            let value = std::str::from_utf8(value).map_err(|_| Malformed::Form)?;
            found.push((name.into(), value.into()));
        }
        if found.len() > MAX_PAIRS {
            return Err(Malformed::Form);
        }
    }
}

/// The name in a part's `Content-Disposition`; none for files and for names with escapes.
fn field_name(head: &[u8]) -> Option<&str> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-disposition"))?;
    let mut items = value.split(';').map(str::trim);
    if !items.next()?.eq_ignore_ascii_case("form-data") || value.contains("filename") {
        return None;
    }
    let quoted = items.find_map(|item| item.strip_prefix("name=\""))?;
    let name = quoted.strip_suffix('"')?;
    (!name.contains(['"', '\\', '%'])).then_some(name)
}

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
        Kind::Multipart(boundary) => multipart(boundary, body)?,
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
