//! A captured request that is spelt anew, so that the same signature passes over another of a
//! scheme's contents, is the same event.
#![cfg(all(
    feature = "json",
    feature = "form",
    feature = "sha1",
    feature = "testing"
))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use hookproof::{
    EventKey, Secrets,
    scheme::{self, Part, Scheme, SchemeError},
    testing::{Signed, Signer},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";

fn key(scheme: &'static Scheme, request: &Signed) -> EventKey {
    let secrets = Secrets::new(scheme, [SECRET]).unwrap();
    let delivery = hookproof::verify(&request.body, request, &secrets, NOW).unwrap();
    let key = delivery.content_key("").unwrap();
    let kept = delivery.to_buf();
    assert_eq!(kept.as_verified().content_key("").unwrap(), key);
    key
}

fn signed(scheme: &'static Scheme, url: &str, body: &[u8]) -> Signed {
    let signer = Signer::new(scheme, SECRET).at(NOW).target("POST", url);
    let form = body.first() != Some(&b'{');
    let kind = if form {
        "application/x-www-form-urlencoded"
    } else {
        "application/json"
    };
    let signer = signer.header("Content-Type", kind);
    signer.sign(body).unwrap()
}

#[test]
fn under_another_spelling_of_the_url() {
    for (scheme, url, spelt, body) in [
        (
            &scheme::TWILIO,
            "https://hooks.example.com/in",
            "https://hooks.example.com:443/in",
            &b"a=1"[..],
        ),
        (
            &scheme::HUBSPOT,
            "https://hooks.example.com/in?q=a:b",
            "https://hooks.example.com/in?q=a%3Ab",
            b"{}",
        ),
    ] {
        let request = signed(scheme, url, body);
        let other = Signed {
            url: spelt.to_owned(),
            ..request.clone()
        };
        assert_eq!(key(scheme, &request), key(scheme, &other));
        let another = signed(scheme, url, b"b=2");
        assert_ne!(key(scheme, &request), key(scheme, &another));
    }
}

#[test]
fn under_another_spelling_of_the_body() {
    // What was signed escaped, and the same bytes sent as they were signed.
    const ESCAPED: Scheme = scheme::BOX.content(scheme::BOX.alternative_contents()[0]);
    let body = "{\"a\":\"x/y \u{e9}\"}";
    let request = signed(&ESCAPED, "https://hooks.example.com/", body.as_bytes());
    let spelt = "{\"a\":\"x\\/y \\u00e9\"}";
    let other = Signed {
        body: spelt.as_bytes().to_vec(),
        ..request.clone()
    };
    assert_eq!(key(&scheme::BOX, &request), key(&scheme::BOX, &other));
}

#[test]
fn with_one_of_two_signatures_left_out() {
    let scheme = &scheme::COINBASE_CDP;
    let mut both = signed(scheme, "https://hooks.example.com/", b"{}");
    let v0 = both.clone();
    // Both versions in one header, then either.
    let place = both
        .headers
        .iter()
        .position(|(name, _)| name == "X-Hook0-Signature")
        .unwrap();
    let only_v1 = Scheme::content(*scheme, scheme.alternative_contents()[0]);
    let only_v1: &'static Scheme = Box::leak(Box::new(only_v1.or_content(&[])));
    let v1 = signed(only_v1, "https://hooks.example.com/", b"{}");
    let text = |request: &Signed| {
        let found = request
            .headers
            .iter()
            .find(|(name, _)| name == "X-Hook0-Signature");
        found.unwrap().1.clone()
    };
    let v1_text = text(&v1).replace("v0=", "v1=");
    let mut v1 = v1;
    let place_v1 = v1
        .headers
        .iter()
        .position(|(name, _)| name == "X-Hook0-Signature")
        .unwrap();
    v1.headers[place_v1].1 = v1_text.clone();
    let mac = text(&v0).split("v0=").nth(1).unwrap().to_owned();
    both.headers[place].1 = format!("{v1_text},v0={mac}");
    assert_eq!(key(scheme, &both), key(scheme, &v0));
    assert_eq!(key(scheme, &both), key(scheme, &v1));
}

#[test]
fn what_is_not_in_every_content_names_nothing() {
    const LOOSE: Scheme = scheme::HUBSPOT.identity(&[Part::Url, Part::Body]);
    assert_eq!(LOOSE.check().unwrap_err(), SchemeError::UnsignedIdentity);
    const SOUND: Scheme = scheme::HUBSPOT.identity(&[Part::Method, Part::Body]);
    assert!(SOUND.check().is_ok());
}
