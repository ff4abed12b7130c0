//! Keys that a request names and the application fetches.

use hookproof::{
    Invalid, KeyNeeded, Rejection, RejectionKind, Secret, Secrets, SecretsError,
    scheme::{self, Scheme},
    testing::{Signed, Signer, public_key_of, test_key},
};

use super::NOW;

const CIRCLE: &Scheme = &scheme::CIRCLE;

fn private() -> &'static str {
    test_key(CIRCLE.mac()).unwrap()
}

fn public() -> String {
    public_key_of(CIRCLE, private()).unwrap()
}

/// Signed, and naming this key.
fn request(key_id: &str) -> Signed {
    let signer = Signer::new(CIRCLE, private()).at(NOW);
    let signer = signer.header("X-Circle-Key-Id", key_id);
    signer.sign(br#"{"notificationId":"n1"}"#).unwrap()
}

fn refused(request: &Signed, secrets: &Secrets) -> Rejection {
    hookproof::verify(&request.body, request, secrets, NOW).unwrap_err()
}

#[track_caller]
fn needs(request: &Signed, secrets: &Secrets, id: &str) {
    match refused(request, secrets) {
        Rejection::KeyNeeded(needed) => assert_eq!(needed, KeyNeeded::Id(id.into())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_asked_for_added_and_accepted() {
    let mut secrets = Secrets::awaiting_keys(CIRCLE).unwrap();
    let request = request("key-1");
    needs(&request, &secrets, "key-1");
    secrets.add(Secret::from(public()).key_id("key-1")).unwrap();
    let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    assert_eq!(delivery.key_id(), Some("key-1"));
    assert!(secrets.remove("key-1"));
    needs(&request, &secrets, "key-1");
}

#[test]
fn a_foreign_id_needs_a_key_and_tells_a_stranger_nothing() {
    let mut secrets = Secrets::awaiting_keys(CIRCLE).unwrap();
    secrets.add(Secret::from(public()).key_id("key-1")).unwrap();
    let foreign = request("key-2");
    needs(&foreign, &secrets, "key-2");
    let rejection = refused(&foreign, &secrets);
    assert_eq!(rejection.kind(), RejectionKind::KeyNeeded);
    assert_eq!(rejection.to_string(), Rejection::WIRE_TEXT);
    let mut forged = request("key-1");
    forged.body.push(b' ');
    let rejection = refused(&forged, &secrets);
    assert_eq!(rejection.kind(), RejectionKind::Invalid(Invalid::Signature));
    assert_eq!(rejection.to_string(), Rejection::WIRE_TEXT);
    // A key without an id may be the one.
    secrets.add(public()).unwrap();
    assert!(hookproof::verify(&foreign.body, &foreign, &secrets, NOW).is_ok());
}

#[test]
fn a_known_key_out_of_its_time_is_not_asked_for_again() {
    let over = NOW - std::time::Duration::from_secs(1);
    let over = Secret::from(public()).key_id("key-1").not_after(over);
    let secrets = Secrets::new(CIRCLE, [over]).unwrap();
    let rejection = refused(&request("key-1"), &secrets);
    assert_eq!(
        rejection.kind(),
        RejectionKind::Invalid(Invalid::NoKeyInForce)
    );
    needs(&request("key-2"), &secrets, "key-2");
}

#[test]
fn what_is_no_key_id_is_not_asked_for() {
    let secrets = Secrets::awaiting_keys(CIRCLE).unwrap();
    let unknown = RejectionKind::Invalid(Invalid::NoKeyInForce);
    let long = "k".repeat(255);
    needs(&request(&long), &secrets, &long);
    for id in ["", "key 1", "key\n1", "schl\u{fc}ssel", &"k".repeat(256)] {
        assert_eq!(refused(&request(id), &secrets).kind(), unknown, "{id:?}");
    }
    let mut unnamed = request("key-1");
    unnamed
        .headers
        .retain(|(name, _)| name != "X-Circle-Key-Id");
    assert_eq!(refused(&unnamed, &secrets).kind(), unknown);
}

/// Of keys that are configured none is to be fetched.
#[test]
fn a_configured_scheme_asks_for_nothing() {
    let given = Secrets::awaiting_keys(&scheme::PLAIN).map(drop);
    assert_eq!(given, Err(SecretsError::NoSecrets));
    let secret = Secret::from("a-secret-of-sufficient-length").key_id("key-1");
    let secrets = Secrets::new(&scheme::PLAIN, [secret]).unwrap();
    let signer = Signer::new(&scheme::PLAIN, "a-secret-of-sufficient-length").at(NOW);
    let request = signer
        .header("X-Webhook-Key-Id", "key-2")
        .sign(b"{}")
        .unwrap();
    let kind = refused(&request, &secrets).kind();
    assert_eq!(kind, RejectionKind::Invalid(Invalid::UnknownKey));
}
