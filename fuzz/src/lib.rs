//! Fuzz targets of hookproof, as plain functions over bytes.
//!
//! | target | over | finds |
//! |---|---|---|
//! | [`slot()`] | header values and slots | a panic, or an item that a naive parser does not find |
//! | [`verify()`] | requests to every scheme of the catalogue | a panic, or an answer that the [`oracle`] disagrees with |
//! | [`sign_then_verify()`] | what a sender signs, and what others make of it | a signed request that is refused, a changed one that is not |
//! | [`stored()`] | rows, claims, verdicts and times | a panic, or a rule of the store contract that does not hold |
//! | [`anywhere()`] | requests to every row, signed or not, with any bytes replaced | a panic, or a request that passes and does not [mean](meaning) what was signed |
//! | [`form()`] | form bodies, multipart or not, and queries | another reading than a naive one |
//! | [`json()`] | JSON of which values are signed, or that is written anew | another reading than a naive one |
//! | [`token()`] | tokens with any header and claims, under the right MAC | an answer that a second reading of the rules disagrees with |
//! | [`http_signature()`] | HTTP message signatures with any input, under the right MAC | one that passes without what its rule asks for |
//! | [`handshake()`] | requests to every row of the handshakes | a panic, an answer that could do harm, or one that nobody may have |
//!
//! # With a fuzzer
//!
//! In the root of the repository, after `cargo install cargo-fuzz` (needs a C++ compiler). The
//! last folder holds what is checked in; what is found goes into the one before it.
//!
//! ```text
//! mkdir -p fuzz/corpus/verify
//! cargo fuzz run --features libfuzzer -s none verify fuzz/corpus/verify fuzz/seeds/verify -- \
//!     -max_len=8192 -timeout=10 -rss_limit_mb=2048 -max_total_time=300
//! ```
//!
//! `-s none` works on stable Rust: there is no `unsafe` here for a sanitizer to watch. A failing
//! input lands in `fuzz/artifacts/verify/`; once the fault is mended, copy it to
//! `fuzz/seeds/verify/found.<what>`, so that it is replayed from then on.
//!
//! # Without one
//!
//! `cargo test --manifest-path fuzz/Cargo.toml` replays all seeds and a fixed number of spoilt
//! ones on stable Rust, with overflow checks, in a few seconds. The seeds are written anew from
//! the vectors of the providers by `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.
//!
//! # Your own scheme
//!
//! A scheme of yours is data, and the parser that reads it is fuzzed here. What is worth fuzzing on
//! your side is the data: that nothing passes which nobody signed. Seed it with requests that are
//! signed with *another* key, so that the fuzzer starts from the right form and must be refused.
//!
//! ```
//! use hookproof::{Secrets, scheme::{Encoding, Mac, Part, Scheme, Slot, Unit}};
//! # use hookproof::testing::Signer;
//! use std::sync::LazyLock;
//! use time::OffsetDateTime;
//!
//! const ACME: Scheme = Scheme::new("acme", Mac::HmacSha256)
//!     .signature(Slot::header("X-Acme-Signature").prefix("sha256="), Encoding::Hex)
//!     .timestamp(Slot::header("X-Acme-Time"), Unit::Seconds)
//!     .content(&[Part::Timestamp, Part::Text("."), Part::Body]);
//! static SECRETS: LazyLock<Secrets> =
//!     LazyLock::new(|| Secrets::new(&ACME, ["made-up-secret"]).unwrap());
//!
//! // In fuzz_targets/acme.rs: libfuzzer_sys::fuzz_target!(|data: &[u8]| acme(data));
//! fn acme(data: &[u8]) {
//!     let mut lines = data.splitn(3, |&byte| byte == b'\n');
//!     let mut line = || lines.next().unwrap_or_default();
//!     let headers = [("X-Acme-Signature", line()), ("X-Acme-Time", line())];
//!     let verified = hookproof::verify(line(), &headers, &*SECRETS, OffsetDateTime::UNIX_EPOCH);
//!     assert!(verified.is_err(), "accepted, and nobody signed it: {verified:?}");
//! }
//!
//! // In a test, on stable:
//! acme(b"sha256=00\n0\n{}");
//! # // The target can fail: it does where the secret is known.
//! # let seed = |secret: &str| {
//! #     let signed = Signer::new(&ACME, secret).sign(b"{}").unwrap();
//! #     let value = |name| signed.headers.iter().find(|(n, _)| n == name).unwrap().1.clone();
//! #     format!("{}\n{}\n{{}}", value("X-Acme-Signature"), value("X-Acme-Time"))
//! # };
//! # acme(seed("another-secret").as_bytes());
//! # assert!(std::panic::catch_unwind(|| acme(seed("made-up-secret").as_bytes())).is_err());
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod anywhere;
mod endorse;
pub mod form;
pub mod handshake;
pub mod http_signature;
pub mod input;
pub mod json;
pub mod meaning;
pub mod oracle;
pub mod own;
pub mod senders;
pub mod sign_then_verify;
pub mod signed;
pub mod slot;
pub mod stored;
mod tamper;
pub mod token;
pub mod vectors;
pub mod verify;

pub use anywhere::anywhere;
pub use form::form;
pub use handshake::handshake;
pub use http_signature::http_signature;
pub use json::json;
pub use sign_then_verify::sign_then_verify;
pub use slot::slot;
pub use stored::stored;
pub use token::token;
pub use verify::verify;
