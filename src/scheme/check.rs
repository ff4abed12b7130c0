//! What makes a scheme sound, checked once when [`Secrets`](crate::Secrets) are built.

use super::{Encoding, MAX_PARTS, Mac, Part, Scheme, Shape, Slot, Stamp, Unit};

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
    /// [`Mac::Token`] signs no content, and is the only one with [`Encoding::Plain`].
    #[error("a token scheme has no signed content and plain encoding, and only a token scheme")]
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
    /// separator, [`Shape::Token`], or say [`Scheme::ambiguous_boundary`].
    #[error("part {0} of the signed content has no unambiguous end")]
    AmbiguousBoundary(
        /// Index into the content.
        usize,
    ),
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
        names.extend(self.more_signatures.iter().map(Slot::name));
        names.extend(self.key_id);
        names.extend(self.delivery_id_header());
        names.extend(self.content.iter().filter_map(|part| match part {
            Part::Header(slot) => Some(slot.name()),
            _ => None,
        }));
        if !names.into_iter().all(visible) {
            return Err(SchemeError::Name);
        }
        let token = self.mac == Mac::Token;
        if token != (self.encoding == Encoding::Plain) || (token && !self.content.is_empty()) {
            return Err(SchemeError::TokenContent);
        }
        if !token
            && !self
                .content
                .iter()
                .any(|part| !matches!(part, Part::Text(_)))
        {
            return Err(SchemeError::NothingSigned);
        }
        if self.content.len() > MAX_PARTS {
            return Err(SchemeError::TooManyParts);
        }
        self.with_signed_timestamp()?
            .with_sound_pointers()?
            .with_clear_boundaries()
    }

    pub(super) fn with_signed_timestamp(&self) -> Result<&Self, SchemeError> {
        let signed = self.content.contains(&Part::Timestamp);
        match self.timestamp {
            None if signed => Err(SchemeError::NoTimestamp),
            Some((Stamp::Slot(_), _)) if !signed => Err(SchemeError::UnsignedTimestamp),
            Some((Stamp::Json(_), _)) if signed => Err(SchemeError::NoTimestamp),
            Some((Stamp::Json(_), _)) if !self.content.contains(&Part::Body) => {
                Err(SchemeError::UnsignedTimestamp)
            }
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
        let pairs = self.content.iter().zip(self.content.iter().skip(1));
        for (index, (part, next)) in pairs.enumerate() {
            let closed = match (part, next) {
                // Fixed text has a fixed length.
                (Part::Text(_), _) => true,
                // RFC 3339 says itself where it ends.
                (Part::Timestamp, _) if unit == Some(Unit::Rfc3339) => true,
                // Digits end at the first byte that is none.
                (Part::Timestamp, Part::Text(text)) => {
                    !text.starts_with(|c: char| c.is_ascii_digit())
                }
                // verify refuses a value that holds the separator's first byte.
                (Part::Header(_) | Part::Method | Part::Url, Part::Text(text)) => !text.is_empty(),
                // A token has neither the colons of a time nor a time's width in digits only.
                (Part::Header(slot), Part::Timestamp) => {
                    unit == Some(Unit::Rfc3339) && is_token(slot)
                }
                // Fixed text at the very end has a fixed place.
                _ => self
                    .content
                    .iter()
                    .skip(index.saturating_add(1))
                    .all(is_text),
            };
            if !closed {
                return Err(SchemeError::AmbiguousBoundary(index));
            }
        }
        Ok(self)
    }
}

fn is_text(part: &Part) -> bool {
    matches!(part, Part::Text(_))
}

fn is_token(slot: &Slot) -> bool {
    slot.value_shape() == Shape::Token
}
