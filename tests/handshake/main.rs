//! Every row of `handshake::ALL`, answered and refused.
//!
//! `cases.json` holds the requests; `source` says where each comes from. A row without a case fails
//! here, and so does one whose challenge, token or signature can be wrong and is answered all the
//! same.
#![cfg(all(feature = "handshake", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    unreachable_pub
)]

mod any_input;
mod case;
#[path = "../common/mod.rs"]
mod common;
mod refused;
mod signed;
mod start_up;

use case::Sent;
use hookproof::handshake::{self, Moment};
use serde_json::Value;

#[test]
fn every_row_is_answered_as_its_provider_wants() {
    for case in case::all() {
        let name = &case.name;
        let sent = case
            .send()
            .unwrap_or_else(|error| panic!("{name}: {error:?}"))
            .unwrap_or_else(|| panic!("{name}: not recognised"));
        let wanted = &case.entry["respond"];
        assert_eq!(u64::from(sent.status), wanted["status"], "{name}");
        body_is_as_wanted(name, &sent, wanted);
        assert_eq!(
            sent.header("X-Content-Type-Options"),
            Some("nosniff"),
            "{name}"
        );
        let own = wanted["headers"].as_object();
        for (header, value) in own.into_iter().flatten() {
            assert_eq!(sent.header(header), value.as_str(), "{name}: {header}");
        }
        let known = 1 + own.map_or(0, |own| own.len()) + usize::from(!sent.body.is_empty());
        assert_eq!(sent.headers.len(), known, "{name}: {:?}", sent.headers);
        assert_eq!(
            sent.confirm.as_deref(),
            case.entry["confirm"].as_str(),
            "{name}"
        );
        assert_eq!(
            sent.offered.as_deref(),
            case.entry["offers"].as_str(),
            "{name}"
        );
    }
}

fn body_is_as_wanted(name: &str, sent: &Sent, wanted: &Value) {
    let (text, json) = (&wanted["text"], &wanted["json"]);
    let kind = sent.header("Content-Type");
    if let Some(text) = text.as_str() {
        assert_eq!(std::str::from_utf8(&sent.body), Ok(text), "{name}");
        assert_eq!(kind, Some("text/plain; charset=utf-8"), "{name}");
    } else if !json.is_null() {
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(&body, json, "{name}");
        assert_eq!(kind, Some("application/json"), "{name}");
    } else {
        assert!(sent.body.is_empty() && kind.is_none(), "{name}: {sent:?}");
    }
}

#[test]
fn every_row_has_a_case() {
    let cases = case::all();
    for row in handshake::ALL {
        assert!(
            cases.iter().any(|case| case.row.name() == row.name()),
            "{} has no case",
            row.name()
        );
    }
}

#[test]
fn names_are_unique_and_found() {
    for row in handshake::ALL {
        let found: Vec<_> = handshake::ALL
            .iter()
            .filter(|other| other.name() == row.name())
            .collect();
        assert_eq!(found.len(), 1, "{}", row.name());
        let by_name = handshake::Handshake::by_name(row.name()).unwrap();
        assert_eq!(by_name.provider(), row.provider());
        assert!(row.check().is_ok(), "{}: {:?}", row.name(), row.check());
    }
}

/// Nothing of a handshake's answer, and no event that is taken for a handshake.
#[test]
fn an_event_is_no_handshake() {
    let event =
        br#"{"id":"evt_1","type":"paid","event":{"type":"paid"},"events":[{"type":"paid"}]}"#;
    for mut case in case::all() {
        case.recorded = None;
        case.method = "POST".into();
        case.url = "https://hooks.example.com/in/x".into();
        case.headers = vec![("x-vercel-signature".into(), b"00".to_vec())];
        case.body = event.to_vec();
        assert_eq!(case.send(), Ok(None), "{}", case.name);
        case.body.clear();
        case.headers
            .push(("Content-Type".into(), b"text/plain".to_vec()));
        assert_eq!(case.send(), Ok(None), "{}, empty", case.name);
    }
}

/// The methods do not stand in for one another: what is signed is not answered unsigned, and a
/// secret is not taken unasked.
#[test]
fn each_row_has_one_way() {
    use hookproof::headers::RequestTarget;
    for case in case::all() {
        let responder = case.responder();
        let request = RequestTarget::new(&case.headers, &case.method, &case.url);
        let moment = case.row.moment();
        if moment != Moment::Unsigned {
            assert!(
                responder.answer(&case.body, &request).unwrap().is_none(),
                "{}",
                case.name
            );
        }
        if moment != Moment::Subscribing {
            let offer = responder.accept_offer(&case.body, &request).unwrap();
            assert!(offer.is_none(), "{}", case.name);
        }
        if moment != Moment::Verified {
            let (secrets, headers) = case.signed();
            let delivery = hookproof::verify(&case.body, &headers, &secrets, case.now).unwrap();
            assert!(
                responder.answer_verified(&delivery).unwrap().is_none(),
                "{}",
                case.name
            );
        }
    }
}
