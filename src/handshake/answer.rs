//! What is sent back.

use std::fmt;

use zeroize::Zeroizing;

use crate::verify::RejectionKind;

/// The answer to a handshake: send it, and nothing else happens to the request.
///
/// `Debug` shows no values, because an answer may hold a secret that the provider offered.
#[must_use = "the provider waits for this answer"]
pub struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, Zeroizing<String>)>,
    pub(super) body: Zeroizing<Vec<u8>>,
    pub(super) confirm: Option<String>,
}

impl Answer {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The headers, all of which are to be sent: names, and values of visible ASCII and blanks.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
    }

    /// The body; empty for many.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// A URL that the provider wants fetched (`GET`) before it sends events: `https`, on the
    /// provider's own hosts, out of a signed message about what you expected. This crate opens no
    /// connection; whether and how is up to you. Follow no redirects.
    pub fn confirm_url(&self) -> Option<&str> {
        self.confirm.as_deref()
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .field("confirm", &self.confirm.is_some())
            .finish()
    }
}

/// A secret that somebody offers, unsigned, and the answer that accepts it.
///
/// Whoever knows the endpoint's URL can make such an offer. Take one only for a subscription that
/// you are creating at this moment, and never in the place of a secret that you already have.
#[must_use = "the provider waits for the answer, and later deliveries are signed with the secret"]
pub struct Offer {
    pub(super) answer: Answer,
    pub(super) secret: Zeroizing<String>,
}

impl Offer {
    /// What to send, once the secret is stored.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The secret as text, to be stored where your secrets are and given to
    /// [`Secrets::new`](crate::Secrets::new).
    pub fn secret_text(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer")
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// A handshake that is refused. Send [`HandshakeError::status`] and
/// [`HandshakeError::WIRE_TEXT`]; the kind is for your logs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HandshakeError {
    pub(super) kind: HandshakeErrorKind,
    pub(super) status: u16,
}

/// Why a handshake was refused. Holds nothing that the sender wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeErrorKind {
    /// A token, code or topic is not the configured one, or is missing.
    Mismatch,
    /// What would be echoed is missing, repeated, too long, or not of the form that is allowed.
    Challenge,
    /// The URL to confirm is not `https` on the provider's hosts.
    ConfirmUrl,
    /// It looks like a signed handshake, but is not authentic.
    Rejected(RejectionKind),
    /// The verified delivery is another provider's.
    OtherProvider,
    /// The caller gave no method or URL ([`RequestTarget`](crate::headers::RequestTarget)): a
    /// fault of this service, so the status is 500.
    NoTarget,
}

impl fmt::Display for HandshakeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandshakeErrorKind::Mismatch => f.write_str("not the configured token"),
            HandshakeErrorKind::Challenge => f.write_str("the challenge cannot be answered"),
            HandshakeErrorKind::ConfirmUrl => f.write_str("the URL to confirm is not allowed"),
            HandshakeErrorKind::Rejected(kind) => write!(f, "not authentic: {kind}"),
            HandshakeErrorKind::OtherProvider => f.write_str("a delivery of another provider"),
            HandshakeErrorKind::NoTarget => f.write_str("the caller did not supply method and URL"),
        }
    }
}

impl HandshakeError {
    /// What to send, whatever the reason.
    pub const WIRE_TEXT: &'static str = "handshake not accepted";

    /// The status to send: 403 unless the provider wants another; 401 for one that is signed and
    /// not authentic.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The reason.
    pub fn kind(&self) -> HandshakeErrorKind {
        self.kind
    }
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WIRE_TEXT)
    }
}

impl fmt::Debug for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandshakeError")
            .field("kind", &self.kind)
            .field("status", &self.status)
            .finish()
    }
}

impl std::error::Error for HandshakeError {}
