//! What must not be answered.

use hookproof::handshake::{
    self, Allowed, HandshakeError, HandshakeErrorKind as Kind, MAX_BODY, MAX_CHALLENGE, MAX_TARGET,
    Moment, NO_SETTINGS, Piece, Place, Responder, When,
};
use hookproof::{headers::RequestTarget, scheme, testing};
use time::OffsetDateTime;

use crate::case::{self, Case};

fn refused(case: &Case) -> (Kind, u16) {
    let error = case
        .send()
        .map(|sent| panic!("{}: answered {sent:?}", case.name))
        .unwrap_err();
    assert_eq!(error.to_string(), HandshakeError::WIRE_TEXT);
    (error.kind(), error.status())
}

#[test]
fn challenges_that_are_too_long_empty_repeated_or_hold_control_characters() {
    let mut tried = 0;
    for case in case::all() {
        let Some((place, allowed)) = case.row.challenge_place() else {
            continue;
        };
        let expected = (Kind::Challenge, case.row.refusal_status());
        let too_long = "a".repeat(MAX_CHALLENGE + 1);
        let mut bad = vec![
            "",
            "a\nb",
            "a\r\nSet-Cookie: x=1",
            "a\0b",
            "a\u{7f}b",
            "a\u{85}b",
        ];
        bad.push(&too_long);
        if allowed != Allowed::Text {
            bad.extend([
                "<script>",
                "{\"id\":1}",
                "a b",
                "v0:1:{}",
                "ä",
                "a;b",
                "a&b",
            ]);
        }
        for text in bad {
            assert_eq!(
                refused(&case.with(place, text)),
                expected,
                "{}: {text:?}",
                case.name
            );
            tried += 1;
        }
        if let Some(doubled) = case.doubled(place) {
            assert_eq!(refused(&doubled), expected, "{} twice", case.name);
        }
        if matches!(allowed, Allowed::Token | Allowed::Text) {
            let longest = "a".repeat(MAX_CHALLENGE);
            assert!(
                case.with(place, &longest).send().unwrap().is_some(),
                "{}",
                case.name
            );
        }
    }
    assert!(tried > 200, "only {tried}");
}

#[test]
fn wrong_missing_and_repeated_tokens() {
    let mut tried = 0;
    for case in case::all() {
        let Some((place, setting)) = case.row.expectation() else {
            continue;
        };
        let right = &case.settings[setting];
        let expected = (Kind::Mismatch, case.row.refusal_status());
        let longer = format!("{right}x");
        let shorter = longer.get(..right.len() - 1).unwrap();
        for wrong in ["", "guessed", &longer, shorter, &right.to_uppercase()] {
            if wrong != right {
                assert_eq!(
                    refused(&case.with(place, wrong)),
                    expected,
                    "{}: {wrong}",
                    case.name
                );
                tried += 1;
            }
        }
        if let Some(doubled) = case.doubled(place) {
            assert_eq!(refused(&doubled), expected, "{} twice", case.name);
        }
    }
    assert!(tried > 20, "only {tried}");
    assert_eq!(
        refused(&case::of("fitbit").with(Place::Query("verify"), "wrong")).1,
        404
    );
    let mut missing = case::of("meta");
    missing.url = "/hook?hub.mode=subscribe&hub.challenge=1".into();
    assert_eq!(refused(&missing), (Kind::Mismatch, 403));
}

#[test]
fn a_token_is_of_these_characters_and_no_others() {
    let case = case::of("meta");
    let place = Place::Query("hub.challenge");
    for byte in 0..=0x7f_u8 {
        let text = format!("1{}", char::from(byte));
        let allowed = byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(&byte);
        assert_eq!(case.with(place, &text).send().is_ok(), allowed, "{text:?}");
    }
}

#[test]
fn a_body_with_more_in_it_is_no_handshake() {
    for row in ["monday", "notion", "gusto", "bitbucket-server"] {
        let more = case::of(row).with(Place::Json("/event"), "create_item");
        assert_eq!(more.send(), Ok(None), "{row}");
    }
    let mut woocommerce = case::of("woocommerce");
    woocommerce.body.extend(b"&id=7");
    assert_eq!(woocommerce.send(), Ok(None));
    woocommerce.body = b"id=7&webhook_id=17".to_vec();
    assert_eq!(woocommerce.send(), Ok(None));
    woocommerce.body = b"webhook_id=17&webhook_id=18".to_vec();
    assert_eq!(woocommerce.send(), Ok(None));
}

/// An endpoint that computes a MAC over any text, under the key of its deliveries, would sign forged
/// ones.
#[test]
fn no_challenge_gets_the_signature_of_an_event() {
    #[derive(Debug)]
    struct Forged(&'static str);
    let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
    let case = case::of("x-twitter");
    let secret = &case.settings[0];
    let signed = testing::sign(&scheme::X_TWITTER, secret, b"made-up-crc-token", now).unwrap();
    let sent = case.send().unwrap().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
    // The danger is real: the answer is the signature of that text as a delivery.
    assert_eq!(answer["response_token"], signed.headers[0].1);
    let event = Forged(r#"{"tweet_create_events":[{"id":1}]}"#);
    let (kind, _) = refused(&case.with(Place::Query("crc_token"), event.0));
    assert_eq!(kind, Kind::Challenge, "{event:?}");

    let of_mac = |pieces: &[Piece]| pieces.iter().any(|piece| matches!(piece, Piece::Hmac(..)));
    let mut rows = 0;
    for row in handshake::ALL {
        let with_mac = match row.answer_body() {
            handshake::Body::Text(pieces) => of_mac(pieces),
            handshake::Body::Json(members) => members.iter().any(|(_, pieces)| of_mac(pieces)),
            _ => false,
        };
        if with_mac {
            rows += 1;
            let (_, allowed) = row.challenge_place().unwrap();
            assert_ne!(allowed, Allowed::Text, "{}", row.name());
        }
    }
    assert!(rows >= 5, "{rows}");
}

#[cfg(feature = "sha1")]
#[test]
fn braintree_answers_short_hex_only() {
    let case = case::of("braintree");
    let place = Place::Query("bt_challenge");
    for bad in [
        "20f9",
        "20F9F8ED05F77439FE955C977E4C8A53",
        &"a".repeat(33),
        &"g".repeat(24),
    ] {
        assert_eq!(refused(&case.with(place, bad)).0, Kind::Challenge, "{bad}");
    }
    for good in ["a".repeat(20), "0".repeat(32)] {
        assert!(case.with(place, &good).send().unwrap().is_some(), "{good}");
    }
}

#[test]
fn other_methods_are_no_handshakes() {
    for mut case in case::all() {
        let methods = case.row.conditions().iter().find_map(|when| match when {
            When::Method(methods) => Some(*methods),
            _ => None,
        });
        let Some(methods) = methods else {
            assert_eq!(case.row.moment(), Moment::Verified, "{}", case.name);
            continue;
        };
        assert!(methods.contains(&case.method.as_str()));
        case.method = "PUT".into();
        assert_eq!(case.send(), Ok(None), "{}", case.name);
    }
}

#[test]
fn long_bodies_and_urls_are_not_looked_at() {
    let mut monday = case::of("monday");
    let padding = MAX_BODY - monday.body.len();
    monday.body.extend(vec![b' '; padding]);
    assert!(monday.send().unwrap().is_some());
    monday.body.push(b' ');
    assert_eq!(monday.send(), Ok(None));

    let mut woocommerce = case::of("woocommerce");
    woocommerce.body = format!("webhook_id={}", "1".repeat(MAX_BODY)).into_bytes();
    assert_eq!(woocommerce.send(), Ok(None));

    let mut nylas = case::of("nylas");
    let padding = MAX_TARGET - nylas.url.len();
    nylas.url = format!("{}{}", nylas.url, "&".repeat(padding));
    assert!(nylas.send().unwrap().is_some());
    nylas.url.push('&');
    assert_eq!(nylas.send(), Ok(None));
}

#[test]
fn a_fragment_is_no_query() {
    let mut nylas = case::of("nylas");
    nylas.url = "/in?a=b#?challenge=c-demo-123".into();
    assert_eq!(nylas.send(), Ok(None));
    nylas.url = "/in?challenge=c-demo-123#x".into();
    assert_eq!(nylas.send().unwrap().unwrap().body, b"c-demo-123");
}

#[test]
fn without_method_or_url_the_fault_is_ours() {
    for case in case::all() {
        if case.row.moment() == Moment::Verified {
            continue;
        }
        let responder = case.responder();
        let error = responder
            .answer(&case.body, &case.headers)
            .err()
            .or_else(|| responder.accept_offer(&case.body, &case.headers).err())
            .unwrap_or_else(|| panic!("{}", case.name));
        assert_eq!(
            (error.kind(), error.status()),
            (Kind::NoTarget, 500),
            "{}",
            case.name
        );
    }
}

#[test]
fn an_offered_secret_must_be_able_to_be_one() {
    let responder = Responder::new(&handshake::ASANA, NO_SETTINGS).unwrap();
    let offer = |secret: &str| {
        let headers = [("X-Hook-Secret", secret)];
        let request = RequestTarget::new(&headers, "POST", "/in/asana");
        responder
            .accept_offer(b"", &request)
            .map(|offer| offer.is_some())
    };
    assert_eq!(offer("b537207f20cbfa02"), Ok(true));
    assert_eq!(offer("short").unwrap_err().kind(), Kind::Challenge);
    // A signed delivery that also carries the header is an event.
    let headers = [
        ("X-Hook-Secret", "b537207f20cbfa02"),
        ("X-Hook-Signature", "00"),
    ];
    let request = RequestTarget::new(&headers, "POST", "/in/asana");
    assert!(responder.accept_offer(b"{}", &request).unwrap().is_none());
}
