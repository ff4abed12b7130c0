//! Only signed bytes may name an event.
#![cfg(all(feature = "json", feature = "testing"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use hookproof::{
    EventKey, KeyError, Secrets,
    scheme::{self, Encoding, IdSource, Mac, Part, Scheme, Slot, Stability},
    testing::{Signed, Signer, sign},
};
use time::{Duration, OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";
const BASE64: &str = "whsec_c3RhbmRhcmQtd2ViaG9va3Mtc2VjcmV0LW9uZS0zMmI=";

fn secret(scheme: &Scheme) -> &'static str {
    match scheme.secret_format() {
        scheme::SecretFormat::Base64 { .. } => BASE64,
        _ => SECRET,
    }
}

/// The key of a request, checked as at its own time.
fn key(
    scheme: &'static Scheme,
    request: &Signed,
    now: OffsetDateTime,
) -> Result<EventKey, KeyError> {
    let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
    let delivery = hookproof::verify(&request.body, request, &secrets, now).unwrap();
    delivery.event_key("tenant")
}

fn renamed(request: &Signed, header: &str, value: &str) -> Signed {
    let mut changed = request.clone();
    changed
        .headers
        .retain(|(name, _)| !name.eq_ignore_ascii_case(header));
    changed.headers.push((header.to_owned(), value.to_owned()));
    changed
}

#[test]
fn a_captured_request_under_a_fresh_unsigned_id_is_the_same_event() {
    for (scheme, header) in [
        (&scheme::PLAIN, "X-Webhook-Id"),
        (&scheme::GITHUB, "X-GitHub-Delivery"),
        (&scheme::SHOPIFY, "X-Shopify-Webhook-Id"),
        (&scheme::ZOOM, "x-zm-trackingid"),
    ] {
        let request = sign(scheme, SECRET, br#"{"n":1}"#, NOW).unwrap();
        let first = key(scheme, &renamed(&request, header, "d1"), NOW).unwrap();
        let second = key(scheme, &renamed(&request, header, "d2"), NOW).unwrap();
        let without = key(scheme, &request, NOW).unwrap();
        assert_eq!(first, second, "{}", scheme.name());
        assert_eq!(first, without, "{}", scheme.name());
        assert!(first.id().starts_with("content:"));
        // The header is still there for logs, and only by name for anything else.
        let secrets = Secrets::new(scheme, [SECRET]).unwrap();
        let named = renamed(&request, header, "d1");
        let delivery = hookproof::verify(&named.body, &named, &secrets, NOW).unwrap();
        assert_eq!(delivery.delivery_id().as_deref(), Some("d1"));
        assert!(!delivery.coverage().id || scheme.name() == "zoom");
        assert_eq!(
            delivery.danger_unsigned_event_key("tenant").unwrap().id(),
            "d1"
        );
    }
}

/// For every scheme: what nobody signed has no say in which event it is.
#[test]
fn an_unsigned_id_header_never_decides() {
    let mut seen = 0;
    for scheme in scheme::ALL {
        let Some(header) = scheme.delivery_id_header() else {
            continue;
        };
        if scheme.signs_header(header) {
            continue;
        }
        let secret = common::secret(scheme, SECRET);
        let private = common::signing_secret(scheme, SECRET);
        let private = common::with_settings(scheme, private);
        let request = sign(scheme, private, &common::body(scheme, NOW), NOW).unwrap();
        let secrets = Secrets::new(scheme, [common::with_settings(scheme, secret)]).unwrap();
        let key = |request: &Signed| {
            let delivery = hookproof::verify(&request.body, request, &secrets, NOW).unwrap();
            delivery.event_key("tenant")
        };
        let without = key(&request);
        for value in ["d1", "d2"] {
            let named = renamed(&request, header, value);
            assert_eq!(key(&named), without, "{}", scheme.name());
        }
        seen += 1;
    }
    assert!(seen > 4);
}

/// For every scheme: the members that change between attempts, and only they, go unseen.
#[test]
fn members_that_change_between_attempts_are_not_compared() {
    let mut seen = 0;
    for scheme in scheme::ALL {
        let Stability::JsonExcept(pointers) = scheme.content_stability() else {
            continue;
        };
        let secret = common::secret(scheme, SECRET);
        let private = common::signing_secret(scheme, SECRET);
        let secrets = Secrets::new(scheme, [secret.as_str()]).unwrap();
        let print = |pointer: &str, value: i64| {
            let mut body = serde_json::from_slice(&common::body(scheme, NOW)).unwrap();
            common::put(&mut body, pointer, value.into());
            let body = body.to_string();
            let request = sign(scheme, private.as_str(), body.as_bytes(), NOW).unwrap();
            let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
            delivery.fingerprint()
        };
        let now = NOW.unix_timestamp() * 1000;
        for pointer in pointers {
            assert_eq!(print(pointer, now), print(pointer, now + 1));
            let other = format!("{pointer}-else");
            assert_ne!(print(&other, now), print(&other, now + 1));
            seen += 1;
        }
    }
    assert!(seen > 1);
}

#[test]
fn a_signed_id_names_the_event_over_all_attempts() {
    let at = |now| {
        Signer::new(&scheme::STANDARD_WEBHOOKS, BASE64)
            .at(now)
            .header("webhook-id", "msg_1")
            .sign(b"{}")
            .unwrap()
    };
    let later = NOW + Duration::HOUR;
    let first = key(&scheme::STANDARD_WEBHOOKS, &at(NOW), NOW).unwrap();
    let retry = key(&scheme::STANDARD_WEBHOOKS, &at(later), later).unwrap();
    assert_eq!(first, retry);
    assert_eq!(
        (first.id(), first.provider(), first.tenant()),
        ("msg_1", "standard-webhooks", "tenant")
    );
}

#[test]
fn a_retry_with_a_new_time_is_the_same_event() {
    let later = NOW + Duration::HOUR;
    for scheme in [
        &scheme::PLAIN,
        &scheme::SLACK,
        &scheme::STRIPE,
        &scheme::ZOOM,
    ] {
        let body = br#"{"id":"evt_1","event_id":"Ev1"}"#;
        let first = key(scheme, &sign(scheme, SECRET, body, NOW).unwrap(), NOW).unwrap();
        let retry = key(scheme, &sign(scheme, SECRET, body, later).unwrap(), later).unwrap();
        assert_eq!(first, retry, "{}", scheme.name());
    }
    // Linear's time is inside the body, which therefore differs.
    let body = |at: OffsetDateTime| {
        format!(
            r#"{{"type":"Issue","webhookTimestamp":{}}}"#,
            at.unix_timestamp() * 1000
        )
    };
    let first = sign(&scheme::LINEAR, SECRET, body(NOW).as_bytes(), NOW).unwrap();
    let retry = sign(&scheme::LINEAR, SECRET, body(later).as_bytes(), later).unwrap();
    let first = key(&scheme::LINEAR, &first, NOW).unwrap();
    assert_eq!(first, key(&scheme::LINEAR, &retry, later).unwrap());
}

#[test]
fn ids_in_bodies() {
    let id = |body: &str| {
        let request = sign(&scheme::STRIPE, SECRET, body.as_bytes(), NOW).unwrap();
        key(&scheme::STRIPE, &request, NOW).map(|key| key.id().to_owned())
    };
    assert_eq!(id(r#"{"id":"evt_1"}"#).unwrap(), "evt_1");
    assert_eq!(
        id(r#" { "a":[1,{"id":"no"}], "id" : "e\u0076t_1" } "#).unwrap(),
        "evt_1"
    );
    assert_eq!(id(r#"{"id":42}"#).unwrap(), "42");
    assert_eq!(
        id(r#"{"id":18446744073709551615}"#).unwrap(),
        "18446744073709551615"
    );
    assert_eq!(id(r#"{"id":"🦀"}"#).unwrap(), "🦀");
    // Nothing is made up, and what two parsers could read differently is not read at all.
    for none in [
        "",
        "{}",
        "[]",
        "not json",
        r#"{"id":null}"#,
        r#"{"id":true}"#,
        r#"{"id":1.5}"#,
        r#"{"id":1e3}"#,
        r#"{"id":{"id":1}}"#,
        r#"{"id":"a","id":"b"}"#,
        r#"{"id":"a"} trailing"#,
        r#"{"id":"a""#,
    ] {
        assert_eq!(id(none), Err(KeyError::NoId), "{none}");
    }
    for bad in [r#"{"id":""}"#, r#"{"id":"a\u0000b"}"#, r#"{"id":"a\nb"}"#] {
        assert_eq!(id(bad), Err(KeyError::BadId), "{bad}");
    }
    let long = |length: usize| id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(length)));
    assert_eq!(long(2048).unwrap().len(), 2048);
    assert_eq!(long(2049), Err(KeyError::BadId));
    // JSON is UTF-8 throughout, beside the id as well.
    let spoilt = sign(
        &scheme::STRIPE,
        SECRET,
        b"{\"id\":\"e\",\"x\":\"\xff\"}",
        NOW,
    )
    .unwrap();
    assert_eq!(key(&scheme::STRIPE, &spoilt, NOW), Err(KeyError::NoId));
    // Deep nesting is refused by the parser, not by the stack.
    let deep = format!("{}{}", r#"{"id":"#, "[".repeat(100_000));
    assert_eq!(id(&deep), Err(KeyError::NoId));
}

#[test]
fn pointers_reach_nested_and_escaped_members() {
    const NESTED: Scheme = Scheme::new("nested", Mac::HmacSha256)
        .signature(Slot::header("X-Sig"), Encoding::Hex)
        .content(&[Part::Body])
        .id(IdSource::Json("/data/1/a~1b~0c"));
    let request = sign(
        &NESTED,
        SECRET,
        br#"{"data":[{},{"a/b~c":"deep"},{}]}"#,
        NOW,
    )
    .unwrap();
    assert_eq!(key(&NESTED, &request, NOW).unwrap().id(), "deep");
}

#[test]
fn composite_ids_cannot_be_shifted() {
    const PAIR: Scheme = Scheme::new("pair", Mac::HmacSha256)
        .signature(Slot::header("X-Sig"), Encoding::Hex)
        .content(&[Part::Body])
        .id(IdSource::Composite(&["/a", "/b"]));
    let id = |body: &str| {
        key(
            &PAIR,
            &sign(&PAIR, SECRET, body.as_bytes(), NOW).unwrap(),
            NOW,
        )
    };
    let one = id(r#"{"a":"x","b":"yz"}"#).unwrap();
    let other = id(r#"{"a":"xy","b":"z"}"#).unwrap();
    assert_ne!(one.digest(), other.digest());
    assert_ne!(
        one.digest(),
        id(r#"{"a":"x,2:","b":"yz"}"#).unwrap().digest()
    );
    assert_eq!(id(r#"{"a":"x"}"#).unwrap_err(), KeyError::NoId);
}

#[test]
fn slack_forms_are_named_by_content() {
    let form = sign(
        &scheme::SLACK,
        SECRET,
        b"command=%2Fdeploy&trigger_id=1.2",
        NOW,
    )
    .unwrap();
    assert!(
        key(&scheme::SLACK, &form, NOW)
            .unwrap()
            .id()
            .starts_with("content:")
    );
    let event = sign(&scheme::SLACK, SECRET, br#"{"event_id":"Ev1"}"#, NOW).unwrap();
    assert_eq!(key(&scheme::SLACK, &event, NOW).unwrap().id(), "Ev1");
}

#[test]
fn a_captured_request_cut_at_another_place_is_the_same_event() {
    const JOINED: Scheme = Scheme::new("joined", Mac::HmacSha256)
        .signature(Slot::header("X-Signature"), Encoding::Hex)
        .content(&[Part::Header(Slot::header("X-Id")), Part::Body])
        .id(IdSource::Header("X-Id"))
        .ambiguous_boundary("shown in a test");
    let request = Signer::new(&JOINED, SECRET)
        .header("X-Id", "d1")
        .sign(b"2{}")
        .unwrap();
    let mut moved = renamed(&request, "X-Id", "d12");
    moved.body = b"{}".to_vec();
    let first = key(&JOINED, &request, NOW).unwrap();
    assert_eq!(key(&JOINED, &moved, NOW).unwrap(), first);
}

#[test]
fn what_is_not_covered_names_nothing() {
    let dropbox = sign(&scheme::DROPBOX, SECRET, b"{}", NOW).unwrap();
    assert_eq!(key(&scheme::DROPBOX, &dropbox, NOW), Err(KeyError::NoId));
    let gitlab = Signer::new(&scheme::GITLAB, SECRET)
        .header("Idempotency-Key", "k1")
        .sign(b"{}");
    let gitlab = gitlab.unwrap();
    assert_eq!(
        key(&scheme::GITLAB, &gitlab, NOW),
        Err(KeyError::NotCovered)
    );
    let secrets = Secrets::new(&scheme::GITLAB, [SECRET]).unwrap();
    let delivery = hookproof::verify(b"{}", &gitlab, &secrets, NOW).unwrap();
    assert_eq!(delivery.content_key(""), Err(KeyError::NotCovered));
    assert_eq!(delivery.danger_unsigned_event_key("").unwrap().id(), "k1");
    let coverage = delivery.coverage();
    assert!(!(coverage.body || coverage.id || coverage.timestamp || coverage.event_type));
}

#[test]
fn tenants_providers_and_ids_are_kept_apart() {
    let digest = |tenant, provider, id| *EventKey::business(tenant, provider, id).unwrap().digest();
    let all = [
        digest("a", "bc", "d"),
        digest("ab", "c", "d"),
        digest("a", "b", "cd"),
        digest("", "abc", "d"),
        digest("a", "bc", "d "),
        digest("a", "bc", "D"),
        digest("A", "bc", "d"),
    ];
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    // The layout is for ever: a stored key must still be found by a later version.
    let key = EventKey::business("tenant", "stripe", "evt_1").unwrap();
    let hex: String = key
        .digest()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, KNOWN_DIGEST);
    assert_eq!(EventKey::business("a\0", "b", "c"), Err(KeyError::BadScope));
    assert_eq!(EventKey::business("a", "", "c"), Err(KeyError::BadScope));
    assert_eq!(EventKey::business("a", "b", "c\0"), Err(KeyError::BadId));
    assert_eq!(EventKey::business("a", "b", ""), Err(KeyError::BadId));
}

/// From `printf` and `sha256sum`: 8-byte big-endian length and text of "1", "tenant", "stripe",
/// "evt_1"; the first 16 bytes.
const KNOWN_DIGEST: &str = "75fdd5eefd2f11567886e2dc6a64af27";

#[test]
fn fingerprints_see_other_content_and_nothing_else() {
    let print = |scheme: &'static Scheme, body: &str| {
        let secrets = Secrets::new(scheme, [SECRET]).unwrap();
        let request = sign(scheme, SECRET, body.as_bytes(), NOW).unwrap();
        hookproof::verify(&request.body, &request, &secrets, NOW)
            .unwrap()
            .fingerprint()
    };
    // Stripe counts pending deliveries down between attempts, and may write the body anew.
    let first = print(
        &scheme::STRIPE,
        r#"{"id":"e","pending_webhooks":2,"amount":10}"#,
    );
    assert_eq!(
        first,
        print(
            &scheme::STRIPE,
            r#"{ "amount": 10, "pending_webhooks": 1, "id": "e" }"#
        )
    );
    assert_ne!(
        first,
        print(
            &scheme::STRIPE,
            r#"{"id":"e","pending_webhooks":2,"amount":11}"#
        )
    );
    assert_ne!(
        first,
        print(
            &scheme::STRIPE,
            r#"{"id":"e","pending_webhooks":2,"amount":"10"}"#
        )
    );
    assert_ne!(
        first,
        print(
            &scheme::STRIPE,
            r#"{"id":"e","data":{"pending_webhooks":2},"amount":10}"#
        )
    );
    assert_ne!(
        print(&scheme::STRIPE, "[[1],[2]]"),
        print(&scheme::STRIPE, "[[1,2]]")
    );
    assert_ne!(
        print(&scheme::STRIPE, "no json"),
        print(&scheme::STRIPE, "no json ")
    );
    assert_ne!(print(&scheme::PLAIN, "{}"), print(&scheme::PLAIN, "{ }"));
    // Stability::None: the provider may change what it likes.
    assert_eq!(scheme::DROPBOX.content_stability(), Stability::None);
    assert_eq!(print(&scheme::DROPBOX, "{}"), print(&scheme::DROPBOX, "[]"));
}

/// Where only a part of a header is signed, only that part can be the id.
#[test]
fn unsigned_text_beside_a_signed_id_changes_nothing() {
    const ID: Slot = Slot::header("X-Ids").list(b',').prefix("event=");
    const LISTED: Scheme = Scheme::new("listed", Mac::HmacSha256)
        .signature(Slot::header("X-Sig"), Encoding::Hex)
        .content(&[Part::Header(ID), Part::Text("."), Part::Body])
        .id(IdSource::Header("X-Ids"));
    let request = Signer::new(&LISTED, SECRET)
        .header("X-Ids", "event=e1,attempt=1")
        .sign(b"{}");
    let request = request.unwrap();
    let first = key(&LISTED, &request, NOW).unwrap();
    assert_eq!(first.id(), "e1");
    let resent = renamed(&request, "X-Ids", "x=y, event=e1,attempt=7");
    assert_eq!(key(&LISTED, &resent, NOW).unwrap(), first);
}
