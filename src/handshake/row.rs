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

    /// The provider, where it has several handshakes. For signed ones it must be
    /// [`Scheme::provider`](crate::Scheme::provider).
    #[must_use]
    pub const fn provider_name(self, provider: &'static str) -> Self {
        Self { provider, ..self }
    }

    /// How the request is recognised.
    #[must_use]
    pub const fn when(self, when: &'static [When]) -> Self {
        Self { when, ..self }
    }

    /// What has to be configured, in order. Each is kept like a secret, whether or not it is one.
    #[must_use]
    pub const fn settings(self, settings: &'static [&'static str]) -> Self {
        Self { settings, ..self }
    }

    /// What is at the place must be this setting (compared in constant time), or the request is
    /// refused.
    #[must_use]
    pub const fn expects(self, place: Place, setting: usize) -> Self {
        Self {
            expects: Some((place, setting)),
            ..self
        }
    }

    /// The status of a refusal; 403 if not set.
    #[must_use]
    pub const fn refusal(self, status: u16) -> Self {
        Self {
            refusal: status,
            ..self
        }
    }

    /// Where the challenge is, or the secret that is offered, and which texts it may be.
    #[must_use]
    pub const fn challenge(self, place: Place, allowed: Allowed) -> Self {
        Self {
            challenge: Some((place, allowed)),
            ..self
        }
    }

    /// The status of the answer; 200 if not set.
    #[must_use]
    pub const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Headers of the answer.
    #[must_use]
    pub const fn headers(self, headers: &'static [(&'static str, &'static [Piece])]) -> Self {
        Self { headers, ..self }
    }

    /// The body of the answer.
    #[must_use]
    pub const fn body(self, body: Body) -> Self {
        Self { body, ..self }
    }

    /// Where a URL is that the application must fetch to confirm, and the hosts it may be on.
    #[must_use]
    pub const fn confirm(self, place: Place, hosts: Hosts) -> Self {
        Self {
            confirm: Some((place, hosts)),
            ..self
        }
    }

    /// The source of these facts.
    #[must_use]
    pub const fn docs(self, url: &'static str, evidence: Evidence) -> Self {
        Self {
            docs: url,
            evidence,
            ..self
        }
    }

    /// Says that (part of) the row is from memory of the documentation.
    #[must_use]
    pub const fn unverified(self) -> Self {
        Self {
            verified_facts: false,
            ..self
        }
    }

    /// Traps, one sentence each, for the guide.
    #[must_use]
    pub const fn notes(self, notes: &'static [&'static str]) -> Self {
        Self { notes, ..self }
    }

    /// Finds a row by its name, for configuration by string.
    ///
    /// ```
    /// use hookproof::handshake::{Handshake, Moment};
    /// assert_eq!(Handshake::by_name("slack").map(Handshake::moment), Some(Moment::Verified));
    /// assert!(Handshake::by_name("no-such-provider").is_none());
    /// ```
    pub fn by_name(name: &str) -> Option<&'static Handshake> {
        super::ALL.iter().copied().find(|row| row.name == name)
    }

    /// The name in configuration.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The provider.
    pub const fn provider(&self) -> &'static str {
        self.provider
    }

    /// When it may be answered.
    pub const fn moment(&self) -> Moment {
        self.moment
    }

    /// How it is recognised.
    pub const fn conditions(&self) -> &'static [When] {
        self.when
    }

    /// The names of its settings.
    pub const fn setting_names(&self) -> &'static [&'static str] {
        self.settings
    }

    /// Which place must hold which setting.
    pub const fn expectation(&self) -> Option<(Place, usize)> {
        self.expects
    }

    /// The status of a refusal.
    pub const fn refusal_status(&self) -> u16 {
        self.refusal
    }

    /// Where the challenge or the offered secret is.
    pub const fn challenge_place(&self) -> Option<(Place, Allowed)> {
        self.challenge
    }

    /// The status of the answer.
    pub const fn answer_status(&self) -> u16 {
        self.status
    }

    /// The headers of the answer, beside its content type.
    pub const fn answer_headers(&self) -> &'static [(&'static str, &'static [Piece])] {
        self.headers
    }

    /// The body of the answer.
    pub const fn answer_body(&self) -> Body {
        self.body
    }

    /// Where the URL to confirm is.
    pub const fn confirmation(&self) -> Option<(Place, Hosts)> {
        self.confirm
    }

    /// Address of the provider's documentation.
    pub const fn docs_url(&self) -> &'static str {
        self.docs
    }

    /// How far the row can be trusted.
    pub const fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Whether (part of) the row is from memory of the documentation.
    pub const fn is_unverified(&self) -> bool {
        !self.verified_facts
    }

    /// The provider's traps.
    pub const fn traps(&self) -> &'static [&'static str] {
        self.notes
    }
}
