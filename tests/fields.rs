//! Rows that sign fields of a body, or carry their proof in one: what is signed cannot be changed,
//! what is not signed can, and no field borrows from its neighbour.
#![cfg(all(
    feature = "json",
    feature = "form",
    feature = "sha1",
    feature = "testing"
))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    KeyError, RejectionKind, Secrets,
    scheme::{self, Extent, Part, Place, Scheme},
    testing::{Signed, Signer},
};
use serde_json::{Value, json};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";

fn secrets(scheme: &'static Scheme) -> Secrets {
    let secret = common::with_settings(scheme, common::secret(scheme, SECRET));
    Secrets::new(scheme, [secret]).unwrap()
}

fn signed(scheme: &'static Scheme, body: &[u8]) -> Signed {
    let secret = common::with_settings(scheme, common::signing_secret(scheme, SECRET));
    Signer::new(scheme, secret).at(NOW).sign(body).unwrap()
}

fn signed_form(scheme: &'static Scheme, body: &str) -> Signed {
    Signer::new(scheme, common::signing_secret(scheme, SECRET))
        .at(NOW)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .sign(body.as_bytes())
        .unwrap()
}

fn outcome(scheme: &'static Scheme, request: &Signed) -> Result<(), RejectionKind> {
    hookproof::verify(&request.body, request, &secrets(scheme), NOW)
        .map(|_| ())
        .map_err(|rejection| rejection.kind())
}

fn json_of(request: &Signed) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// The request with another value at a pointer.
fn with(request: &Signed, pointer: &str, value: Value) -> Signed {
    let mut body = json_of(request);
    *body.pointer_mut(pointer).expect(pointer) = value;
    Signed {
        body: body.to_string().into_bytes(),
        ..request.clone()
    }
}

/// Pointers, into the whole body, of the JSON values that are signed or are the proof itself.
fn protected(scheme: &Scheme) -> Vec<String> {
    fn collect(parts: &[Part], found: &mut Vec<&'static str>) {
        for part in parts {
            match part {
                Part::Value(slot) if slot.place() == Place::Json => found.push(slot.name()),
                Part::JsonText(pointer) => found.push(pointer),
                Part::Of(_, inner) | Part::IfPresent(inner) => collect(inner, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(scheme.parts(), &mut found);
    let slots = scheme.signature_slot();
    let slots = slots.iter().filter(|slot| slot.place() == Place::Json);
    found.extend(slots.map(|slot| slot.name()));
    let element = scheme.each_element().map(|pointer| format!("{pointer}/0"));
    let element = element.unwrap_or_default();
    found
        .iter()
        .map(|name| format!("{element}{name}"))
        .collect()
}

#[test]
fn a_changed_field_is_rejected_and_anything_else_is_not() {
    let mut seen = 0;
    for scheme in scheme::ALL {
        let pointers = protected(scheme);
        if pointers.is_empty() || scheme.coverage().extent == Extent::Body {
            continue;
        }
        let request = signed(scheme, b"{\"other\":1}");
        assert_eq!(outcome(scheme, &request), Ok(()), "{}", scheme.name());
        let other = with(&request, "/other", json!(2));
        assert_eq!(outcome(scheme, &other), Ok(()), "{}", scheme.name());
        for pointer in pointers {
            let old = json_of(&request).pointer(&pointer).unwrap().clone();
            let text = old.as_str().map_or(old.to_string(), str::to_owned);
            for index in 0..text.len() {
                let mut changed = text.clone().into_bytes();
                // Another byte, and never the same letter in another case.
                changed[index] ^= 1;
                let changed = String::from_utf8(changed).unwrap();
                let request = with(&request, &pointer, changed.into());
                let refused = outcome(scheme, &request);
                assert!(refused.is_err(), "{} {pointer} {index}", scheme.name());
            }
            for value in [Value::Null, json!(""), json!([old])] {
                let request = with(&request, &pointer, value);
                assert!(
                    outcome(scheme, &request).is_err(),
                    "{} {pointer}",
                    scheme.name()
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

fn adyen(items: &[(&str, &str)]) -> Signed {
    let items: Vec<Value> = items
        .iter()
        .map(|(psp, reference)| {
            json!({"NotificationRequestItem": {
                "pspReference": psp, "merchantReference": reference, "eventCode": "AUTHORISATION",
                "merchantAccountCode": "A.B_C", "amount": {"value": 1130, "currency": "EUR"},
                "success": "true", "reason": "r",
            }})
        })
        .collect();
    let body = json!({"live": "false", "notificationItems": items});
    signed(&scheme::ADYEN, body.to_string().as_bytes())
}

/// `merchantReference` may hold colons, so the fields beside it may not.
#[test]
fn adyen_fields_cannot_be_cut_at_another_colon() {
    const ITEM: &str = "/notificationItems/0/NotificationRequestItem";
    let request = adyen(&[("psp1", "a:b:c")]);
    // The signer fills in what is missing; here it is missing on purpose.
    assert_eq!(outcome(&scheme::ADYEN, &request), Ok(()));
    let at = |name: &str| format!("{ITEM}/{name}");
    // The same bytes `…:A.B_C:a:b:c:1130:…`, cut elsewhere.
    let left = with(&request, &at("merchantAccountCode"), json!("A.B_C:a"));
    let left = with(&left, &at("merchantReference"), json!("b:c"));
    assert!(outcome(&scheme::ADYEN, &left).is_err());
    let right = with(&request, &at("merchantReference"), json!("a:b"));
    let right = with(&right, &at("amount/value"), json!("c:1130"));
    assert!(outcome(&scheme::ADYEN, &right).is_err());
    let whole = with(&request, &at("merchantReference"), json!("a:b:c:1130"));
    let whole = with(&whole, &at("amount/value"), json!("EUR"));
    let whole = with(&whole, &at("amount/currency"), json!("AUTHORISATION"));
    let whole = with(&whole, &at("eventCode"), json!("true"));
    let whole = with(&whole, &at("success"), json!(""));
    assert!(outcome(&scheme::ADYEN, &whole).is_err());
}

/// Which items come together is signed by nobody: a captured one beside another is no new event.
#[test]
fn several_items_name_no_event() {
    let secrets = secrets(&scheme::ADYEN);
    let key = |request: &Signed| {
        let delivery = hookproof::verify(&request.body, request, &secrets, NOW).unwrap();
        delivery.event_key("")
    };
    let one = adyen(&[("psp1", "x")]);
    let named = key(&one).unwrap();
    let reason = "/notificationItems/0/NotificationRequestItem/reason";
    assert_eq!(key(&with(&one, reason, json!("else"))).unwrap(), named);
    assert_ne!(key(&adyen(&[("psp2", "x")])).unwrap(), named);
    let both = adyen(&[("psp1", "x"), ("psp2", "x")]);
    assert_eq!(key(&both).unwrap_err(), KeyError::NoId);
}

/// What the row says of Paymob's format: an amount cannot grow by the digits of a year, a truth
/// value cannot vanish in its neighbour, and of two numbers side by side one must be compared.
#[test]
fn paymob_digits_move_only_where_the_row_says_so() {
    let given = json!({"obj": {
        "amount_cents": 100, "created_at": "2026-01-01T00:00:00.284816", "id": 2556706,
        "integration_id": 6741, "is_capture": true, "is_refunded": true, "source_data": {"pan": "2346"},
    }});
    let request = signed(&scheme::PAYMOB, given.to_string().as_bytes());
    let moved = |changes: &[(&str, Value)]| {
        let change = |request: Signed, (pointer, value): &(&str, Value)| {
            with(&request, pointer, value.clone())
        };
        let request = changes.iter().fold(request.clone(), change);
        outcome(&scheme::PAYMOB, &request).is_ok()
    };
    assert!(moved(&[]));
    assert!(!moved(&[
        ("/obj/amount_cents", json!(1002026)),
        ("/obj/created_at", json!("-01-01T00:00:00.284816")),
    ]));
    assert!(!moved(&[
        ("/obj/amount_cents", json!(10)),
        ("/obj/created_at", json!("02026-01-01T00:00:00.284816")),
    ]));
    assert!(!moved(&[
        ("/obj/is_capture", json!("truetrue")),
        ("/obj/is_refunded", json!("")),
    ]));
    assert!(moved(&[
        ("/obj/id", json!(25567066)),
        ("/obj/integration_id", json!(741)),
    ]));
}

/// Where a token or type touches the digits of the time, no other cut is fresh.
#[test]
fn digits_moved_between_time_and_token_are_rejected() {
    let mut seen = 0;
    for (scheme, time, token, first) in [
        (
            &scheme::MAILGUN,
            "/signature/timestamp",
            "/signature/token",
            true,
        ),
        (&scheme::LEVER, "/triggeredAt", "/token", false),
        (
            &scheme::DROPBOX_SIGN,
            "/event/event_time",
            "/event/event_type",
            true,
        ),
    ] {
        let mut body = json!({});
        // Digits on the side of the token too, for moving the other way.
        common::put(&mut body, token, json!("1a1"));
        let request = signed(scheme, body.to_string().as_bytes());
        assert_eq!(outcome(scheme, &request), Ok(()));
        let digits = json_of(&request).pointer(time).unwrap().to_string();
        let digits = digits.trim_matches('"');
        let all = match first {
            true => format!("{digits}1a1"),
            false => format!("1a1{digits}"),
        };
        for at in 1..all.len() {
            let (before, behind) = all.split_at(at);
            let (new_time, new_token) = if first {
                (before, behind)
            } else {
                (behind, before)
            };
            if new_time == digits {
                continue;
            }
            let cut = with(&request, time, json!(new_time));
            let cut = with(&cut, token, json!(new_token));
            assert!(outcome(scheme, &cut).is_err(), "{} {at}", scheme.name());
            seen += 1;
        }
    }
    assert!(seen > 30);
}

/// Basic credentials: the word in any case, the credentials in one spelling.
#[test]
fn basic_credentials_are_compared_whole() {
    let secrets = Secrets::new(&scheme::CHARGEBEE, ["user:pass:word"]).unwrap();
    let accepts = |header: String| {
        let headers = [("Authorization", header)];
        hookproof::verify(b"{}", &headers, &secrets, NOW).is_ok()
    };
    let right = STANDARD.encode("user:pass:word");
    for word in ["Basic", "basic", "BASIC"] {
        assert!(accepts(format!("{word} {right}")));
    }
    for wrong in ["user", "user:pass", "userpass:word", "user:pass:word ", ":"] {
        assert!(
            !accepts(format!("Basic {}", STANDARD.encode(wrong))),
            "{wrong}"
        );
    }
    assert!(!accepts(right.clone()));
    assert!(!accepts(format!("Bearer {right}")));
    // The same bytes with padding missing, and with bits that count for nothing.
    assert!(!accepts(format!("Basic {}", right.trim_end_matches('='))));
    let spelled = STANDARD.encode("user:pass:wor");
    assert!(spelled.ends_with("=="));
    let secrets = Secrets::new(&scheme::CHARGEBEE, ["user:pass:wor"]).unwrap();
    let loose = format!("Basic {}", spelled.replace("==", "A=="));
    let headers = [("Authorization", loose)];
    assert!(hookproof::verify(b"{}", &headers, &secrets, NOW).is_err());
}

/// Forms: the signed field, and what a lost line end does and does not do.
#[test]
fn signed_form_fields_cannot_be_changed() {
    for (scheme, field) in [
        (&scheme::OPENNODE, "id"),
        (&scheme::MAILGUN_FORM, "token"),
        (&scheme::BRAINTREE, "bt%5Fpayload"),
    ] {
        let request = signed_form(scheme, &format!("{field}=abc&other=1"));
        assert_eq!(outcome(scheme, &request), Ok(()), "{}", scheme.name());
        let text = String::from_utf8(request.body.clone()).unwrap();
        let changed = |from: &str, to: &str| Signed {
            body: text.replacen(from, to, 1).into_bytes(),
            ..request.clone()
        };
        let accepted = |request: Signed| outcome(scheme, &request).is_ok();
        assert!(accepted(changed("other=1", "other=2")));
        assert!(!accepted(changed("abc", "abd")));
        assert!(!accepted(changed("abc", "")));
        let twice = format!("{field}=abc&{field}=abc");
        assert!(!accepted(changed(&format!("{field}=abc"), &twice)));
    }
    let request = signed_form(&scheme::BRAINTREE, "bt_payload=abc%0A");
    let text = String::from_utf8(request.body.clone()).unwrap();
    let lost = Signed {
        body: text.replace("%0A", "").into_bytes(),
        ..request.clone()
    };
    assert_eq!(outcome(&scheme::BRAINTREE, &lost), Ok(()));
    let more = Signed {
        body: text.replace("%0A", "%0A%0A").into_bytes(),
        ..request
    };
    assert!(outcome(&scheme::BRAINTREE, &more).is_err());
}
