//! What makes a row unsound.

use super::{Allowed, Body, Handshake, Key, Moment, Piece, Place, When};
use crate::scheme::{Encoding, Mac};

/// Why a row cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeFault {
    /// Nothing says which requests are meant: every request would be.
    #[error("the handshake has no condition")]
    NoCondition,
    /// A signed handshake is recognised or answered by something that the signature need not cover.
    #[error("a signed handshake reads something other than the JSON body")]
    UnsignedPlace,
    /// A URL to fetch, or none but the sender's word for it.
    #[error("only a signed handshake may have a URL to confirm")]
    UnsignedUrl,
    /// A setting that is not in the list.
    #[error("a setting is used that the handshake does not name")]
    NoSuchSetting,
    /// The challenge is used, or a secret is offered, and no place is given.
    #[error("the handshake does not say where its challenge is")]
    NoChallenge,
    /// Any text could be put into a header, or be given a MAC.
    #[error("a challenge that goes into a header or a MAC may only be a token")]
    FreeText,
    /// A setting is the key of a MAC, and is sent as well.
    #[error("the handshake sends the key of its MAC")]
    KeySent,
    /// A MAC without an algorithm, or written as raw bytes.
    #[error("the handshake has a MAC that cannot be written as text")]
    NoMac,
    /// A JSON pointer that does not begin with `/`.
    #[error("a JSON pointer of the handshake does not begin with a slash")]
    Pointer,
}

impl Handshake {
    /// Refuses a row that cannot do what it says, or would do harm, and returns it unchanged
    /// otherwise.
    ///
    /// ```
    /// use hookproof::handshake::{Allowed, Body, Handshake, HandshakeFault, Key, Moment, Piece, Place, When};
    /// use hookproof::scheme::{Encoding, Mac};
    ///
    /// // Whoever asks gets the signature of any body he likes.
    /// const ORACLE: Handshake = Handshake::new("oracle", Moment::Unsigned)
    ///     .when(&[When::Has(Place::Query("challenge"))])
    ///     .settings(&["secret"])
    ///     .challenge(Place::Query("challenge"), Allowed::Text)
    ///     .body(Body::Text(&[Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Hex)]));
    /// assert_eq!(ORACLE.check().unwrap_err(), HandshakeFault::FreeText);
    /// ```
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check(&self) -> Result<&Self, HandshakeFault> {
        if self.when.is_empty() {
            return Err(HandshakeFault::NoCondition);
        }
        let places: Vec<Place> = self.places().collect();
        let pointer = |place: &Place| matches!(place, Place::Json(p) if !p.starts_with('/'));
        if places.iter().any(pointer) {
            return Err(HandshakeFault::Pointer);
        }
        let in_body = |place: &Place| matches!(place, Place::Json(_));
        let of_body = |when: &When| {
            matches!(
                when,
                When::Has(_) | When::Lacks(_) | When::Is(..) | When::Members(_)
            )
        };
        let signed = self.moment == Moment::Verified;
        if signed && !(places.iter().all(in_body) && self.when.iter().all(of_body)) {
            return Err(HandshakeFault::UnsignedPlace);
        }
        if self.confirm.is_some() && !signed {
            return Err(HandshakeFault::UnsignedUrl);
        }
        if self.moment == Moment::Subscribing && self.challenge.is_none() {
            return Err(HandshakeFault::NoChallenge);
        }
        if let Some((_, setting)) = self.expects {
            self.has_setting(setting)?;
        }
        let mut sent: Vec<&Piece> = Vec::new();
        for (_, pieces) in self.headers {
            self.check_pieces(pieces, true)?;
            sent.extend(*pieces);
        }
        match self.body {
            Body::Empty | Body::Fixed(_) => {}
            Body::Text(pieces) => {
                self.check_pieces(pieces, false)?;
                sent.extend(pieces);
            }
            Body::Json(members) => {
                for (_, pieces) in members {
                    self.check_pieces(pieces, false)?;
                    sent.extend(*pieces);
                }
            }
        }
        let key = |piece: &&Piece| match piece {
            Piece::Hmac(_, Key::Setting(index), _) => Some(*index),
            #[cfg(feature = "sha1")]
            Piece::Hmac(_, Key::Sha1Of(index), _) => Some(*index),
            _ => None,
        };
        let mut keys = sent.iter().filter_map(key);
        if keys.any(|key| sent.contains(&&Piece::Setting(key))) {
            return Err(HandshakeFault::KeySent);
        }
        Ok(self)
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let when = self.when.iter().filter_map(|when| match when {
            When::Has(place) | When::Lacks(place) | When::Is(place, _) => Some(*place),
            _ => None,
        });
        when.chain(self.expects.map(|(place, _)| place))
            .chain(self.challenge.map(|(place, _)| place))
            .chain(self.confirm.map(|(place, _)| place))
    }

    fn has_setting(&self, index: usize) -> Result<(), HandshakeFault> {
        match self.settings.get(index) {
            Some(_) => Ok(()),
            None => Err(HandshakeFault::NoSuchSetting),
        }
    }

    fn check_pieces(&self, pieces: &[Piece], header: bool) -> Result<(), HandshakeFault> {
        let free = matches!(self.challenge, Some((_, Allowed::Text)));
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Setting(index) => self.has_setting(*index)?,
                Piece::Sha256(pieces) => self.check_pieces(pieces, false)?,
                Piece::Challenge | Piece::Hmac(..) if self.challenge.is_none() => {
                    return Err(HandshakeFault::NoChallenge);
                }
                Piece::Challenge if header && free => return Err(HandshakeFault::FreeText),
                Piece::Challenge => {}
                Piece::Hmac(..) if free => return Err(HandshakeFault::FreeText),
                Piece::Hmac(_, _, Encoding::Plain) => {
                    return Err(HandshakeFault::NoMac);
                }
                Piece::Hmac(mac, ..) if !is_hmac(*mac) => {
                    return Err(HandshakeFault::NoMac);
                }
                Piece::Hmac(_, Key::Setting(index), _) => self.has_setting(*index)?,
                #[cfg(feature = "sha1")]
                Piece::Hmac(_, Key::Sha1Of(index), _) => self.has_setting(*index)?,
            }
        }
        Ok(())
    }
}

/// Whether the algorithm makes a MAC of a challenge: not a public key's, and no plain hash.
fn is_hmac(mac: Mac) -> bool {
    match mac {
        Mac::HmacSha256 | Mac::HmacSha384 | Mac::HmacSha512 => true,
        #[cfg(feature = "sha1")]
        Mac::HmacSha1 => true,
        _ => false,
    }
}
