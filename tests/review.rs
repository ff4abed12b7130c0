//! What a gate keeps for review, what it answers meanwhile, and whom it tells. The contract of the
//! stores behind it is the conformance suite's.
#![cfg(all(feature = "inbox", feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hookproof::{
    Answers, Claim, Claiming, Decision, EventKey, Fingerprint, Gate, IdempotencyStore, MemoryStore,
    Outcome, Receipt, Rejection, Secrets, State, StoreError, Verdict,
    gate::{NotKept, Reviewing},
    inbox::{InboxStore, Leasing},
    review::{
        Admission, Discarding, Kept, Reason, Review, ReviewListing, ReviewPurge, ReviewStore,
    },
    scheme,
    store::{SettleError, StoreErrorKind, StoreFuture},
    testing::{ManualClock, Signed, block_on, conformance::Witness, sign},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const HOUR: Duration = Duration::from_secs(3600);
const SECRET: &str = "a-secret-of-sufficient-length";

fn signed(body: &str, at: OffsetDateTime) -> Signed {
    sign(&scheme::STRIPE, SECRET, body.as_bytes(), at).unwrap()
}

fn first() -> Signed {
    signed(r#"{"id":"evt_1","type":"paid","sum":5}"#, NOW)
}

fn second() -> Signed {
    signed(r#"{"id":"evt_1","type":"paid","sum":500}"#, NOW)
}

fn late() -> Signed {
    signed(r#"{"id":"evt_2","type":"paid"}"#, NOW - HOUR)
}

fn secrets() -> Secrets {
    Secrets::new(&scheme::STRIPE, [SECRET]).unwrap()
}

/// A gate over a store, and a list of who was reported.
struct Rig {
    store: Arc<MemoryStore>,
    gate: Gate<Arc<MemoryStore>>,
    alerts: Arc<Mutex<Vec<String>>>,
}

fn rig_with(capacity: usize) -> Rig {
    let store = MemoryStore::builder()
        .clock(ManualClock::at(NOW))
        .on_abandoned(Witness::default())
        .review_capacity(capacity)
        .build();
    let store = Arc::new(store);
    let alerts: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = alerts.clone();
    let gate = Gate::new(secrets(), store.clone())
        .tenant("acme")
        .on_kept(move |review: &Review| told.lock().unwrap().push(review.to_string()));
    Rig {
        store,
        gate,
        alerts,
    }
}

fn rig() -> Rig {
    rig_with(100)
}

impl Rig {
    fn keeping(mut self, what: Reviewing) -> Self {
        self.gate = self.gate.keep_for_review(what);
        self
    }

    fn accept(&self, request: &Signed) -> Outcome {
        block_on(self.gate.accept(&request.body, request, NOW))
    }

    fn handle(&self, request: &Signed) -> Outcome {
        let handler = async |_| Ok(Verdict::done("done"));
        block_on(self.gate.handle(&request.body, request, NOW, handler))
    }

    fn open(&self) -> Vec<Review> {
        block_on(self.store.reviews(ReviewListing::open())).unwrap()
    }

    fn alerts(&self) -> usize {
        self.alerts.lock().unwrap().len()
    }

    fn receipt(&self, id: &str) -> Option<Receipt> {
        let key = block_on(async {
            let request = signed(&format!(r#"{{"id":"{id}"}}"#), NOW);
            let secrets = secrets();
            let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
            delivery.event_key("acme").unwrap()
        });
        block_on(self.store.get(&key)).unwrap()
    }
}

fn new(outcome: &Outcome) -> &Review {
    match outcome.review() {
        Some(Ok(Kept::New(review))) => review,
        other => panic!("expected New, got {other:?}"),
    }
}

fn known(outcome: &Outcome) -> &Review {
    match outcome.review() {
        Some(Ok(Kept::Known(review))) => review,
        other => panic!("expected Known, got {other:?}"),
    }
}

#[test]
fn a_conflict_is_kept_and_reported_once_by_default() {
    let rig = rig();
    assert_eq!(rig.accept(&first()).status(), 200);
    let stands = rig.receipt("evt_1").unwrap();
    let outcome = rig.accept(&second());
    assert_eq!((outcome.status(), outcome.body()), (202, &b"received"[..]));
    assert!(matches!(outcome.decision(), Decision::Conflict(_)));
    let review = new(&outcome).clone();
    assert_eq!(review.reason, Reason::Conflict);
    assert_eq!((review.key.tenant(), review.key.id()), ("acme", "evt_1"));
    assert_eq!(review.stored, Some(stands.fingerprint));
    assert!(
        outcome
            .to_string()
            .contains(&format!(" review={} new", review.id))
    );
    for _ in 0..49 {
        let again = rig.accept(&second());
        assert_eq!(again.status(), 202);
        assert_eq!(known(&again), &review);
    }
    assert_eq!((rig.alerts(), rig.open()), (1, vec![review.clone()]));
    let (_, delivery) = block_on(rig.store.review(&review.id)).unwrap().unwrap();
    assert_eq!(delivery.unwrap().body, second().body);
    assert_eq!(rig.receipt("evt_1").unwrap(), stands);
}

/// The answer tells a stranger nothing, and the delivery is not fresh by being kept.
#[test]
fn a_stale_delivery_is_kept_and_reported_once_by_default() {
    let rig = rig();
    for attempt in 0..50 {
        let outcome = rig.accept(&late());
        assert_eq!(outcome.status(), 401);
        assert_eq!(outcome.body(), Rejection::WIRE_TEXT.as_bytes());
        assert_eq!(outcome.retry_after(), None);
        assert!(matches!(
            outcome.decision(),
            Decision::Rejected(Rejection::Stale(_))
        ));
        assert_eq!(outcome.event_id(), Some("evt_2"));
        let review = match attempt {
            0 => new(&outcome),
            _ => known(&outcome),
        };
        assert_eq!((review.reason, review.stored), (Reason::Stale, None));
    }
    assert_eq!((rig.alerts(), rig.open().len()), (1, 1));
    assert_eq!(rig.receipt("evt_2"), None);
    let leased = block_on(rig.store.lease_due(Leasing::up_to(10))).unwrap();
    assert!(leased.events.is_empty());

    let admission = block_on(rig.store.admit(&rig.open()[0].id)).unwrap();
    assert!(
        matches!(admission, Admission::Accepted(..)),
        "{admission:?}"
    );
    let mut leased = block_on(rig.store.lease_due(Leasing::up_to(10))).unwrap();
    let (lease, parked) = leased.events.pop().unwrap();
    assert_eq!((lease.key().id(), &parked.body), ("evt_2", &late().body));
    block_on(rig.store.settle(lease, Verdict::done("done"))).unwrap();
    // A replay of it is rejected as ever, known, and quiet.
    let outcome = rig.accept(&late());
    assert_eq!(outcome.status(), 401);
    assert!(!known(&outcome).status.is_open());
    assert_eq!(rig.alerts(), 1);
}

#[test]
fn each_setting_keeps_its_part() {
    for (what, conflicts, stale) in [
        (Reviewing::All, true, true),
        (Reviewing::Conflicts, true, false),
        (Reviewing::Stale, false, true),
        (Reviewing::Nothing, false, false),
    ] {
        for inbox in [true, false] {
            let rig = rig().keeping(what);
            let deliver = |request: &Signed| match inbox {
                true => rig.accept(request),
                false => rig.handle(request),
            };
            assert_eq!(deliver(&first()).status(), 200);
            let conflict = deliver(&second());
            assert_eq!(conflict.status(), 202, "{what:?}");
            assert_eq!(conflict.review().is_some(), conflicts, "{what:?}");
            let rejected = deliver(&late());
            assert_eq!(rejected.status(), 401, "{what:?}");
            assert_eq!(rejected.review().is_some(), stale, "{what:?}");
            let kept = usize::from(conflicts) + usize::from(stale);
            assert_eq!((rig.alerts(), rig.open().len()), (kept, kept), "{what:?}");
        }
    }
}

/// Without an inbox nothing is kept unless it is asked for.
#[test]
fn a_handler_s_gate_keeps_nothing_by_default() {
    let rig = rig();
    assert_eq!(rig.handle(&first()).status(), 200);
    let outcome = rig.handle(&second());
    assert_eq!(outcome.status(), 202);
    assert!(outcome.review().is_none());
    assert!(rig.handle(&late()).review().is_none());
    assert_eq!((rig.alerts(), rig.open()), (0, vec![]));
}

/// A store that can do no more than the contract.
struct Plain(MemoryStore);

impl IdempotencyStore for Plain {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        self.0.claim(claiming)
    }

    fn settle(
        &self,
        lease: hookproof::Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.0.settle(lease, verdict)
    }

    fn renew(
        &self,
        lease: hookproof::Lease,
        length: Duration,
    ) -> StoreFuture<'_, Result<hookproof::Lease, SettleError>> {
        self.0.renew(lease, length)
    }

    fn release(&self, lease: hookproof::Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.0.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.0.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.0.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.0.purge(at_most)
    }
}

#[test]
fn a_gate_before_any_store_handles() {
    let gate = Gate::new(secrets(), Plain(MemoryStore::new()));
    let status = |request: Signed| {
        let handler = async |_| Ok(Verdict::done("done"));
        block_on(gate.handle(&request.body, &request, NOW, handler)).status()
    };
    assert_eq!([first(), second(), late()].map(status), [200, 202, 401]);
}

/// What was not kept is not "received": the sender repeats it until it is.
#[test]
fn a_conflict_that_cannot_be_kept_is_unavailable() {
    for inbox in [true, false] {
        let rig = rig_with(1).keeping(Reviewing::All);
        let deliver = |request: &Signed| match inbox {
            true => rig.accept(request),
            false => rig.handle(request),
        };
        assert_eq!(deliver(&late()).status(), 401);
        assert_eq!(rig.alerts(), 1);
        assert_eq!(deliver(&first()).status(), 200);
        let stands = rig.receipt("evt_1").unwrap();
        let outcome = deliver(&second());
        assert_eq!(
            (outcome.status(), outcome.body()),
            (503, &b"unavailable"[..])
        );
        assert_eq!(outcome.retry_after(), Some(30));
        assert_eq!(outcome.decision().label(), "unkept");
        assert!(outcome.decision().wants_attention());
        match outcome.review() {
            Some(Err(NotKept::Store(error))) => assert_eq!(error.kind(), StoreErrorKind::Full),
            other => panic!("{other:?}"),
        }
        assert!(
            outcome
                .to_string()
                .contains(" not_kept=\"the receipt store is full")
        );
        assert_eq!(rig.alerts(), 1);
        assert_eq!(rig.receipt("evt_1").unwrap(), stands);

        // The one in the way is kept for good, and known.
        assert_eq!(known(&deliver(&late())).reason, Reason::Stale);
        let purge = ReviewPurge::unresolved(Duration::ZERO);
        assert_eq!(block_on(rig.store.purge_reviews(purge)).unwrap(), 1);
        let outcome = deliver(&second());
        assert_eq!(outcome.status(), 202);
        new(&outcome);
        assert_eq!(rig.alerts(), 2);
    }
}

/// Whatever the store does, a stranger learns nothing; the outcome does.
#[test]
fn a_stale_delivery_that_cannot_be_kept_is_rejected_all_the_same() {
    let rig = rig_with(0);
    let outcome = rig.accept(&late());
    assert_eq!(outcome.status(), 401);
    assert_eq!(outcome.body(), Rejection::WIRE_TEXT.as_bytes());
    assert_eq!(outcome.retry_after(), None);
    assert!(matches!(outcome.review(), Some(Err(NotKept::Store(_)))));
    let nameless = signed("{}", NOW - HOUR);
    let outcome = rig.accept(&nameless);
    assert_eq!(outcome.status(), 401);
    assert!(matches!(outcome.review(), Some(Err(NotKept::Unkeyed(_)))));
    assert_eq!((rig.alerts(), rig.open()), (0, vec![]));
}

#[test]
fn what_a_stranger_sends_is_not_kept() {
    let rig = rig();
    assert_eq!(rig.accept(&first()).status(), 200);
    let mut forged = second();
    forged.body.push(b' ');
    let mut forged_late = late();
    forged_late.body.push(b' ');
    for request in [forged, forged_late] {
        let outcome = rig.accept(&request);
        assert_eq!(
            (outcome.status(), outcome.decision().label()),
            (401, "invalid")
        );
        assert!(outcome.review().is_none());
    }
    assert_eq!((rig.alerts(), rig.open()), (0, vec![]));
}

/// Once somebody has decided it stays decided.
#[test]
fn a_discarded_conflict_comes_again_in_silence() {
    let rig = rig();
    assert_eq!(rig.accept(&first()).status(), 200);
    let id = new(&rig.accept(&second())).id;
    let discarded = block_on(rig.store.discard(&id)).unwrap();
    assert!(matches!(discarded, Discarding::Discarded(_)));
    let outcome = rig.accept(&second());
    assert_eq!(outcome.status(), 202);
    assert!(!known(&outcome).status.is_open());
    assert_eq!((rig.alerts(), rig.open()), (1, vec![]));
}

/// What is kept is what the gate would have stored: its key, fingerprint, headers and retention.
#[test]
fn the_gate_s_own_settings_hold_for_what_is_kept() {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let mut rig = rig();
    rig.gate = rig
        .gate
        .key_by(|_, tenant| EventKey::business(tenant, "orders", "o1"))
        .fingerprint_by(|delivery| Fingerprint::of(&delivery.body()[..19]))
        .keep_headers(["Stripe-Version"])
        .retention(YEAR)
        .answers(Answers::default().conflict(409).unwrap());
    let of = |body: &str, at| {
        let mut request = signed(body, at);
        let version = ("Stripe-Version".to_owned(), "2027".to_owned());
        request.headers.push((version.0, version.1));
        request
    };
    let conflict_and_stale = [
        of(r#"{"id":"evt_1","n":2,"rest":1}"#, NOW),
        of(r#"{"id":"evt_1","n":3,"rest":1}"#, NOW - HOUR),
    ];
    assert_eq!(
        rig.accept(&of(r#"{"id":"evt_1","n":1}"#, NOW)).status(),
        200
    );
    // The same to the gate's fingerprint.
    let same = of(r#"{"id":"evt_1","n":1,"rest":1}"#, NOW);
    assert_eq!(rig.accept(&same).status(), 200);
    for (request, status) in conflict_and_stale.iter().zip([409, 401]) {
        let outcome = rig.accept(request);
        assert_eq!(outcome.status(), status);
        let review = new(&outcome);
        assert_eq!((review.key.provider(), review.key.id()), ("orders", "o1"));
        assert_eq!(review.presented, Fingerprint::of(&request.body[..19]));
        assert_eq!(review.retention, YEAR);
        let (_, delivery) = block_on(rig.store.review(&review.id)).unwrap().unwrap();
        let headers = [("Stripe-Version".to_owned(), b"2027".to_vec())];
        assert_eq!(delivery.unwrap().headers, headers);
    }
    let review = rig
        .open()
        .into_iter()
        .find(|review| review.reason == Reason::Conflict)
        .unwrap();
    match block_on(rig.store.admit(&review.id)).unwrap() {
        Admission::Accepted(_, receipt) => {
            assert_eq!(receipt.state, State::Received);
            assert_eq!(receipt.expires_at, NOW + YEAR);
        }
        other => panic!("{other:?}"),
    }
}

/// One line, whatever the sender wrote.
#[test]
fn an_alert_is_one_escaped_line() {
    let rig = rig();
    let long = "x".repeat(1000);
    for id in ["a\\u0022 b=\\u0022c", "é\u{2028}\u{202e}", &long] {
        let body = format!(r#"{{"id":"{id}","type":"a\nb\u001b[31m"}}"#);
        new(&rig.accept(&signed(&body, NOW - HOUR)));
    }
    let alerts = rig.alerts.lock().unwrap();
    assert_eq!(alerts.len(), 3);
    for alert in alerts.iter() {
        assert!(alert.starts_with("stale review="), "{alert}");
        assert!(alert.contains(" age=3600s "), "{alert}");
        assert!(!alert.chars().any(char::is_control), "{alert:?}");
        assert!(!alert.contains(['\u{2028}', '\u{202e}']), "{alert:?}");
        assert!(alert.len() < 600, "{alert}");
        assert!(!alert.contains(SECRET));
    }
    assert!(alerts[0].contains(r#" event="a\" b=\"c""#), "{}", alerts[0]);
}
