//! `Content-Digest` (RFC 9530) by itself: the vectors' own, and what a field may not be.
#![cfg(all(feature = "http-signatures", feature = "json"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod common;

use common::Request;
use hookproof::content_digest::{self, DigestError};
use serde_json::Value;

/// `tests/vectors/rfc9530.json` runs here and not in `tests/vectors.rs`, since a digest is no
/// scheme: there is no key, and so no row.
#[test]
fn the_vectors_are_met() {
    let file: Value = serde_json::from_str(include_str!("vectors/rfc9530.json")).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let mut met = 0;
    for vector in vectors {
        let request = Request::from_json(vector);
        let outcome = content_digest::check(&request.body, &request.headers);
        let label = match &outcome {
            Ok(checked) if checked.bytes() == request.body => "valid",
            Err(DigestError::Mismatch) => "invalid",
            _ => "malformed",
        };
        assert_eq!(vector["expect"], label, "{}: {outcome:?}", vector["name"]);
        met += 1;
    }
    assert_eq!(met, 5);
}

/// The example of RFC 9530 appendix B.1.
const BODY: &[u8] = b"{\"hello\": \"world\"}\n";
const SHA256: &str = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";
const SHA512: &str = "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:";

#[test]
fn every_known_digest_must_match_and_one_must_be_there() {
    let check = |field: &str| content_digest::check(BODY, &[("content-digest", field)]).map(|_| ());
    let wrong256 = SHA256.replace("RK/0", "RK/1");
    let wrong512 = SHA512.replace("YMAa", "YMAb");
    for (field, expected) in [
        (SHA256.to_owned(), Ok(())),
        (SHA512.to_owned(), Ok(())),
        (format!("{SHA512},{SHA256}"), Ok(())),
        (format!("md5=:AAAA:, {SHA256}, other=(1 2);q"), Ok(())),
        (format!("{SHA256};parameter"), Ok(())),
        (wrong256.clone(), Err(DigestError::Mismatch)),
        (format!("{SHA256}, {wrong512}"), Err(DigestError::Mismatch)),
        (format!("{wrong256}, {SHA512}"), Err(DigestError::Mismatch)),
        ("md5=:AAAA:".to_owned(), Err(DigestError::NoKnownAlgorithm)),
        (
            SHA256.replace("sha-256", "SHA-256"),
            Err(DigestError::Unreadable),
        ),
        (String::new(), Err(DigestError::NoKnownAlgorithm)),
        (format!("{SHA256}, {SHA256}"), Err(DigestError::Unreadable)),
        (format!("{SHA256}, {SHA512}x"), Err(DigestError::Unreadable)),
        (SHA256.replace(':', ""), Err(DigestError::Unreadable)),
        (
            SHA256.replace("sha-256", "sha-512"),
            Err(DigestError::Unreadable),
        ),
        ("sha-256".to_owned(), Err(DigestError::Unreadable)),
        ("sha-256=()".to_owned(), Err(DigestError::Unreadable)),
        (
            format!("{SHA256}, x=\"{}\"", "x".repeat(9000)),
            Err(DigestError::Unreadable),
        ),
    ] {
        assert_eq!(check(&field), expected, "{field}");
    }
}

#[test]
fn the_field_must_occur_once() {
    let none: [(&str, &str); 0] = [];
    let twice = [("Content-Digest", SHA256), ("content-digest", SHA512)];
    assert_eq!(
        content_digest::check(BODY, &none),
        Err(DigestError::Missing)
    );
    assert_eq!(
        content_digest::check(BODY, &twice),
        Err(DigestError::Repeated)
    );
}

/// A body is not printed, whether it passed or not.
#[test]
fn nothing_of_the_body_is_shown() {
    let checked = content_digest::check(BODY, &[("Content-Digest", SHA256)]).unwrap();
    assert_eq!(format!("{checked:?}"), "CheckedBody { body_bytes: 19, .. }");
}
