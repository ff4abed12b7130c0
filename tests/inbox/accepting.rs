//! What a gate answers that accepts.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use hookproof::{
    Decision, Gate, IdempotencyStore, Secrets, State, Verdict,
    inbox::{InboxStore, Job},
    scheme,
    testing::{block_on, sign},
};

use super::rig::*;

#[test]
fn an_accepted_delivery_is_stored_before_its_answer() {
    let rig = Rig::new();
    let outcome = rig.post(&event(1));
    assert_eq!((outcome.status(), outcome.body()), (200, &b"received"[..]));
    assert!(matches!(outcome.decision(), Decision::Accepted(_)));
    assert!(!outcome.decision().wants_attention());
    assert!(
        outcome
            .to_string()
            .starts_with("accepted 200 provider=stripe")
    );
    assert_eq!(outcome.retry_after(), None);
    assert_eq!(rig.row(1).state, State::Received);
    let parked = block_on(rig.store.parked(&key(1))).unwrap().unwrap();
    assert_eq!(parked.body, event(1).body);
    assert_eq!(parked.facts.event_type.as_deref(), Some("invoice.paid"));
    assert!(parked.facts.coverage.body);
    assert_eq!(parked.headers, [], "none was chosen");

    let again = rig.post(&event(1));
    assert_eq!((again.status(), again.decision().label()), (200, "pending"));
}

#[test]
fn headers_are_kept_by_name() {
    let rig = Rig::new();
    let gate = Gate::new(
        Secrets::new(&scheme::STRIPE, [SECRET]).unwrap(),
        rig.store.clone(),
    )
    .keep_headers(["X-Region", "X-Missing"]);
    let mut request = event(1);
    request.headers.push(("x-region".into(), "eu".into()));
    assert_eq!(
        block_on(gate.accept(&request.body, &request, NOW)).status(),
        200
    );
    let parked = block_on(rig.store.parked(&key(1))).unwrap().unwrap();
    assert_eq!(parked.headers, [("X-Region".to_owned(), b"eu".to_vec())]);
}

#[test]
fn what_is_not_stored_is_not_answered_200() {
    let rig = Rig::new();
    rig.store.fails.accepting.store(true, SeqCst);
    let outcome = rig.post(&event(1));
    assert_eq!((outcome.status(), outcome.retry_after()), (503, Some(30)));
    assert!(matches!(outcome.decision(), Decision::Unavailable(_)));
    rig.store.fails.accepting.store(false, SeqCst);

    let mut forged = event(1);
    forged.body.push(b' ');
    assert_eq!(rig.post(&forged).status(), 401);
    assert_eq!(block_on(rig.store.get(&key(1))).unwrap(), None);
    let late = NOW + Duration::from_secs(301);
    let request = event(1);
    let outcome = block_on(rig.gate.accept(&request.body, &request, late));
    assert_eq!(
        (outcome.status(), outcome.decision().label()),
        (401, "stale")
    );

    let small = Gate::new(
        Secrets::new(&scheme::STRIPE, [SECRET]).unwrap(),
        rig.store.clone(),
    )
    .body_limit(10);
    assert_eq!(
        block_on(small.accept(&request.body, &request, NOW)).status(),
        413
    );
    let nameless = sign(&scheme::STRIPE, SECRET, b"{}", NOW).unwrap();
    assert_eq!(rig.post(&nameless).status(), 422);
}

#[test]
fn answers_follow_the_receipt() {
    let rig = Rig::new();
    rig.fill(0..2);
    let worker = rig.worker(|job: Job| async move {
        match job.key().id() {
            "evt_0" => Ok(Verdict::done("invoice 7")),
            _ => Ok(Verdict::dead("unknown customer")),
        }
    });
    rig.work(&worker);
    let done = rig.post(&event(0));
    assert_eq!((done.status(), done.body()), (200, &b"invoice 7"[..]));
    assert_eq!(done.decision().label(), "duplicate");
    let dead = rig.post(&event(1));
    assert_eq!((dead.status(), dead.decision().label()), (200, "dead"));
    let other = br#"{"id":"evt_0","type":"invoice.void"}"#;
    let other = sign(&scheme::STRIPE, SECRET, other, NOW).unwrap();
    assert_eq!(rig.post(&other).status(), 202);
}
