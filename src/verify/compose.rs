//! Putting together contents that are more than pieces of the request in a row.

use std::borrow::Cow;

use crate::{
    scheme::{Condition, HeaderList, Part, Stamp},
    secrets::Key,
};

use super::{Malformed, Request, transform};

/// Why a content cannot be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    /// A value is not there.
    Absent(&'static str),
    /// The request is not one that this content is meant for.
    NotMeant,
    /// Something is there and cannot be read.
    Malformed(Malformed),
}

impl From<Malformed> for Miss {
    fn from(what: Malformed) -> Self {
        Miss::Malformed(what)
    }
}

impl From<Miss> for Malformed {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Absent(name) => Malformed::MissingValue(name),
            Miss::NotMeant => Malformed::Condition,
            Miss::Malformed(what) => what,
        }
    }
}

/// Writes contents of one request.
#[derive(Clone, Copy)]
pub(crate) struct Composer<'a, 'k> {
    pub(crate) request: Request<'a>,
    /// Whose secret and settings to use. Without one they are left out, which is for identity only.
    pub(crate) key: Option<&'k Key>,
    pub(crate) purpose: Purpose,
}

/// What a content is put together for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Verify,
    /// Leaves out what belongs to the attempt and not to the event.
    Identify,
    /// Takes header values as they are, since tests need requests that must be refused.
    #[cfg(feature = "testing")]
    Sign,
}

impl Composer<'_, '_> {
    pub(crate) fn content(&self, parts: &'static [Part]) -> Result<Vec<u8>, Miss> {
        let mut out = Vec::new();
        self.write(parts, &mut out)?;
        Ok(out)
    }

    fn write(&self, parts: &'static [Part], out: &mut Vec<u8>) -> Result<(), Miss> {
        for part in parts {
            self.write_one(part, out)?;
        }
        Ok(())
    }

    fn write_one(&self, part: &'static Part, out: &mut Vec<u8>) -> Result<(), Miss> {
        let request = &self.request;
        match part {
            Part::Text(text) => out.extend_from_slice(text.as_bytes()),
            Part::Body if self.purpose == Purpose::Identify => {
                out.extend_from_slice(&request.stable_body())
            }
            Part::Body => out.extend_from_slice(request.body),
            Part::Timestamp if self.purpose == Purpose::Identify => {}
            Part::Timestamp => out.extend_from_slice(&self.timestamp()?),
            #[cfg(feature = "testing")]
            Part::Header(slot) if self.purpose == Purpose::Sign => {
                let value = request.reader.one(slot.name())?;
                out.extend_from_slice(slot.single(value).unwrap_or_default());
            }
            Part::Header(slot) => out.extend_from_slice(request.reader.header_part(slot)?),
            Part::Value(slot) => {
                let value = request.single(slot)?.ok_or(Miss::Absent(slot.name()))?;
                if !slot.fits(&value) {
                    return Err(Malformed::Value(slot.name()).into());
                }
                out.extend_from_slice(&value);
            }
            Part::JsonText(pointer) => {
                let text = request.json_text(pointer)?;
                out.extend_from_slice(&text.ok_or(Miss::Absent(pointer))?);
            }
            Part::Method => {
                let method = request.reader.method().ok_or(Malformed::NoTarget)?;
                out.extend_from_slice(method.as_bytes());
            }
            Part::Url | Part::UrlBase | Part::PathAndQuery | Part::Path => {
                let url = cut_url(request.url()?, part).ok_or(Malformed::Target)?;
                let readable = !url.bytes().any(|byte| byte.is_ascii_control());
                if self.purpose == Purpose::Verify && !readable {
                    return Err(Malformed::Target.into());
                }
                out.extend_from_slice(url.as_bytes());
            }
            Part::SortedQuery | Part::SortedForm => self.write_sorted(part, out)?,
            Part::HeaderList(list) => self.write_listed(list, out)?,
            Part::Setting(name) => {
                let setting = self.key.and_then(|key| key.setting(name));
                out.extend_from_slice(setting.unwrap_or_default().as_bytes());
            }
            Part::Secret => {
                out.extend_from_slice(self.key.map(Key::secret).unwrap_or_default());
            }
            Part::Of(how, inner) => {
                let inner = self.content(inner)?;
                let made = transform::apply(*how, inner).ok_or(Malformed::Encoding)?;
                out.extend_from_slice(&made);
            }
            Part::IfPresent(inner) => match self.content(inner) {
                Ok(inner) => out.extend_from_slice(&inner),
                Err(Miss::Absent(_)) => {}
                Err(miss) => return Err(miss),
            },
            Part::Require(condition) => self.require(condition)?,
        }
        Ok(())
    }

    fn timestamp(&self) -> Result<Cow<'_, [u8]>, Malformed> {
        match self.request.reader.scheme.timestamp_source() {
            Some((Stamp::Slot(slot), _)) => {
                let value = self.request.single(&slot);
                value.ok().flatten().ok_or(Malformed::Timestamp)
            }
            _ => Err(Malformed::Timestamp),
        }
    }

    fn require(&self, condition: &'static Condition) -> Result<(), Miss> {
        let request = &self.request;
        let has = |slot, wanted: &[u8]| -> Result<bool, Malformed> {
            Ok(request.single(slot)?.is_some_and(|value| *value == *wanted))
        };
        let met = match condition {
            Condition::Equals(slot, wanted) => has(slot, wanted.as_bytes())?,
            Condition::EqualsSetting(slot, name) => match self.key {
                Some(key) => has(slot, key.setting(name).unwrap_or_default().as_bytes())?,
                None => true,
            },
            Condition::Missing(slot) => request.value(slot)?.is_none(),
            Condition::BodySha256(slot) => {
                use sha2::{Digest as _, Sha256};
                // Public on both sides: whoever sends the body knows its digest.
                let digest = transform::lower_hex(&Sha256::digest(request.body));
                let value = request.single(slot)?;
                value.is_some_and(|value| *value == *digest.as_bytes())
            }
            Condition::Listed(slot, name) => {
                let names = request.value(slot)?.unwrap_or_default();
                let mut names = listed_names(slot, &names);
                names.any(|own| own.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
            }
            Condition::NoQuery => !has_query(request.url()?),
            Condition::Query => has_query(request.url()?),
            Condition::NoBody => request.body.is_empty(),
            Condition::NoForm => !self.has_form()?,
            Condition::Form => self.has_form()?,
        };
        if met { Ok(()) } else { Err(Miss::NotMeant) }
    }

    #[cfg(feature = "form")]
    fn has_form(&self) -> Result<bool, Malformed> {
        super::form::has_fields(self.request.form_kind()?, self.request.body)
    }

    #[cfg(not(feature = "form"))]
    fn has_form(&self) -> Result<bool, Malformed> {
        Err(Malformed::Form)
    }

    #[cfg(feature = "form")]
    fn write_sorted(&self, part: &Part, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let text = if part.is_query() {
            super::form::sorted_query(self.request.url()?)?
        } else {
            super::form::sorted_form(self.request.form_kind()?, self.request.body)?
        };
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[cfg(not(feature = "form"))]
    fn write_sorted(&self, _: &Part, _: &mut Vec<u8>) -> Result<(), Malformed> {
        Err(Malformed::Form)
    }

    /// At most as many headers as there may be signatures; each must occur once.
    fn write_listed(&self, list: &HeaderList, out: &mut Vec<u8>) -> Result<(), Miss> {
        const MOST: usize = 32;
        let slot = &list.names;
        let names = self.request.value(slot)?.ok_or(Miss::Absent(slot.name()))?;
        let mut lines = Vec::new();
        for name in listed_names(slot, &names) {
            let unreadable = Malformed::Value(slot.name());
            let name = std::str::from_utf8(name).map_err(|_| unreadable)?;
            let value = self.request.reader.named(name.trim()).ok_or(unreadable)?;
            if lines.len() == MOST {
                return Err(unreadable.into());
            }
            lines.push((name.trim().to_ascii_lowercase(), value.trim_ascii()));
        }
        if list.with_names {
            lines.sort_unstable();
        }
        for (index, (name, value)) in lines.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(list.between.as_bytes());
            }
            if list.with_names {
                out.extend_from_slice(name.as_bytes());
                out.push(b':');
            }
            out.extend_from_slice(value);
        }
        Ok(())
    }
}

/// The names in a list of headers: the items, or in one item what stands between blanks.
pub(super) fn listed_names<'v>(
    slot: &crate::scheme::Slot,
    value: &'v [u8],
) -> impl Iterator<Item = &'v [u8]> + use<'v> {
    let blanks = !slot.fixed_prefix().is_empty();
    let items = slot.items(value);
    items.flat_map(move |item| item.split(move |&byte| blanks && byte == b' '))
}

fn has_query(url: &str) -> bool {
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    url.split_once('?')
        .is_some_and(|(_, query)| !query.is_empty())
}

/// The part of a URL that is signed.
fn cut_url<'u>(url: &'u str, part: &Part) -> Option<&'u str> {
    let whole = url.split_once('#').map_or(url, |(before, _)| before);
    let target = || {
        let (_, rest) = whole.split_once("://")?;
        let start = rest.find(['/', '?']).unwrap_or(rest.len());
        rest.get(start..)
    };
    let before_query = |text: &'u str| text.split_once('?').map_or(text, |(before, _)| before);
    Some(match part {
        Part::UrlBase => before_query(whole),
        Part::PathAndQuery => target()?,
        Part::Path => before_query(target()?),
        _ => url,
    })
}
