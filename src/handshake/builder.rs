//! The `const` builders and getters of [`Handshake`].

use super::{Allowed, Body, Handshake, Hosts, Moment, Piece, Place, When};
use crate::scheme::Evidence;

impl Handshake {
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
