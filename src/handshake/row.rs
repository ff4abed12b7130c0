//! One handshake, as data.

use crate::scheme::{Encoding, Evidence, Mac};

/// When a handshake may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// At any time, to anyone: the request is not signed and proves nothing.
    Unsigned,
    /// After [`verify`](crate::verify): the request is signed like any delivery.
    Verified,
    /// Only while the application creates a subscription: the request is not signed, and brings
    /// the secret for all later deliveries.
    Subscribing,
}

/// A place in a request that one text is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A header field.
    Header(&'static str),
    /// A parameter of the URL's query, decoded. Names are compared exactly.
    Query(&'static str),
    /// A field of a form body, decoded.
    Form(&'static str),
    /// A parameter of the query, or else a field of a form body.
    Param(&'static str),
    /// A string or whole number in the JSON body, at this pointer (RFC 6901).
    Json(&'static str),
}

/// What a request must be like to be the handshake. All conditions of a row must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// One of these methods.
    Method(&'static [&'static str]),
    /// Something is at the place.
    Has(Place),
    /// Nothing is at the place.
    Lacks(Place),
    /// Exactly this is at the place.
    Is(Place, &'static str),
    /// The body is a JSON object with exactly these members.
    Members(&'static [&'static str]),
    /// The body is a form with exactly these fields.
    Fields(&'static [&'static str]),
    /// The body is empty.
    EmptyBody,
}

/// Which texts may be a challenge. None may be empty or longer than
/// [`MAX_CHALLENGE`](super::MAX_CHALLENGE) bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Allowed {
    /// ASCII letters, digits and `+ / = _ - . ~`: no text of an event, header or script.
    Token,
    /// Hexadecimal digits in lower case, at least and at most so many.
    Hex(usize, usize),
    /// Any text without control characters.
    Text,
}

/// The key of a [`Piece::Hmac`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// The setting's bytes.
    Setting(usize),
    /// The SHA-1 digest of the setting's bytes.
    #[cfg(feature = "sha1")]
    Sha1Of(usize),
}

/// A piece of what is sent. Several are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Fixed text.
    Text(&'static str),
    /// The challenge.
    Challenge,
    /// The setting at this place in [`Handshake::settings`].
    Setting(usize),
    /// A MAC of the challenge.
    Hmac(Mac, Key, Encoding),
    /// The SHA-256 digest of these pieces, in hex.
    Sha256(&'static [Piece]),
}

/// The body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Body {
    /// None.
    Empty,
    /// Text, as `text/plain`.
    Text(&'static [Piece]),
    /// A JSON object with these members, all of them strings.
    Json(&'static [(&'static str, &'static [Piece])]),
    /// This JSON.
    Fixed(&'static str),
}

/// Hosts that a URL may be on: `prefix`, one label of ASCII letters, digits and `-`, and one of
/// the suffixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosts {
    /// Such as `sns.`.
    pub prefix: &'static str,
    /// Such as `.amazonaws.com`.
    pub suffixes: &'static [&'static str],
}

/// How one provider checks an endpoint, and what it wants to hear.
///
/// A row of your own is as good as ours:
///
/// ```
/// use hookproof::handshake::{Allowed, Body, Handshake, Moment, Piece, Place, Responder, When};
/// use hookproof::headers::RequestTarget;
///
/// const ACME: Handshake = Handshake::new("acme", Moment::Unsigned)
///     .when(&[When::Method(&["GET"]), When::Has(Place::Query("echo"))])
///     .settings(&["token"])
///     .expects(Place::Header("X-Acme-Token"), 0)
///     .challenge(Place::Query("echo"), Allowed::Token)
///     .body(Body::Json(&[("echo", &[Piece::Challenge])]));
///
/// let responder = Responder::new(&ACME, ["made-up-token"])?;
/// let headers = [("X-Acme-Token", "made-up-token")];
/// let request = RequestTarget::new(&headers, "GET", "/in?echo=7f3a");
/// let answer = responder.answer(b"", &request)?.expect("a handshake");
/// assert_eq!(answer.body(), br#"{"echo":"7f3a"}"#);
///
/// let stranger = [("X-Acme-Token", "guessed-token")];
/// let request = RequestTarget::new(&stranger, "GET", "/in?echo=7f3a");
/// assert_eq!(responder.answer(b"", &request).unwrap_err().status(), 403);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Handshake {
    pub(super) name: &'static str,
    pub(super) provider: &'static str,
    pub(super) moment: Moment,
    pub(super) when: &'static [When],
    pub(super) settings: &'static [&'static str],
    pub(super) expects: Option<(Place, usize)>,
    pub(super) refusal: u16,
    pub(super) challenge: Option<(Place, Allowed)>,
    pub(super) status: u16,
    pub(super) headers: &'static [(&'static str, &'static [Piece])],
    pub(super) body: Body,
    pub(super) confirm: Option<(Place, Hosts)>,
    pub(super) docs: &'static str,
    pub(super) evidence: Evidence,
    pub(super) verified_facts: bool,
    pub(super) notes: &'static [&'static str],
}

impl Handshake {
    /// Starts a row, which answers 200 without a body.
    pub const fn new(name: &'static str, moment: Moment) -> Self {
        Self {
            name,
            provider: name,
            moment,
            when: &[],
            settings: &[],
            expects: None,
            refusal: 403,
            challenge: None,
            status: 200,
            headers: &[],
            body: Body::Empty,
            confirm: None,
            docs: "",
            evidence: Evidence::Own,
            verified_facts: true,
            notes: &[],
        }
    }
}
