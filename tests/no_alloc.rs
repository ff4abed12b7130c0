//! Accepting an HMAC delivery allocates nothing; refusing one does not either.
#![cfg(feature = "testing")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod common;

use std::alloc::System;

use hookproof::{
    Secret, Secrets,
    scheme::{self, Stamp},
    testing::Signer,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use time::macros::datetime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One test only: another would count too.
#[test]
fn verify_does_not_allocate() {
    let now = datetime!(2027-01-15 08:00 UTC);
    for scheme in scheme::ALL {
        let body = common::body(scheme, now);
        let old = common::secret(scheme, "the-old-secret-of-the-two");
        let new = common::secret(scheme, "the-new-secret-of-the-two");
        let secrets = Secrets::new(
            scheme,
            [
                Secret::from(old.as_str()).key_id("1"),
                Secret::from(new.as_str()).key_id("2"),
            ],
        )
        .unwrap();
        let good = Signer::new(scheme, new.as_str())
            .at(now)
            .sign(&body)
            .unwrap();
        #[cfg(feature = "http")]
        let map: http::HeaderMap = good
            .headers
            .iter()
            .map(|(name, value)| {
                (
                    name.parse::<http::HeaderName>().unwrap(),
                    value.parse().unwrap(),
                )
            })
            .collect();

        // The counter is the process's, and the test harness has a thread of its own: what others
        // do can only add, so the least of several counts is the true one.
        let mut runs = Vec::new();
        for _ in 0..8 {
            let region = Region::new(ALLOCATOR);
            let accepted = hookproof::verify(&good.body, &good, &secrets, now).is_ok();
            #[cfg(feature = "http")]
            let accepted = accepted && hookproof::verify(&good.body, &map, &secrets, now).is_ok();
            let refused = hookproof::verify(b"{}x", &good.headers, &secrets, now).is_err();
            let seen = region.change();

            assert!(accepted, "{}", scheme.name());
            assert_eq!(refused, scheme.coverage().body, "{}", scheme.name());
            let count = seen.allocations + seen.reallocations;
            runs.push((count, seen.bytes_allocated));
        }
        // A time inside a JSON body costs the parser's stack of open brackets, and nothing else.
        let (most, bytes) = match scheme.timestamp_source() {
            Some((Stamp::Json(_), _)) => (2, 16),
            _ => (0, 0),
        };
        let least = runs.iter().min().unwrap();
        assert!(
            least.0 <= most && least.1 <= bytes,
            "{}: {runs:?}",
            scheme.name()
        );
    }
    // The counter counts.
    let region = Region::new(ALLOCATOR);
    let text = std::hint::black_box(String::from("x"));
    assert!(region.change().allocations >= 1, "{text}");
}
