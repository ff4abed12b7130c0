//! Accepting an HMAC delivery allocates nothing; refusing one does not either.
#![cfg(feature = "testing")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

use hookproof::{
    Secret, Secrets,
    scheme::{self, Stamp},
    testing::Signer,
};
use time::macros::datetime;

#[test]
fn verify_does_not_allocate() {
    let now = datetime!(2027-01-15 08:00 UTC);
    let millis = now.unix_timestamp() * 1000;
    let body = format!(r#"{{"id":"evt_1","a":[1,{{}}],"webhookTimestamp":{millis}}}"#);
    for scheme in scheme::ALL {
        let (old, new) = match scheme.secret_format() {
            scheme::SecretFormat::Base64 { prefix } => (
                format!("{prefix}b3RoZXIta2V5LW90aGVyLWtleS1vdGhlci1rZXkh"),
                format!("{prefix}c3RhbmRhcmQtd2ViaG9va3Mtc2VjcmV0LW9uZS0zMmI="),
            ),
            _ => (
                "the-old-secret-of-the-two".into(),
                "the-new-secret-of-the-two".into(),
            ),
        };
        let secrets = Secrets::new(
            scheme,
            [
                Secret::from(old).key_id("1"),
                Secret::from(new.clone()).key_id("2"),
            ],
        )
        .unwrap();
        let good = Signer::new(scheme, new)
            .at(now)
            .sign(body.as_bytes())
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

        let (mut accepted, mut refused) = (true, false);
        let seen = allocation_counter::measure(|| {
            accepted &= hookproof::verify(&good.body, &good, &secrets, now).is_ok();
            #[cfg(feature = "http")]
            {
                accepted &= hookproof::verify(&good.body, &map, &secrets, now).is_ok();
            }
            refused = hookproof::verify(b"{}x", &good.headers, &secrets, now).is_err();
        });

        assert!(accepted, "{}", scheme.name());
        assert_eq!(refused, scheme.coverage().body, "{}", scheme.name());
        // A time inside a JSON body costs the parser's stack of open brackets, and nothing else.
        let (most, bytes) = match scheme.timestamp_source() {
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
