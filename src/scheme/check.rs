//! What makes a scheme sound, checked once when [`Secrets`](crate::Secrets) are built.

use super::{
    Condition, Encoding, MAX_PARTS, Mac, Part, Place, Scheme, Slot, Stamp, Transform, boundaries,
    holds, walk,
};

/// Why a scheme cannot be used. Found when secrets are bound to it, never per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// The name or a header name is empty or holds something else than visible ASCII.
    #[error("the scheme's name or one of its header names is empty or not visible ASCII")]
    Name,
    /// No signature slot was given.
    #[error("the scheme does not say where the signature is")]
    NoSignature,
    /// A MAC over nothing proves nothing.
    #[error("the scheme's signed content is empty")]
    NothingSigned,
    /// [`Mac::Token`] signs no content, comes as it is or in base64, and is the only one with
    /// [`Encoding::Plain`].
    #[error("a token scheme has no signed content, and only a token is not encoded")]
    TokenContent,
    /// More parts than [`MAX_PARTS`].
    #[error("the scheme's signed content has too many parts")]
    TooManyParts,
    /// The timestamp is read from a place that the signature does not cover.
    #[error("the scheme reads a timestamp that the signature does not cover")]
    UnsignedTimestamp,
    /// [`Part::Timestamp`] without a timestamp slot, or a timestamp slot with an unset source.
    #[error("the scheme signs a timestamp but does not say where it is")]
    NoTimestamp,
    /// Two neighbouring parts could be cut at another place under the same signature. Use a
    /// separator, [`Shape::Token`](super::Shape::Token), or say [`Scheme::ambiguous_boundary`].
    #[error("part {0} of the signed content has no unambiguous end")]
    AmbiguousBoundary(
        /// Index into the content.
        usize,
    ),
    /// A digest of the body is compared with a value that the signature does not cover.
    #[error("the scheme compares the body with a digest that the signature does not cover")]
    UnsignedDigest,
    /// A JSON pointer that does not begin with `/`.
    #[error("a JSON pointer of the scheme does not begin with a slash")]
    Pointer,
    /// The rules of a token ([`Scheme::jwt`](Scheme)) contradict the rest of the scheme; the text
    /// says where.
    #[error("the scheme's token rules do not fit: {0}")]
    Token(
        /// What does not fit.
        &'static str,
    ),
    /// The rule given to [`Scheme::http_signature`], or its scheme, cannot be kept.
    #[cfg(feature = "http-signatures")]
    #[error("the scheme's HTTP signature cannot be used: {0}")]
    HttpSignature(
        /// What is wrong.
        &'static str,
    ),
    /// The scheme needs a cargo feature that is not enabled.
    #[error("the scheme needs the cargo feature `{0}`")]
    NeedsFeature(
        /// The feature's name.
        &'static str,
    ),
}

impl Scheme {
    /// Refuses a scheme that cannot do what it says, and returns it unchanged otherwise.
    ///
    /// ```
    /// use hookproof::scheme::{Encoding, Mac, Part, Scheme, SchemeError, Slot, Unit};
    ///
    /// // The time is read from a header that the MAC does not cover: anyone could refresh it.
    /// const WEAK: Scheme = Scheme::new("weak", Mac::HmacSha256)
    ///     .signature(Slot::header("X-Signature"), Encoding::Hex)
    ///     .timestamp(Slot::header("X-Timestamp"), Unit::Seconds)
    ///     .content(&[Part::Body]);
    /// assert_eq!(WEAK.check().unwrap_err(), SchemeError::UnsignedTimestamp);
    /// ```
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check(&self) -> Result<&Self, SchemeError> {
        #[cfg(feature = "jwt")]
        if let Some(rules) = self.jwt {
            return self.with_sound_token(rules);
        }
        let signature = self.signature.ok_or(SchemeError::NoSignature)?;
        let visible = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        let mut names = vec![self.name, self.provider, signature.name()];
        names.extend(self.slots().iter().map(Slot::name));
        names.extend(self.delivery_id_header());
        names.extend(self.document);
        if !names.into_iter().all(visible) {
            return Err(SchemeError::Name);
        }
        #[cfg(feature = "http-signatures")]
        if let Some(rule) = self.http_signature {
            self.check_http_signature(rule)?;
            return self.with_sound_pointers();
        }
        let token = self.mac == Mac::Token;
        let clear = matches!(self.encoding, Encoding::Plain | Encoding::Base64);
        if (token && !clear) || (!token && self.encoding == Encoding::Plain) {
            return Err(SchemeError::TokenContent);
        }
        for parts in self.contents() {
            let says_something =
                |part: &Part| !matches!(part, Part::Text(_) | Part::Setting(_) | Part::Require(_));
            match (token, holds(parts, &says_something)) {
                (false, false) => return Err(SchemeError::NothingSigned),
                (true, true) => return Err(SchemeError::TokenContent),
                _ => {}
            }
            if self.is_plain() && parts.len() > MAX_PARTS {
                return Err(SchemeError::TooManyParts);
            }
        }
        self.with_features()?
            .with_signed_timestamp()?
            .with_sound_pointers()?
            .with_bound_digests()?
            .with_clear_boundaries()
    }

    /// Refuses what this build cannot do.
    pub(super) fn with_features(&self) -> Result<&Self, SchemeError> {
        let mut form = self.document.is_some();
        let mut json = self.each.is_some();
        for slot in self.slots() {
            form |= matches!(slot.place(), Place::Query | Place::Form | Place::Param);
            json |= slot.place() == Place::Json || slot.inner_pointer().is_some();
        }
        let (mut crc32, mut unicode, mut sha1) = (false, false, false);
        let mut look = |part: &Part| {
            json |= matches!(part, Part::JsonText(_));
            form |= matches!(
                part,
                Part::SortedForm
                    | Part::SortedQuery
                    | Part::Of(Transform::EncodeUri, _)
                    | Part::Require(Condition::Form | Condition::NoForm)
            );
            crc32 |= matches!(part, Part::Of(Transform::Crc32, _));
            unicode |= matches!(part, Part::Of(Transform::Nfkd, _));
            sha1 |= matches!(part, Part::Of(Transform::Sha1, _));
        };
        for parts in self.contents().chain([self.key_parts]) {
            walk(parts, &mut look);
        }
        let needs = [
            (form, cfg!(feature = "form"), "form"),
            (json, cfg!(feature = "json"), "json"),
            (crc32, cfg!(feature = "crc32"), "crc32"),
            (unicode, cfg!(feature = "unicode"), "unicode"),
            (sha1, cfg!(feature = "sha1"), "sha1"),
        ];
        match needs
            .into_iter()
            .find(|(needed, there, _)| *needed && !there)
        {
            Some((_, _, feature)) => Err(SchemeError::NeedsFeature(feature)),
            None => Ok(self),
        }
    }

    /// A digest of the body binds it only where the digest is signed itself.
    fn with_bound_digests(&self) -> Result<&Self, SchemeError> {
        let mut loose = false;
        for parts in self.contents() {
            walk(parts, &mut |part| {
                if let Part::Require(Condition::BodySha256(slot)) = part {
                    let bound = match slot.place() {
                        Place::Header => holds(parts, &|part| part.is_header(slot.name())),
                        Place::Query => holds(parts, &Part::is_query),
                        _ => false,
                    };
                    loose |= !bound;
                }
            });
        }
        if loose {
            Err(SchemeError::UnsignedDigest)
        } else {
            Ok(self)
        }
    }

    pub(super) fn with_signed_timestamp(&self) -> Result<&Self, SchemeError> {
        // A signed header may hold it without being named as the timestamp.
        let listed = |part: &Part| match (&self.timestamp, part) {
            (Some((Stamp::Slot(slot), _)), Part::Require(Condition::Listed(_, name))) => {
                slot.is_header() && slot.name().eq_ignore_ascii_case(name)
            }
            _ => false,
        };
        let signed = self
            .contents()
            .all(|parts| holds(parts, &|part| part.is_timestamp() || listed(part)));
        let body = self.contents().all(|parts| holds(parts, &Part::is_body));
        match self.timestamp {
            None if signed => Err(SchemeError::NoTimestamp),
            Some((Stamp::Slot(_), _)) if !signed => Err(SchemeError::UnsignedTimestamp),
            Some((Stamp::Json(_), _)) if signed => Err(SchemeError::NoTimestamp),
            Some((Stamp::Json(_), _)) if !body => Err(SchemeError::UnsignedTimestamp),
            #[cfg(feature = "jwt")]
            Some((Stamp::Claim(_), _)) => Err(SchemeError::UnsignedTimestamp),
            Some((Stamp::Json(_), _)) if cfg!(not(feature = "json")) => {
                Err(SchemeError::NeedsFeature("json"))
            }
            _ => Ok(self),
        }
    }

    pub(super) fn with_sound_pointers(&self) -> Result<&Self, SchemeError> {
        use super::{IdSource, Source, Stability};
        let mut pointers: Vec<&str> = Vec::new();
        match self.id {
            IdSource::Json(pointer) | IdSource::JsonOrContent(pointer) => pointers.push(pointer),
            IdSource::Composite(several) => pointers.extend(several),
            IdSource::Values(slots) => pointers.extend(slots.iter().filter_map(json_pointer)),
            _ => {}
        }
        if let Some((Stamp::Json(pointer), _)) = self.timestamp {
            pointers.push(pointer);
        }
        if let Some(Source::Json(pointer)) = self.event_type {
            pointers.push(pointer);
        }
        #[cfg(feature = "jwt")]
        if let Some(Source::Claims(several)) = self.event_type {
            pointers.extend(several);
        }
        if let Stability::JsonExcept(several) = self.stability {
            pointers.extend(several);
        }
        let slots = self.slots();
        pointers.extend(slots.iter().filter_map(json_pointer));
        pointers.extend(self.each);
        let sound = pointers.iter().all(|pointer| pointer.starts_with('/'));
        if sound {
            Ok(self)
        } else {
            Err(SchemeError::Pointer)
        }
    }

    /// Every part but the last must end where only one reader can think it ends, unless the scheme
    /// says aloud that it does not.
    pub(super) fn with_clear_boundaries(&self) -> Result<&Self, SchemeError> {
        if self.ambiguous.is_some() {
            return Ok(self);
        }
        let unit = self.timestamp.map(|(_, unit)| unit);
        for parts in self.contents() {
            boundaries::clear(parts, unit).map_err(SchemeError::AmbiguousBoundary)?;
        }
        Ok(self)
    }
}

fn json_pointer(slot: &Slot) -> Option<&'static str> {
    (slot.place() == Place::Json).then_some(slot.name())
}
