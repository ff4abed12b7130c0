//! A row with its settings: recognises, checks, answers.

use std::fmt;

use time::OffsetDateTime;
use zeroize::Zeroizing;

use super::{
    Answer, Handshake, HandshakeError, HandshakeErrorKind as Kind, HandshakeFault, Moment, Offer,
    Piece, Place,
    request::{NoTarget, Request, Seen},
};
use crate::{
    headers::Headers,
    scheme::{Encoding, Mac, SecretFormat},
    secrets::{Secret, SecretFault, Secrets},
    verify::{MacKey, Verified, verify},
};

/// For rows that need no settings.
pub const NO_SETTINGS: [&str; 0] = [];

/// Why a responder could not be made. Names a setting, never its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponderError {
    /// The row itself is not sound.
    #[error("the handshake cannot be used")]
    Row(#[source] HandshakeFault),
    /// Too few or too many settings.
    #[error("the handshake needs {wanted} settings")]
    Count {
        /// So many as [`Handshake::setting_names`] lists.
        wanted: usize,
    },
    /// A setting is empty, blank, has white space at an edge, or is too short.
    #[error("setting {name:?}: {fault}")]
    Setting {
        /// Its name in the row.
        name: &'static str,
        /// What is wrong with it.
        fault: SecretFault,
    },
    /// A setting that is sent in a header is not visible ASCII.
    #[error("setting {name:?} cannot stand in a header")]
    NotForHeader {
        /// Its name in the row.
        name: &'static str,
    },
}

/// A handshake with what it needs to know, made when the service starts.
///
/// ```
/// use hookproof::{SecretFault, handshake::{self, NO_SETTINGS, Responder, ResponderError}};
///
/// assert!(Responder::new(&handshake::DROPBOX, NO_SETTINGS).is_ok());
/// assert_eq!(
///     Responder::new(&handshake::STRAVA, [""]).unwrap_err(),
///     ResponderError::Setting { name: "verify token", fault: SecretFault::Empty },
/// );
/// ```
pub struct Responder {
    pub(super) row: &'static Handshake,
    settings: Box<[Zeroizing<Vec<u8>>]>,
}

impl Responder {
    /// Binds the settings that [`Handshake::setting_names`] lists, in that order.
    ///
    /// # Errors
    ///
    /// [`ResponderError`]. The error never holds a setting.
    pub fn new<I>(row: &'static Handshake, settings: I) -> Result<Self, ResponderError>
    where
        I: IntoIterator,
        I::Item: Into<Secret>,
    {
        row.check().map_err(ResponderError::Row)?;
        let wanted = row.settings.len();
        let mut names = row.settings.iter();
        let mut kept = Vec::new();
        for setting in settings {
            let &name = names.next().ok_or(ResponderError::Count { wanted })?;
            let bytes = setting.into().into_bytes();
            let bytes = crate::secrets::decode_as(SecretFormat::Text, &bytes)
                .map_err(|fault| ResponderError::Setting { name, fault })?;
            let sent = row.headers.iter().flat_map(|(_, pieces)| *pieces);
            let index = kept.len();
            if !bytes.iter().all(u8::is_ascii_graphic)
                && sent
                    .into_iter()
                    .any(|piece| *piece == Piece::Setting(index))
            {
                return Err(ResponderError::NotForHeader { name });
            }
            kept.push(bytes);
        }
        match names.next() {
            Some(_) => Err(ResponderError::Count { wanted }),
            None => Ok(Self {
                row,
                settings: kept.into_boxed_slice(),
            }),
        }
    }

    /// The row.
    pub fn handshake(&self) -> &'static Handshake {
        self.row
    }

    /// Answers an unsigned handshake. `request` is the headers with method and URL
    /// ([`RequestTarget`](crate::headers::RequestTarget)); the URL may be absolute, or a path with
    /// its query.
    ///
    /// `Ok(None)`: this is no such handshake, go on with [`verify`](crate::verify()). So it is for
    /// every request if the row is a signed one or offers a secret. An answer says nothing about
    /// who asked.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`]: it is the handshake, and is refused.
    pub fn answer(
        &self,
        raw_body: &[u8],
        request: &impl Headers,
    ) -> Result<Option<Answer>, HandshakeError> {
        match self.row.moment {
            Moment::Unsigned => self.respond(Request {
                headers: Some(request),
                body: raw_body,
            }),
            Moment::Verified | Moment::Subscribing => Ok(None),
        }
    }

    /// Answers a signed handshake out of a delivery that has been verified. `Ok(None)`: it is an
    /// event, go on and claim it.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`].
    pub fn answer_verified(
        &self,
        delivery: &Verified<'_>,
    ) -> Result<Option<Answer>, HandshakeError> {
        if self.row.moment != Moment::Verified {
            return Ok(None);
        }
        if delivery.scheme().provider() != self.row.provider {
            return Err(self.refuse(Kind::OtherProvider));
        }
        self.respond(Request {
            headers: None,
            body: delivery.body(),
        })
    }

    /// One call for every row, in front of `verify` or a gate: an unsigned handshake is answered
    /// as by [`Responder::answer`]; what looks like a signed one is verified, and then answered.
    /// Other requests cost no MAC here.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`], with status 401 if a signed handshake is not authentic.
    pub fn verify_then_answer(
        &self,
        raw_body: &[u8],
        request: &impl Headers,
        secrets: &Secrets,
        now: OffsetDateTime,
    ) -> Result<Option<Answer>, HandshakeError> {
        if self.row.moment != Moment::Verified {
            return self.answer(raw_body, request);
        }
        let body_only = Request {
            headers: None,
            body: raw_body,
        };
        if !self.recognises(body_only)? {
            return Ok(None);
        }
        match verify(raw_body, request, secrets, now) {
            Ok(delivery) => self.answer_verified(&delivery),
            Err(rejection) => Err(HandshakeError {
                kind: Kind::Rejected(rejection.kind()),
                status: 401,
            }),
        }
    }

    /// Takes the secret that a provider offers for a new subscription.
    ///
    /// **Nothing vouches for the request.** Call this only while your application is creating a
    /// subscription and waits for it, best on a URL made for that one subscription; at all other
    /// times do not, and `verify` will refuse the request for want of a signature. `Ok(None)`: no
    /// offer.
    ///
    /// ```
    /// use hookproof::{handshake::{self, NO_SETTINGS, Responder}, headers::RequestTarget};
    ///
    /// let responder = Responder::new(&handshake::ASANA, NO_SETTINGS)?;
    /// let headers = [("X-Hook-Secret", "b537207f20cbfa02357cf448134da559")];
    /// let request = RequestTarget::new(&headers, "POST", "/in/asana/project-7");
    ///
    /// assert!(responder.answer(b"", &request)?.is_none()); // nothing without your asking for it
    /// let offer = responder.accept_offer(b"", &request)?.expect("an offer");
    /// assert_eq!(offer.secret_text(), "b537207f20cbfa02357cf448134da559");
    /// assert!(offer.answer().headers().any(|(name, _)| name == "X-Hook-Secret"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`HandshakeError`].
    pub fn accept_offer(
        &self,
        raw_body: &[u8],
        request: &impl Headers,
    ) -> Result<Option<Offer>, HandshakeError> {
        if self.row.moment != Moment::Subscribing {
            return Ok(None);
        }
        let request = Request {
            headers: Some(request),
            body: raw_body,
        };
        let Some(answer) = self.respond(request)? else {
            return Ok(None);
        };
        let secret = Zeroizing::new(self.challenge(request)?);
        if crate::secrets::decode_as(SecretFormat::Text, secret.as_bytes()).is_err() {
            return Err(self.refuse(Kind::Challenge));
        }
        Ok(Some(Offer { answer, secret }))
    }

    fn recognises(&self, request: Request<'_>) -> Result<bool, HandshakeError> {
        request.meets(self.row.when).map_err(no_target)
    }

    fn respond(&self, request: Request<'_>) -> Result<Option<Answer>, HandshakeError> {
        if !self.recognises(request)? {
            return Ok(None);
        }
        if let Some((place, setting)) = self.row.expects {
            let Seen::One(presented) = request.read(place).map_err(no_target)? else {
                return Err(self.refuse(Kind::Mismatch));
            };
            // Keyed digests are compared: where two texts differ, in length too, does not show.
            let known = MacKey::new(Mac::Token, self.setting(setting));
            let known = known.map_err(|_| self.refuse(Kind::Mismatch))?;
            let tag = known.compute(&[]);
            if known.compare(&tag, Encoding::Plain, presented.as_bytes()) != Some(true) {
                return Err(self.refuse(Kind::Mismatch));
            }
        }
        let challenge = match self.row.challenge {
            Some(_) => self.challenge(request)?,
            None => String::new(),
        };
        let confirm = match self.row.confirm {
            None => None,
            Some((place, hosts)) => match request.read(place).map_err(no_target)? {
                Seen::One(url) if hosts.allow(&url) => Some(url.into_owned()),
                _ => return Err(self.refuse(Kind::ConfirmUrl)),
            },
        };
        Ok(Some(self.write(&challenge, confirm)))
    }

    fn challenge(&self, request: Request<'_>) -> Result<String, HandshakeError> {
        let refused = || self.refuse(Kind::Challenge);
        let (place, allowed): (Place, _) = self.row.challenge.ok_or_else(refused)?;
        match request.read(place).map_err(no_target)? {
            Seen::One(text) if allowed.allows(&text) => Ok(text.into_owned()),
            _ => Err(refused()),
        }
    }

    /// [`Handshake::check`] has seen to it that the setting exists.
    pub(super) fn setting(&self, index: usize) -> &[u8] {
        self.settings.get(index).map_or(&[], |setting| setting)
    }

    fn refuse(&self, kind: Kind) -> HandshakeError {
        HandshakeError {
            kind,
            status: self.row.refusal,
        }
    }
}

fn no_target(_: NoTarget) -> HandshakeError {
    HandshakeError {
        kind: Kind::NoTarget,
        status: 500,
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("handshake", &self.row.name)
            .finish_non_exhaustive()
    }
}
