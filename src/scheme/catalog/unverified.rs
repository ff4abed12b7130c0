//! Senders that prove nothing, so that nobody looks for a row in vain or makes up a check.

/// A sender whose deliveries carry nothing that could be verified.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Unverified {
    /// Its name, as a row's would be.
    pub provider: &'static str,
    /// Why there is nothing to verify.
    pub why: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    /// Address of the sender's documentation; empty where none was read.
    pub docs: &'static str,
}

/// Senders without a row in [`ALL`](super::ALL), because their deliveries prove nothing.
///
/// Whoever knows the address can write such a request. Take it as a hint that something may have
/// happened, and ask the sender's API what did.
///
/// ```
/// use hookproof::scheme;
///
/// let gumroad = scheme::UNVERIFIED.iter().find(|sender| sender.provider == "gumroad");
/// assert!(gumroad.is_some_and(|sender| sender.instead.contains("API")));
/// ```
pub const UNVERIFIED: &[Unverified] = &[
    Unverified {
        provider: "docker-hub",
        why: "It signs nothing and sends no token.",
        instead: "Put a long random token into the address's path, and confirm the push with the Hub's API. \
                  Never call the `callback_url` of the body: a forged request chooses it.",
        docs: "https://docs.docker.com/docker-hub/repos/manage/webhooks/",
    },
    Unverified {
        provider: "gumroad",
        why: "Its pings are forms without a signature (unverified).",
        instead: "Put a long random token into the address's path or query, and ask the API for the sale.",
        docs: "",
    },
    Unverified {
        provider: "rfc9530",
        why: "Content-Digest is a digest without a key: it finds damage, and whoever changes the body writes \
              a new one.",
        instead: "It proves something only where a signature covers the header, as in HTTP message signatures \
                  (RFC 9421).",
        docs: "https://www.rfc-editor.org/rfc/rfc9530.html",
    },
    Unverified {
        provider: "salesforce",
        why: "Outbound messages are SOAP that names the sending organisation by its OrganizationId, which is \
              public.",
        instead: "Require the client certificate (mutual TLS) where TLS ends, and compare the OrganizationId \
                  after that. Read the XML with DTDs and entities off. Until the answer says \
                  `<Ack>true</Ack>`, it is sent again for 24 hours (unverified).",
        docs: "",
    },
    Unverified {
        provider: "strava",
        why: "Events are not signed; the verify token is for the first GET alone.",
        instead: "Compare `subscription_id` with your own, and fetch the object that the event names. Answer \
                  the first GET with `{\"hub.challenge\": …}` after comparing `hub.verify_token`.",
        docs: "",
    },
    Unverified {
        provider: "zuora",
        why: "Callouts have no signature; the receiver chooses Basic credentials or OAuth (unverified).",
        instead: "Choose Basic credentials and define a row of your own: `Mac::Token` in \
                  `Slot::header(\"Authorization\").word(\"Basic \")` with `Encoding::Base64`, the secret being \
                  `user:password`. Then ask the API for the object.",
        docs: "",
    },
];
