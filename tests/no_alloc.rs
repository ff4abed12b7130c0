//! Accepting a delivery allocates nothing, unless RSA signed it or it has a token; refusing one does
//! not either.
#![cfg(feature = "testing")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod common;

use hookproof::{
    Secrets,
    headers::RequestTarget,
    scheme::{self, Encoding, Mac, Stamp},
    testing::Signer,
};
use time::macros::datetime;

#[test]
fn verify_does_not_allocate() {
    let now = datetime!(2027-01-15 08:00 UTC);
    for scheme in scheme::ALL {
        if common::is_composed(scheme) {
            continue;
        }
        // Numbers of thousands of bits live on the heap.
        if format!("{:?}", scheme.mac()).starts_with("Rsa") {
            continue;
        }
        // A token of any length in base64 is decoded into memory of its own.
        if scheme.mac() == Mac::Token && scheme.encoding() == Encoding::Base64 {
            continue;
        }
        // Its claims are decoded.
        #[cfg(feature = "jwt")]
        if scheme.token_rules().is_some() {
            continue;
        }
        let body = common::body(scheme, now);
        let old = common::secret(scheme, "the-old-secret-of-the-two");
        let new = common::secret(scheme, "the-new-secret-of-the-two");
        let secrets = Secrets::new(
            scheme,
            [
                common::with_settings(scheme, old).key_id("1"),
                common::with_settings(scheme, new).key_id("2"),
            ],
        )
        .unwrap();
        let signing = common::signing_secret(scheme, "the-new-secret-of-the-two");
        let signing = common::with_settings(scheme, signing);
        let good = Signer::new(scheme, signing).at(now).sign(&body).unwrap();
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

        let (mut accepted, mut refused) = (true, false);
        let seen = allocation_counter::measure(|| {
            accepted &= hookproof::verify(&good.body, &good, &secrets, now).is_ok();
            #[cfg(feature = "http")]
            {
                let map = RequestTarget::new(&map, &good.method, &good.url);
                accepted &= hookproof::verify(&good.body, &map, &secrets, now).is_ok();
            }
            refused = hookproof::verify(b"{}x", &good.headers, &secrets, now).is_err();
        });

        assert!(accepted, "{}", scheme.name());
        assert_eq!(refused, scheme.coverage().body, "{}", scheme.name());
        // A time inside a JSON body costs the parser's stack of open brackets, and nothing else.
        let (most, bytes) = match scheme.timestamp_source() {
            // A library's tree of the fields, and the text that was signed.
            #[cfg(feature = "http-signatures")]
            Some((Stamp::Created, _)) => (90, 12 * 1024),
            Some((Stamp::Json(_), _)) => (2, 16),
            _ => (0, 0),
        };
        assert!(
            seen.count_total <= most && seen.bytes_total <= bytes,
            "{}: {} allocations of {} bytes",
            scheme.name(),
            seen.count_total,
            seen.bytes_total
        );
    }
    // The counter counts.
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(String::from("x"))));
    assert_eq!(seen.count_total, 1);
}
