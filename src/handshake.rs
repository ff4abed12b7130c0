//! Endpoint-validation requests, recognised and answered from data.
//!
//! Before many providers send events to an endpoint they ask it something: to echo a challenge, to
//! show that it knows a token, to compute a MAC, to answer `HEAD`. Each such exchange is one row
//! ([`Handshake`], all of them in [`ALL`]); a [`Responder`] is a row with the settings it needs,
//! checked when the service starts. What it returns is the answer to send, and such a request
//! never goes on to your handler:
//!
//! ```
//! use hookproof::{handshake::{self, Responder}, headers::RequestTarget};
//!
//! // at start-up; a token that is empty or was pasted with a line end is refused here
//! let responder = Responder::new(&handshake::META, ["the-verify-token-you-chose"])?;
//!
//! // per request, before `verify` or `gate.handle`
//! let headers = [("Host", "hooks.example.com")];
//! let url = "/in/meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=the-verify-token-you-chose";
//! let request = RequestTarget::new(&headers, "GET", url);
//! let answer = responder.answer(b"", &request)?.expect("a handshake");
//! assert_eq!((answer.status(), answer.body()), (200, &b"1158201444"[..]));
//!
//! // `None`: not a handshake, go on and verify
//! let event = RequestTarget::new(&headers, "POST", "/in/meta");
//! assert!(responder.answer(b"{}", &event)?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Three kinds
//!
//! | [`Moment`] | method | what it proves |
//! |---|---|---|
//! | `Unsigned` | [`Responder::answer`] | **nothing**: anyone may ask. A wrong token is refused, and that is all |
//! | `Verified` | [`Responder::verify_then_answer`], [`Responder::answer_verified`] | the provider asked: the request is signed like any other |
//! | `Subscribing` | [`Responder::accept_offer`] | **nothing**, and it offers the secret that all later deliveries are to be signed with: call it only while you are creating a subscription |
//!
//! In front of a [`Gate`](crate::Gate), whatever the provider:
//!
//! ```
//! use hookproof::{Gate, Headers, MemoryStore, Verdict, handshake::{HandshakeError, Responder}};
//!
//! async fn on_request(
//!     responder: &Responder,
//!     gate: &Gate<MemoryStore>,
//!     raw_body: &[u8],
//!     request: &impl Headers, // headers with method and URL, see `RequestTarget`
//!     now: time::OffsetDateTime,
//! ) -> Result<(u16, Vec<u8>), HandshakeError> {
//!     if let Some(answer) = responder.verify_then_answer(raw_body, request, gate.secrets(), now)? {
//!         return Ok((answer.status(), answer.body().to_vec())); // and `answer.headers()`
//!     }
//!     let outcome = gate.handle(raw_body, request, now, async |_| Ok(Verdict::done(""))).await;
//!     Ok((outcome.status(), outcome.body().to_vec()))
//! }
//! ```
//!
//! # What a stranger can do with it
//!
//! * **Echoes.** A challenge has at most [`MAX_CHALLENGE`] bytes and no control character, and where
//!   the provider's form is known only that form passes. It goes out as `text/plain` or as JSON,
//!   with `X-Content-Type-Options: nosniff`, so that it cannot become script.
//! * **MACs.** An endpoint that computes a MAC over any text it is given, under the key that signs
//!   deliveries, signs forged deliveries for whoever asks. A row that answers with a MAC therefore
//!   takes tokens only ([`Allowed::Token`], [`Allowed::Hex`]), which cannot be an event, or is
//!   signed itself; [`Handshake::check`] refuses any other.
//! * **Work.** Bodies over [`MAX_BODY`] and URLs over [`MAX_TARGET`] are no handshakes.
//! * **URLs to fetch.** [`Answer::confirm_url`] exists only behind a signature, for an expected
//!   topic, on the provider's own hosts. Nothing here opens it.

mod answer;
mod builder;
mod fault;
mod request;
mod responder;
mod row;
mod table;
mod write;

pub use answer::{Answer, HandshakeError, HandshakeErrorKind, Offer};
pub use fault::HandshakeFault;
pub use request::{MAX_BODY, MAX_CHALLENGE, MAX_TARGET};
pub use responder::{NO_SETTINGS, Responder, ResponderError};
pub use row::{Allowed, Body, Handshake, Hosts, Key, Moment, Piece, Place, When};
pub use table::*;
