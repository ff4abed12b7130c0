//! Handshakes behind a signature.

use hookproof::{
    RejectionKind, Secrets,
    handshake::{self, HandshakeErrorKind as Kind, Moment, NO_SETTINGS, Place, Responder},
    headers::RequestTarget,
    scheme, testing,
};
use serde_json::Value;

use crate::{
    case::{self, SECRET, stand_in},
    common,
};

fn signed_cases() -> impl Iterator<Item = case::Case> {
    case::all()
        .into_iter()
        .filter(|case| case.row.moment() == Moment::Verified)
}

#[test]
fn a_forged_one_is_answered_401_and_nothing_else() {
    for case in signed_cases() {
        let (secrets, headers) = case.signed();
        let forged: Vec<_> = headers
            .iter()
            .map(|(name, value)| {
                let mut value = value.clone();
                if name.eq_ignore_ascii_case(secrets.scheme().signature_slot().unwrap().name()) {
                    let last = value
                        .iter_mut()
                        .rfind(|b| b.is_ascii_alphanumeric())
                        .unwrap();
                    *last = if *last == b'0' { b'1' } else { b'0' };
                }
                (name.clone(), value)
            })
            .collect();
        let unsigned = Vec::new();
        for headers in [&forged, &unsigned] {
            let request = RequestTarget::new(headers, &case.method, &case.url);
            let error = case
                .responder()
                .verify_then_answer(&case.body, &request, &secrets, case.now)
                .unwrap_err();
            assert_eq!(error.status(), 401, "{}", case.name);
            assert!(
                matches!(
                    error.kind(),
                    Kind::Rejected(RejectionKind::Malformed(_) | RejectionKind::Invalid(_))
                ),
                "{}: {error:?}",
                case.name
            );
        }
    }
}

/// Whether an event is authentic is for `verify` to say, and nothing is hashed for it here.
#[test]
fn a_forged_event_is_no_handshake() {
    for case in signed_cases() {
        let (secrets, _) = case.signed();
        let headers = [("X-Stand-In", "00"), ("X-Slack-Signature", "v0=00")];
        let request = RequestTarget::new(&headers, "POST", "/in/x");
        let body = br#"{"id":"evt_1","type":"paid"}"#;
        let none = case
            .responder()
            .verify_then_answer(body, &request, &secrets, case.now);
        assert!(none.unwrap().is_none(), "{}", case.name);
    }
}

#[test]
fn a_stale_one_is_not_answered() {
    let case = case::of("slack");
    let (secrets, headers) = case.signed();
    let later = case.now + secrets.window().unwrap() + std::time::Duration::from_secs(1);
    let request = RequestTarget::new(&headers, &case.method, &case.url);
    let error = case
        .responder()
        .verify_then_answer(&case.body, &request, &secrets, later)
        .unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Rejected(RejectionKind::Stale { .. })),
        "{error:?}"
    );
}

#[test]
fn a_verified_delivery_is_answered_too() {
    for case in signed_cases() {
        let (secrets, headers) = case.signed();
        let delivery = hookproof::verify(&case.body, &headers, &secrets, case.now).unwrap();
        let answer = case
            .responder()
            .answer_verified(&delivery)
            .unwrap()
            .unwrap();
        let sent = case.send().unwrap().unwrap();
        assert_eq!(
            (answer.status(), answer.body()),
            (sent.status, &sent.body[..]),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_delivery_of_another_provider_is_not_answered() {
    for case in signed_cases() {
        let other = stand_in("another");
        let signed = testing::sign(other, SECRET, &case.body, case.now).unwrap();
        let secrets = Secrets::new(other, [SECRET]).unwrap();
        let delivery = hookproof::verify(&case.body, &signed, &secrets, case.now).unwrap();
        let error = case.responder().answer_verified(&delivery).unwrap_err();
        assert_eq!(error.kind(), Kind::OtherProvider, "{}", case.name);
    }
}

/// Under every scheme that the catalogue has for the row's provider.
#[test]
fn under_the_providers_own_schemes() {
    let mut tried = Vec::new();
    for case in signed_cases() {
        let rows = scheme::ALL.iter().copied();
        for scheme in rows.filter(|scheme| scheme.provider() == case.row.provider()) {
            let private = common::with_settings(scheme, common::signing_secret(scheme, SECRET));
            let known = common::with_settings(scheme, common::secret(scheme, SECRET));
            let signed = testing::sign(scheme, private, &case.body, case.now).unwrap();
            let secrets = Secrets::new(scheme, [known]).unwrap();
            let answer = case
                .responder()
                .verify_then_answer(&signed.body, &signed, &secrets, case.now)
                .unwrap_or_else(|error| panic!("{} under {}: {error:?}", case.name, scheme.name()))
                .unwrap();
            let sent = case.send().unwrap().unwrap();
            assert_eq!(
                (answer.status(), answer.body()),
                (sent.status, &sent.body[..])
            );
            tried.push(case.row.name());
        }
    }
    for row in ["zoom", "twitch", "cronofy", "line", "slack"] {
        assert!(tried.contains(&row), "{row}");
    }
}

#[test]
fn in_webhook_events_type_1_is_an_event() {
    let mut case = case::of("discord");
    case.body = br#"{"version":1,"type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}"#.to_vec();
    assert_eq!(case.send(), Ok(None));
    case.body = br#"{"type":2}"#.to_vec();
    assert_eq!(case.send(), Ok(None));
}

#[test]
fn a_subscription_is_confirmed_for_the_expected_topic_on_the_providers_hosts_only() {
    let case = case::of("aws-sns");
    let place = Place::Json("/SubscribeURL");
    for good in [
        "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2",
        "https://sns.cn-north-1.amazonaws.com.cn/?Token=2",
        "HTTPS://sns.us-gov-west-1.amazonaws.com/",
    ] {
        let sent = case.with(place, good).send().unwrap().unwrap();
        assert_eq!(sent.confirm.as_deref(), Some(good));
    }
    for bad in [
        "",
        "sns.eu-west-1.amazonaws.com",
        "//sns.eu-west-1.amazonaws.com/",
        "/?Action=ConfirmSubscription",
        "http://sns.eu-west-1.amazonaws.com/",
        "ftp://sns.eu-west-1.amazonaws.com/",
        "https://169.254.169.254/latest/meta-data/",
        "https://localhost/",
        "https://evil.example/",
        "https://evil.example/sns.eu-west-1.amazonaws.com/",
        "https://evil.example?.amazonaws.com",
        "https://evil.example#.amazonaws.com",
        "https://sns.eu-west-1.amazonaws.com.evil.example/",
        "https://sns.eu-west-1.amazonaws.com@evil.example/",
        "https://sns.eu-west-1.amazonaws.com:8443/",
        "https://user@sns.eu-west-1.amazonaws.com/",
        "https://sns.eu-west-1.amazonaws.com./",
        "https://sns..amazonaws.com/",
        "https://sns.amazonaws.com/",
        "https://sns.a.b.amazonaws.com/",
        "https://bucket.s3.amazonaws.com/",
        "https://sns.evil.example\\.amazonaws.com/",
        "https://evil.example\\@sns.eu-west-1.amazonaws.com/",
        "https://sns.eu-west-1.amazonaws.com/ x",
        "https://sns.eu-west-1.amazonaws.com/\r\nX: 1",
        "https://sns.éu-west-1.amazonaws.com/",
        "https://sns.eu-west-1.amazonaws.com/é",
        "https://sns.eu-west-1.amazonaws.com/\\evil.example",
        " https://sns.eu-west-1.amazonaws.com/",
    ] {
        let error = case
            .with(place, bad)
            .send()
            .map(|sent| panic!("{bad}: {sent:?}"))
            .unwrap_err();
        assert_eq!(error.kind(), Kind::ConfirmUrl, "{bad}");
    }
    let theirs = case.with(
        Place::Json("/TopicArn"),
        "arn:aws:sns:us-east-1:999999999999:theirs",
    );
    assert_eq!(theirs.send().unwrap_err().kind(), Kind::Mismatch);
    let notification = case.with(Place::Json("/Type"), "Notification");
    assert_eq!(notification.send(), Ok(None));
}

#[test]
fn a_challenge_beside_an_event_is_the_challenge_of_a_signed_body_only() {
    // Nobody but the provider can say that a delivery is a handshake: headers are not asked.
    let responder = Responder::new(&handshake::TWITCH, NO_SETTINGS).unwrap();
    let body = br#"{"subscription":{"id":"1"},"event":{"user_id":"7"}}"#;
    let case = case::of("twitch");
    let signed = testing::Signer::new(&scheme::TWITCH, SECRET)
        .at(case.now)
        .header(
            "Twitch-Eventsub-Message-Type",
            "webhook_callback_verification",
        )
        .sign(body)
        .unwrap();
    let secrets = Secrets::new(&scheme::TWITCH, [SECRET]).unwrap();
    let none = responder
        .verify_then_answer(body, &signed, &secrets, case.now)
        .unwrap();
    assert!(none.is_none());
}

#[test]
fn the_answer_is_the_same_for_any_spelling_of_the_body() {
    let mut case = case::of("zoom");
    case.recorded = None;
    let first = case.send().unwrap().unwrap();
    let body: Value = serde_json::from_slice(&case.body).unwrap();
    case.body = serde_json::to_vec_pretty(&body).unwrap();
    assert_eq!(case.send().unwrap().unwrap(), first);
}
