//! Reading a request at the places that a row names. Everything is bounded here.

use std::{borrow::Cow, collections::HashMap};

use serde::de::IgnoredAny;

use super::{Allowed, Hosts, Place, When};
use crate::{
    headers::{Headers, Lookup},
    json,
    scheme::MAX_HEADER_BYTES,
};

/// Longest challenge that is echoed or answered, in bytes.
pub const MAX_CHALLENGE: usize = 4 * 1024;

/// Longest body that may be a handshake, in bytes.
pub const MAX_BODY: usize = 16 * 1024;

/// Longest URL whose query is looked at, in bytes: a challenge with every byte percent-encoded, and
/// some room.
pub const MAX_TARGET: usize = 16 * 1024;

/// What is at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen<'a> {
    Absent,
    One(Cow<'a, str>),
    /// More than once: two parsers may each pick another.
    Many,
    /// Not text, or too long to look at.
    Unreadable,
}

impl<'a> Seen<'a> {
    fn and(self, value: Cow<'a, str>) -> Self {
        match self {
            Seen::Absent => Seen::One(value),
            _ => Seen::Many,
        }
    }
}

/// The caller gave no method or URL, and the row needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoTarget;

/// One request, or only the signed body of one.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) headers: Option<&'a dyn Headers>,
    pub(super) body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The URL's query.
    fn query(&self) -> Result<&'a str, NoTarget> {
        let url = self.headers.and_then(Headers::url).ok_or(NoTarget)?;
        if url.len() > MAX_TARGET {
            return Ok("");
        }
        let (url, _) = url.split_once('#').unwrap_or((url, ""));
        let (_, query) = url.split_once('?').unwrap_or((url, ""));
        Ok(query)
    }

    /// The body, unless it is too long to be a handshake's.
    fn short_body(&self) -> Option<&'a [u8]> {
        (self.body.len() <= MAX_BODY).then_some(self.body)
    }

    pub(super) fn read(&self, place: Place) -> Result<Seen<'a>, NoTarget> {
        Ok(match place {
            Place::Query(name) => pick(self.query()?.as_bytes(), name),
            Place::Form(name) => pick(self.short_body().unwrap_or_default(), name),
            Place::Param(name) => match self.read(Place::Query(name))? {
                Seen::Absent => self.read(Place::Form(name))?,
                seen => seen,
            },
            Place::Json(pointer) => {
                match self.short_body().and_then(|body| json::find(body, pointer)) {
                    Some(value) => Seen::One(value.into_text().into()),
                    None => Seen::Absent,
                }
            }
            Place::Header(name) => match self.headers.map(|headers| headers.lookup(name)) {
                None | Some(Lookup::Absent) => Seen::Absent,
                Some(Lookup::Many) => Seen::Many,
                Some(Lookup::One(value)) if value.len() > MAX_HEADER_BYTES => Seen::Unreadable,
                Some(Lookup::One(value)) => match std::str::from_utf8(value) {
                    Ok(text) => Seen::One(text.into()),
                    Err(_) => Seen::Unreadable,
                },
            },
        })
    }

    /// Whether all conditions hold.
    pub(super) fn meets(&self, conditions: &[When]) -> Result<bool, NoTarget> {
        for condition in conditions {
            if !self.is(condition)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is(&self, condition: &When) -> Result<bool, NoTarget> {
        Ok(match condition {
            When::Method(allowed) => {
                let method = self.headers.and_then(Headers::method).ok_or(NoTarget)?;
                allowed.contains(&method)
            }
            When::Has(place) => self.read(*place)? != Seen::Absent,
            When::Lacks(place) => self.read(*place)? == Seen::Absent,
            When::Is(place, text) => matches!(self.read(*place)?, Seen::One(seen) if seen == *text),
            When::EmptyBody => self.body.is_empty(),
            When::Members(names) => {
                let body = self.short_body().unwrap_or_default();
                serde_json::from_slice::<HashMap<Cow<'_, str>, IgnoredAny>>(body).is_ok_and(
                    |members| {
                        members.len() == names.len()
                            && names.iter().all(|name| members.contains_key(*name))
                    },
                )
            }
            When::Fields(names) => {
                let mut wanted = names.iter();
                let body = self.short_body().unwrap_or_default();
                form_urlencoded::parse(body)
                    .all(|(name, _)| wanted.next().is_some_and(|wanted| *wanted == name))
                    && wanted.next().is_none()
            }
        })
    }
}

fn pick<'a>(pairs: &'a [u8], name: &str) -> Seen<'a> {
    form_urlencoded::parse(pairs)
        .filter(|(key, _)| key == name)
        .fold(Seen::Absent, |seen, (_, value)| seen.and(value))
}

impl Allowed {
    /// Whether a text may be the challenge.
    pub(super) fn allows(self, text: &str) -> bool {
        let length = 1..=MAX_CHALLENGE;
        length.contains(&text.len())
            && match self {
                Allowed::Text => !text.chars().any(char::is_control),
                Allowed::Token => text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+/=_-.~".contains(&b)),
                Allowed::Hex(least, most) => {
                    (least..=most).contains(&text.len())
                        && text
                            .bytes()
                            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
                }
            }
    }
}

impl Hosts {
    /// Whether a URL is an absolute `https` one on these hosts, without user or port. What a parser
    /// might read otherwise than the next (a backslash, a blank, another alphabet) is refused.
    pub(super) fn allow(&self, url: &str) -> bool {
        let plain =
            url.len() <= MAX_CHALLENGE && url.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
        let Ok(uri) = url.parse::<http::Uri>() else {
            return false;
        };
        let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else {
            return false;
        };
        let label = |middle: &str| {
            !middle.is_empty()
                && middle
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        plain
            && uri.scheme_str() == Some("https")
            && authority.as_str() == host
            && self.suffixes.iter().any(|suffix| {
                host.strip_prefix(self.prefix)
                    .and_then(|rest| rest.strip_suffix(suffix))
                    .is_some_and(label)
            })
    }
}
