//! What is particular to single rows of the catalogue.

use hookproof::{
    Invalid, KeyError, RejectionKind, Secrets,
    scheme::{self, Scheme},
    testing::{Signed, Signer},
};

use super::*;

fn signer(scheme: &'static Scheme) -> Signer {
    let secret = common::signing_secret(scheme, SECRET);
    Signer::new(scheme, common::with_settings(scheme, secret))
        .at(NOW)
        .target("POST", URL)
}

fn ring(scheme: &'static Scheme) -> Secrets {
    let secret = common::secret(scheme, SECRET);
    Secrets::new(scheme, [common::with_settings(scheme, secret)]).unwrap()
}

fn token_rows() -> impl Iterator<Item = &'static Scheme> {
    let all = scheme::ALL.iter().copied();
    all.filter(|scheme| scheme.token_rules().is_some())
}

/// Nothing names an event but what a token covers.
#[test]
fn a_body_that_is_not_covered_names_nothing() {
    let mut seen = 0;
    for scheme in token_rows().filter(|scheme| !scheme.coverage().body) {
        let body = br#"{"event":{"triggerUuid":"t"},"message":{"messageId":"1"}}"#;
        let request = signer(scheme).sign(body).unwrap();
        let secrets = ring(scheme);
        let delivery = hookproof::verify(body, &request, &secrets, NOW).unwrap();
        assert!(!delivery.coverage().id && !delivery.coverage().event_type);
        assert!(delivery.coverage().timestamp);
        for key in [delivery.event_key(""), delivery.content_key("")] {
            assert_eq!(key.unwrap_err(), KeyError::NotCovered, "{}", scheme.name());
        }
        seen += 1;
    }
    assert!(seen > 0);
}

/// Two bodies are two events, one body is one, over any two attempts.
#[test]
fn content_keys_are_of_the_body() {
    for scheme in token_rows().filter(|scheme| scheme.coverage().body) {
        let secrets = ring(scheme);
        let key = |body: &[u8], later: i64| {
            let at = NOW + time::Duration::seconds(later);
            let request = signer(scheme).at(at).sign(body).unwrap();
            let delivery = hookproof::verify(&request.body, &request, &secrets, at).unwrap();
            delivery.content_key("").unwrap()
        };
        assert_ne!(key(b"[1]", 0), key(b"[2]", 0), "{}", scheme.name());
        // Where the body is the token, an attempt is another body.
        let whole = scheme.token_rules().unwrap().data_claim().is_some();
        assert_eq!(
            key(b"[1]", 0) == key(b"[1]", 1),
            !whole,
            "{}",
            scheme.name()
        );
    }
}

/// Flip any bit of the URL, or send another method, where either is covered.
#[test]
fn a_covered_url_and_method_cannot_be_changed() {
    let mut seen = 0;
    for scheme in token_rows() {
        let rules = scheme.token_rules().unwrap().claim_rules();
        let url = rules.iter().any(|rule| {
            use scheme::ClaimRule::{RequestJson, Url, UrlHash};
            matches!(rule, RequestJson(_) | Url(_) | UrlHash(_))
        });
        let secrets = ring(scheme);
        let request = signer(scheme).sign(BODY).unwrap();
        for bit in 0..URL.len() * 7 {
            let mut other = URL.as_bytes().to_vec();
            other[bit / 7] ^= 1 << (bit % 7);
            let changed = Signed {
                url: String::from_utf8(other).unwrap(),
                ..request.clone()
            };
            let passes = outcome(&secrets, &request.body, &changed, NOW).is_ok();
            assert_eq!(passes, !url, "{} {bit}", scheme.name());
        }
        let method = scheme.parts().contains(&Part::Method);
        let changed = Signed {
            method: "PUT".into(),
            ..request.clone()
        };
        let passes = outcome(&secrets, &request.body, &changed, NOW).is_ok();
        assert_eq!(passes, !method, "{}", scheme.name());
        seen += usize::from(url);
    }
    assert!(seen > 2);
}

/// Pinned like the row, a token of another row does not pass under the same key.
#[test]
fn a_token_of_one_row_is_none_of_another() {
    let hmac = || token_rows().filter(|scheme| !scheme.mac().is_public_key());
    for signing in hmac() {
        let request = signer(signing).sign(BODY).unwrap();
        let token = request.headers.last().unwrap().1.as_str();
        let token = token.strip_prefix("Bearer ").unwrap_or(token);
        for verifying in hmac().filter(|scheme| scheme.name() != signing.name()) {
            let slot = verifying.signature_slot().unwrap();
            let value = format!("{}{token}", slot.fixed_prefix());
            let outcome = verified(&ring(verifying), BODY, &[(slot.name(), &value)], NOW);
            assert!(outcome.is_err(), "{} {}", signing.name(), verifying.name());
        }
    }
}

#[test]
fn crystallize_covers_the_meaning_and_refuses_what_has_none() {
    let secrets = ring(&scheme::CRYSTALLIZE);
    let request = signer(&scheme::CRYSTALLIZE)
        .sign(br#"{"n":1.0,"t":"\u00e9"}"#)
        .unwrap();
    let wrong = Err(RejectionKind::Invalid(Invalid::Claim("hmac")));
    for (body, expected) in [
        (r#"{"n":1.0,"t":"\u00e9"}"#, Ok(())),
        ("{ \"n\" : 1, \"t\":\"é\"}\n", Ok(())),
        (r#"{"n":10e-1,"t":"é"}"#, Ok(())),
        (r#"{"t":"é","n":1}"#, wrong),
        (r#"{"n":1,"t":"é","n":1}"#, wrong),
        (r#"{"n":1,"t":"e"}"#, wrong),
        (r#"{"n":1,"t":"é"}x"#, wrong),
        ("", wrong),
    ] {
        assert_eq!(
            outcome(&secrets, body.as_bytes(), &request, NOW),
            expected,
            "{body}"
        );
    }
    // A body without one certain text cannot be signed here, nor does any token cover it.
    assert!(signer(&scheme::CRYSTALLIZE).sign(br#"{"1":0}"#).is_err());
    let empty = signer(&scheme::CRYSTALLIZE).sign(b"").unwrap();
    assert_eq!(outcome(&secrets, b"", &empty, NOW), Ok(()));
    assert_eq!(outcome(&secrets, b"null", &empty, NOW), Ok(()));
}

#[cfg(feature = "rsa")]
#[test]
fn wix_says_its_type_in_the_claims() {
    let secrets = ring(&scheme::WIX);
    let data = r#"{"eventType":"order_created","data":"{\"id\":1}"}"#;
    let request = signer(&scheme::WIX).sign(data.as_bytes()).unwrap();
    let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    assert_eq!(delivery.event_type().as_deref(), Some("order_created"));
    assert!(delivery.coverage().event_type && delivery.coverage().body);
    assert_eq!(delivery.event_key("").unwrap_err(), KeyError::NoId);
    let kept = delivery.to_buf();
    let claims = kept.as_verified().claims().unwrap();
    let claims: serde_json::Value = serde_json::from_str(&claims).unwrap();
    assert_eq!(claims["data"], data);
    let odd = signer(&scheme::WIX).sign(b"not JSON").unwrap();
    let delivery = hookproof::verify(&odd.body, &odd, &secrets, NOW).unwrap();
    assert_eq!(delivery.event_type(), None);
}

#[cfg(feature = "ed25519")]
#[test]
fn neon_signs_the_time_and_names_its_key_in_a_header() {
    let secret = common::secret(&scheme::NEON, SECRET);
    let secret = hookproof::Secret::from(secret).key_id("k1");
    let secrets = Secrets::new(&scheme::NEON, [secret]).unwrap();
    let request = signer(&scheme::NEON).sign(BODY).unwrap();
    assert_eq!(outcome(&secrets, BODY, &request, NOW), Ok(()));
    let with = |name: &str, value: String| {
        let mut changed = request.clone();
        changed.headers.retain(|(known, _)| known != name);
        changed.headers.push((name.into(), value));
        outcome(&secrets, BODY, &changed, NOW)
    };
    let moved = (NOW.unix_timestamp() * 1000 + 1).to_string();
    assert_eq!(
        with("X-Neon-Timestamp", moved),
        Err(RejectionKind::Invalid(Invalid::Signature))
    );
    assert_eq!(with("X-Neon-Signature-Kid", "k1".into()), Ok(()));
    assert_eq!(
        with("X-Neon-Signature-Kid", "k2".into()),
        Err(RejectionKind::KeyNeeded)
    );
    assert_eq!(
        hookproof::verify(BODY, &request, &secrets, NOW)
            .unwrap()
            .claims(),
        None
    );
}
