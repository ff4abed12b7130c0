//! Reading values from anywhere in a request.

use std::borrow::Cow;

use crate::scheme::{Place, Slot};

use super::{Malformed, Reader};

/// One request, or one element of a JSON body whose elements are signed one by one.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) reader: Reader<'a>,
    pub(crate) body: &'a [u8],
    /// The element, as it is written.
    #[cfg_attr(not(feature = "json"), allow(dead_code))]
    pub(crate) element: Option<&'a str>,
}

type Value<'a> = Result<Option<Cow<'a, [u8]>>, Malformed>;

impl<'a> Request<'a> {
    /// The value of a slot before it is cut; `None` if it is not there.
    pub(crate) fn value(&self, slot: &Slot) -> Value<'a> {
        let value = match slot.place() {
            Place::Header if slot.may_repeat() => self.reader.lines(slot)?,
            Place::Header => self.reader.optional(slot.name())?.map(Cow::Borrowed),
            Place::Body => Some(Cow::Borrowed(self.body)),
            Place::Json => self.json(slot.name())?,
            Place::Query => self.query(slot.name())?,
            Place::Form => self.form(slot.name())?,
            Place::Param => match (self.query(slot.name())?, self.form(slot.name())?) {
                (Some(_), Some(_)) => return Err(Malformed::RepeatedValue(slot.name())),
                (query, form) => query.or(form),
            },
        };
        match (value, slot.inner_pointer()) {
            (Some(value), Some(pointer)) => inside(&value, pointer, slot.name()),
            (value, _) => Ok(value),
        }
    }

    /// The one item of a slot, cut out; `None` if there is none, an error if there are several.
    pub(crate) fn single(&self, slot: &Slot) -> Value<'a> {
        let Some(value) = self.value(slot)? else {
            return Ok(None);
        };
        let once = |value: &[u8]| slot.items(value).nth(1).is_none();
        if !once(&value) {
            return Err(Malformed::Value(slot.name()));
        }
        Ok(match &value {
            Cow::Borrowed(value) => slot.items(value).next().map(Cow::Borrowed),
            Cow::Owned(value) => slot.items(value).next().map(|cut| Cow::Owned(cut.to_vec())),
        })
    }

    /// The elements that are signed one by one, or the request itself; never none.
    pub(crate) fn elements(&self) -> Result<Vec<Request<'a>>, Malformed> {
        let Some(pointer) = self.reader.scheme.each_element() else {
            return Ok(vec![*self]);
        };
        let elements = elements(self.body, pointer).ok_or(Malformed::Json)?;
        let one = |element| Request {
            element: Some(element),
            ..*self
        };
        Ok(elements.into_iter().map(one).collect())
    }

    /// The body without the attempt's timestamp, if that is inside it.
    pub(crate) fn stable_body(&self) -> Cow<'a, [u8]> {
        #[cfg(feature = "json")]
        if let Some((crate::scheme::Stamp::Json(pointer), _)) =
            self.reader.scheme.timestamp_source()
            && let Some(digest) = crate::json::digest_except(self.body, &[pointer])
        {
            return digest.to_vec().into();
        }
        // Where a token covers what the body means, white space must not make a new event.
        #[cfg(feature = "jwt")]
        if let Some(text) = super::jwt::covered_meaning(self.reader.scheme, self.body) {
            return text.into_bytes().into();
        }
        self.body.into()
    }

    /// The document that JSON pointers point into.
    #[cfg(feature = "json")]
    pub(crate) fn document(&self) -> Result<Cow<'a, [u8]>, Malformed> {
        match (self.element, self.reader.scheme.json_field()) {
            (Some(element), _) => Ok(Cow::Borrowed(element.as_bytes())),
            (None, None) => Ok(Cow::Borrowed(self.body)),
            (None, Some(field)) => match self.form(field)? {
                Some(text) => Ok(text),
                // Some accounts are sent plain JSON instead of the form.
                None => Ok(Cow::Borrowed(self.body)),
            },
        }
    }

    #[cfg(feature = "json")]
    fn json(&self, pointer: &'static str) -> Value<'a> {
        let text = match self.document()? {
            Cow::Borrowed(document) => {
                crate::json::text_at(document, pointer).map(|text| text.map(bytes))
            }
            Cow::Owned(document) => crate::json::text_at(&document, pointer)
                .map(|text| text.map(|text| Cow::Owned(text.into_owned().into_bytes()))),
        };
        text.map_err(|_| Malformed::Json)
    }

    /// A JSON value as it is written.
    #[cfg(feature = "json")]
    pub(crate) fn json_text(&self, pointer: &'static str) -> Value<'a> {
        let text = match self.document()? {
            Cow::Borrowed(document) => crate::json::find_raw(document, pointer)
                .map(|text| text.map(|text| Cow::Borrowed(text.as_bytes()))),
            Cow::Owned(document) => crate::json::find_raw(&document, pointer)
                .map(|text| text.map(|text| Cow::Owned(text.as_bytes().to_vec()))),
        };
        text.map_err(|_| Malformed::Json)
    }

    #[cfg(not(feature = "json"))]
    fn json(&self, _: &'static str) -> Value<'a> {
        Err(Malformed::Json)
    }

    #[cfg(not(feature = "json"))]
    pub(crate) fn json_text(&self, _: &'static str) -> Value<'a> {
        Err(Malformed::Json)
    }

    pub(crate) fn url(&self) -> Result<&'a str, Malformed> {
        self.reader.url().ok_or(Malformed::NoTarget)
    }

    #[cfg(feature = "form")]
    fn query(&self, name: &'static str) -> Value<'a> {
        Ok(super::form::query_value(self.url()?, name)?.map(bytes))
    }

    #[cfg(feature = "form")]
    pub(crate) fn form_kind(&self) -> Result<super::form::Kind<'a>, Malformed> {
        Ok(super::form::kind(self.reader.optional("Content-Type")?))
    }

    #[cfg(feature = "form")]
    fn form(&self, name: &'static str) -> Value<'a> {
        let kind = self.form_kind()?;
        Ok(super::form::field(kind, self.body, name)?.map(bytes))
    }

    #[cfg(not(feature = "form"))]
    fn query(&self, _: &'static str) -> Value<'a> {
        Err(Malformed::Form)
    }

    #[cfg(not(feature = "form"))]
    fn form(&self, _: &'static str) -> Value<'a> {
        Err(Malformed::Form)
    }
}

/// Elements of the body's array. An empty array proves nothing, so it is none.
#[cfg(feature = "json")]
fn elements<'a>(body: &'a [u8], pointer: &str) -> Option<Vec<&'a str>> {
    let most = super::composed::MAX_ELEMENTS;
    let elements = crate::json::elements(body, pointer, most).ok()?;
    (!elements.is_empty()).then_some(elements)
}

#[cfg(not(feature = "json"))]
fn elements<'a>(_: &'a [u8], _: &str) -> Option<Vec<&'a str>> {
    None
}

#[cfg(any(feature = "json", feature = "form"))]
fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// A member of the JSON document that a value encodes in base64.
#[cfg(feature = "json")]
fn inside<'a>(value: &[u8], pointer: &str, name: &'static str) -> Value<'a> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let document = STANDARD.decode(value).map_err(|_| Malformed::Value(name))?;
    let text = crate::json::text_at(&document, pointer).map_err(|_| Malformed::Value(name))?;
    Ok(text.map(|text| Cow::Owned(text.into_owned().into_bytes())))
}

#[cfg(not(feature = "json"))]
fn inside<'a>(_: &[u8], _: &str, _: &'static str) -> Value<'a> {
    Err(Malformed::Json)
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}
