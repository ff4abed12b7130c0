//! The composition: who acts, what is answered, and what is logged.
#![cfg(all(feature = "json", feature = "testing"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::arithmetic_side_effects)]

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    task::{Context, Waker},
    time::Duration,
};

use hookproof::{
    Answers, Claim, Claiming, Decision, EventKey, Fingerprint, Gate, IdempotencyStore, Lease,
    MemoryStore, Receipt, Secret, Secrets, State, StoreError, Verdict,
    scheme::{self, Scheme},
    store::{Abandoned, OnAbandoned, SettleError, StoreErrorKind, StoreFuture},
    testing::{ManualClock, Signed, Signer, block_on, sign},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";

fn secrets(scheme: &'static Scheme) -> Secrets {
    let secret = match scheme.secret_format() {
        scheme::SecretFormat::Base64 { .. } => "whsec_c3RhbmRhcmQtd2ViaG9va3Mtc2VjcmV0LW9uZS0zMmI=",
        _ => SECRET,
    };
    Secrets::new(scheme, [Secret::from(secret).key_id("2027")]).unwrap()
}

/// A report that keeps quiet and counts.
#[derive(Clone, Default)]
struct Abandonments(Arc<Mutex<Vec<String>>>);

impl OnAbandoned for Abandonments {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        self.0.lock().unwrap().push(lease.to_string());
    }
}

struct Rig {
    gate: Gate<MemoryStore>,
    clock: ManualClock,
    abandoned: Abandonments,
    actions: Cell<u32>,
}

fn rig(scheme: &'static Scheme) -> Rig {
    let (clock, abandoned) = (ManualClock::at(NOW), Abandonments::default());
    let store = MemoryStore::builder()
        .clock(clock.clone())
        .on_abandoned(abandoned.clone())
        .build();
    Rig {
        gate: Gate::new(secrets(scheme), store),
        clock,
        abandoned,
        actions: Cell::new(0),
    }
}

impl Rig {
    /// Delivers a request to a handler that counts its runs and answers with `verdict`.
    fn deliver(
        &self,
        request: &Signed,
        verdict: Result<Verdict, &'static str>,
    ) -> hookproof::Outcome {
        use hookproof::clock::Clock as _;
        block_on(
            self.gate
                .handle(&request.body, request, self.clock.now(), async |_| {
                    self.actions.set(self.actions.get() + 1);
                    Ok(verdict?)
                }),
        )
    }

    fn done(&self, request: &Signed) -> hookproof::Outcome {
        self.deliver(request, Ok(Verdict::done("invoice 7")))
    }
}

fn stripe(body: &str) -> Signed {
    sign(&scheme::STRIPE, SECRET, body.as_bytes(), NOW).unwrap()
}

/// Five times the same delivery, then once more after the window: one action, four duplicates with
/// the same result, one clean rejection.
#[test]
fn five_plus_one() {
    for scheme in [
        &scheme::PLAIN,
        &scheme::STRIPE,
        &scheme::SLACK,
        &scheme::PADDLE,
        &scheme::ZOOM,
    ] {
        let rig = rig(scheme);
        let request = sign(scheme, SECRET, br#"{"id":"evt_1","event_id":"e1"}"#, NOW).unwrap();
        let first = rig.done(&request);
        assert_eq!(
            (first.status(), first.body()),
            (200, &b"invoice 7"[..]),
            "{}",
            scheme.name()
        );
        assert!(matches!(first.decision(), Decision::Processed(_)));
        for _ in 0..4 {
            let again = rig.done(&request);
            assert_eq!((again.status(), again.body()), (200, &b"invoice 7"[..]));
            assert!(matches!(again.decision(), Decision::Duplicate(_)));
        }
        rig.clock.advance(Duration::from_secs(301));
        let late = rig.done(&request);
        assert_eq!(
            (late.status(), late.body()),
            (401, &b"webhook not accepted"[..])
        );
        assert_eq!(late.decision().label(), "stale");
        assert!(late.decision().wants_attention());
        assert_eq!(rig.actions.get(), 1, "{}", scheme.name());
    }
}

#[test]
fn every_rejection_is_answered_alike_and_touches_nothing() {
    let rig = rig(&scheme::STRIPE);
    let good = stripe(r#"{"id":"evt_1"}"#);
    let forged = sign(&scheme::STRIPE, "another-secret-of-length", &good.body, NOW).unwrap();
    let unreadable = Signed {
        headers: vec![],
        ..good.clone()
    };
    let tampered = Signed {
        body: b"{}".to_vec(),
        ..good.clone()
    };
    for request in [forged, unreadable, tampered] {
        let outcome = rig.done(&request);
        assert_eq!(
            (outcome.status(), outcome.body()),
            (401, &b"webhook not accepted"[..])
        );
        assert_eq!((outcome.event_id(), outcome.retry_after()), (None, None));
    }
    let key = EventKey::business("", "stripe", "evt_1").unwrap();
    assert!(block_on(rig.gate.store().get(&key)).unwrap().is_none());
    assert_eq!(rig.actions.get(), 0);
    assert_eq!(rig.done(&good).status(), 200);
}

#[test]
fn a_body_over_the_limit_is_not_even_verified() {
    let Rig { gate, .. } = rig(&scheme::STRIPE);
    let gate = gate.body_limit(14);
    for (body, status) in [(r#"{"id":"evt_1"}"#, 200), (r#"{"id":"evt_12"}"#, 413)] {
        let request = stripe(body);
        let outcome = block_on(gate.handle(&request.body, &request, NOW, async |_| {
            Ok(Verdict::done(""))
        }));
        assert_eq!(outcome.status(), status);
    }
}

#[test]
fn a_failed_handler_is_tried_again_and_a_dead_event_is_not() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let failed = rig.deliver(&request, Err("database is down"));
    assert_eq!(
        (failed.status(), failed.retry_after(), failed.body()),
        (500, Some(30), &b"failed"[..])
    );
    let Decision::Failed {
        error: Some(error), ..
    } = failed.into_decision()
    else {
        panic!()
    };
    assert_eq!(error.to_string(), "database is down");
    let waits = rig.deliver(&request, Ok(Verdict::retry(Duration::from_secs(90))));
    assert_eq!((waits.status(), waits.retry_after()), (500, Some(90)));
    let early = rig.done(&request);
    assert_eq!((early.status(), early.retry_after()), (409, Some(90)));
    rig.clock.advance(Duration::from_secs(90));
    let refused = rig.deliver(&request, Ok(Verdict::dead("unknown customer")));
    assert_eq!(
        (refused.status(), refused.decision().label()),
        (200, "buried")
    );
    let again = rig.done(&request);
    assert_eq!((again.status(), again.decision().label()), (200, "dead"));
    assert!(again.decision().wants_attention());
    assert_eq!(rig.actions.get(), 3);
}

#[test]
fn attempts_run_out() {
    let Rig { gate, .. } = rig(&scheme::STRIPE);
    let gate = gate.max_attempts(2);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let fail = || block_on(gate.handle(&request.body, &request, NOW, async |_| Err("no".into())));
    assert_eq!(fail().status(), 500);
    let last = fail();
    assert_eq!((last.status(), last.decision().label()), (200, "buried"));
    assert_eq!(fail().decision().label(), "dead");
}

#[test]
fn the_same_id_with_other_content_is_a_conflict() {
    let rig = rig(&scheme::STRIPE);
    assert_eq!(
        rig.done(&stripe(r#"{"id":"evt_1","amount":1}"#)).status(),
        200
    );
    let other = rig.done(&stripe(r#"{"id":"evt_1","amount":2}"#));
    assert_eq!((other.status(), other.body()), (202, &b"received"[..]));
    let Decision::Conflict(conflict) = other.decision() else {
        panic!()
    };
    assert_ne!(conflict.presented, conflict.receipt.fingerprint);
    assert!(other.decision().wants_attention());
    // The first record stands.
    assert_eq!(
        rig.done(&stripe(r#"{"id":"evt_1","amount":1}"#))
            .decision()
            .label(),
        "duplicate"
    );
    assert_eq!(rig.actions.get(), 1);
}

#[test]
fn while_one_acts_another_is_asked_to_wait() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let outcome = block_on(
        rig.gate
            .handle(&request.body, &request, NOW, async |event| {
                assert_eq!(
                    (event.attempt(), event.key().id(), event.body()),
                    (1, "evt_1", &request.body[..])
                );
                assert_eq!(event.effect_key("charge").len(), 32);
                let beside = rig.done(&request);
                assert_eq!((beside.status(), beside.retry_after()), (409, Some(60)));
                assert_eq!(beside.body(), b"in progress");
                Ok(Verdict::done("ok"))
            }),
    );
    assert_eq!(outcome.status(), 200);
    assert_eq!(rig.actions.get(), 0);
}

#[test]
fn a_handler_that_outlives_its_lease_is_told() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let slow = block_on(
        rig.gate
            .handle(&request.body, &request, NOW, async |event| {
                rig.clock.advance(Duration::from_secs(61));
                let other = rig.done(&request);
                assert_eq!(other.status(), 200);
                Ok(Verdict::done(format!("slow, {}", event.attempt())))
            }),
    );
    assert_eq!(
        (slow.status(), slow.decision().label()),
        (409, "lease_lost")
    );
    // What the second one wrote stands.
    assert_eq!(rig.done(&request).body(), b"invoice 7");
    assert!(rig.abandoned.0.lock().unwrap().is_empty());
}

#[test]
fn a_panicking_handler_leaves_the_event_claimable() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let handler = async |_: hookproof::Event| panic!("in the handler");
        block_on(rig.gate.handle(&request.body, &request, NOW, handler))
    }));
    assert!(panicked.is_err());
    assert_eq!(rig.abandoned.0.lock().unwrap().len(), 1);
    assert_eq!(rig.done(&request).decision().label(), "processed");
}

#[test]
fn a_cancelled_handler_leaves_the_event_claimable() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    {
        let handler = async |_: hookproof::Event| {
            std::future::pending::<()>().await;
            Ok(Verdict::done("never"))
        };
        let mut running = Box::pin(rig.gate.handle(&request.body, &request, NOW, handler));
        let mut context = Context::from_waker(Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
        assert_eq!(rig.done(&request).decision().label(), "in_progress");
    }
    let told = rig.abandoned.0.lock().unwrap().clone();
    assert!(
        matches!(&told[..], [line] if line.contains("evt_1")),
        "{told:?}"
    );
    assert_eq!(rig.done(&request).decision().label(), "processed");
}

#[test]
fn a_delivery_without_a_key_is_the_callers_choice() {
    let rig1 = rig(&scheme::DROPBOX);
    let request = sign(&scheme::DROPBOX, SECRET, b"{}", NOW).unwrap();
    let outcome = rig1.done(&request);
    assert_eq!(
        (outcome.status(), outcome.decision().label()),
        (422, "unkeyed")
    );
    assert_eq!(rig1.actions.get(), 0);
    let mut chosen = rig(&scheme::DROPBOX);
    chosen.gate = chosen
        .gate
        .key_by(|delivery, tenant| delivery.content_key(tenant));
    assert_eq!(chosen.done(&request).decision().label(), "processed");
    assert_eq!(chosen.done(&request).decision().label(), "duplicate");
}

#[test]
fn the_application_can_say_what_must_agree() {
    let mut rig = rig(&scheme::STRIPE);
    rig.gate = rig
        .gate
        .fingerprint_by(|_| Fingerprint::of(b"always the same"));
    assert_eq!(
        rig.done(&stripe(r#"{"id":"evt_1","amount":1}"#)).status(),
        200
    );
    assert_eq!(
        rig.done(&stripe(r#"{"id":"evt_1","amount":2}"#))
            .decision()
            .label(),
        "duplicate"
    );
}

#[test]
fn tenants_do_not_see_each_others_events() {
    let store = Arc::new(MemoryStore::new());
    let request = stripe(r#"{"id":"evt_1"}"#);
    for tenant in ["acme", "globex", ""] {
        let gate = Gate::new(secrets(&scheme::STRIPE), store.clone()).tenant(tenant);
        let outcome = block_on(gate.handle(&request.body, &request, NOW, async |_| {
            Ok(Verdict::done(""))
        }));
        assert_eq!(
            (outcome.decision().label(), outcome.tenant()),
            ("processed", tenant)
        );
    }
}

#[test]
fn a_result_that_is_too_long_is_cut_and_stays_done() {
    let rig = rig(&scheme::STRIPE);
    let request = stripe(r#"{"id":"evt_1"}"#);
    let outcome = rig.deliver(&request, Ok(Verdict::done(vec![b'x'; 5000])));
    assert_eq!((outcome.status(), outcome.body().len()), (200, 4096));
    assert_eq!(rig.done(&request).body().len(), 4096);
}

#[test]
fn a_log_line_has_the_facts_and_nothing_raw() {
    let Rig { gate, .. } = rig(&scheme::GITHUB);
    let gate = gate.tenant("acme");
    let request = Signer::new(&scheme::GITHUB, SECRET)
        .header("X-GitHub-Delivery", "d-1")
        .header("X-GitHub-Event", "push\n\u{1b}[31mforged line")
        .header("X-Request-Id", "r-1 \"quoted\"")
        .sign(b"{}")
        .unwrap();
    let outcome = block_on(gate.handle(&request.body, &request, NOW, async |_| {
        Ok(Verdict::done("a private result"))
    }));
    let line = outcome.to_string();
    for part in [
        "processed 200 provider=github tenant=\"acme\" event=\"content:",
        "type=\"push??[31mforged?line\"",
        "delivery=\"d-1\"",
        "request=\"r-1?\\\"quoted\\\"\"",
        "key=\"2027\"",
        "attempt=1",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(
        !line.contains(char::is_control) && !line.contains("private"),
        "{line}"
    );
    assert_eq!(outcome.request_id(), Some("r-1?\"quoted\""));
    // An event type out of a body is not made printable, but is escaped in the line.
    let body = format!(r#"{{"id":"evt_1","type":"a\u0000\n{}"}}"#, "x".repeat(1000));
    let line = rig(&scheme::STRIPE).done(&stripe(&body)).to_string();
    assert!(
        line.contains(r#"type="a\0\nxxx"#) && line.len() < 400,
        "{line}"
    );
}

/// A store that fails where it is told to.
struct Failing {
    inner: MemoryStore,
    claim: bool,
    settle: bool,
}

fn broken<'a, T: Send + 'a>(error: T) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(error))
}

impl IdempotencyStore for Failing {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        if self.claim {
            return broken(Err(StoreError::new(StoreErrorKind::Unavailable)));
        }
        self.inner.claim(claiming)
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        if self.settle {
            let error = StoreError::with_source(StoreErrorKind::Unavailable, "the disk is gone");
            return broken(Err(SettleError::store(lease, error)));
        }
        self.inner.settle(lease, verdict)
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.inner.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.inner.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.purge(at_most)
    }
}

#[test]
fn a_store_that_cannot_answer_is_never_new_nor_seen() {
    let request = stripe(r#"{"id":"evt_1"}"#);
    for (claim, settle, label, runs) in [
        (true, false, "unavailable", 0),
        (false, true, "unsettled", 1),
    ] {
        let abandoned = Abandonments::default();
        let inner = MemoryStore::builder()
            .on_abandoned(abandoned.clone())
            .build();
        let gate = Gate::new(
            secrets(&scheme::STRIPE),
            Failing {
                inner,
                claim,
                settle,
            },
        );
        let actions = Cell::new(0);
        let outcome = block_on(gate.handle(&request.body, &request, NOW, async |_| {
            actions.set(actions.get() + 1);
            Ok(Verdict::done("x"))
        }));
        assert_eq!((outcome.status(), outcome.retry_after()), (503, Some(30)));
        assert_eq!((outcome.decision().label(), actions.get()), (label, runs));
        // Ran but not written: loud, and claimable again.
        assert_eq!(abandoned.0.lock().unwrap().len(), runs);
        let key = EventKey::business("", "stripe", "evt_1").unwrap();
        let stored = block_on(gate.store().get(&key)).unwrap();
        assert!(stored.is_none_or(|receipt| receipt.state != State::Processed));
    }
}

#[test]
fn answers_can_be_chosen_but_not_so_that_events_are_lost() {
    assert!(Answers::default().in_progress(200).is_err());
    assert!(Answers::default().in_progress(302).is_err());
    assert!(Answers::default().conflict(99).is_err());
    let answers = Answers::default()
        .in_progress(503)
        .unwrap()
        .conflict(409)
        .unwrap();
    let answers = answers.dead(410).unwrap().unkeyed(200).unwrap();
    let mut rig = rig(&scheme::STRIPE);
    rig.gate = rig.gate.answers(answers);
    assert_eq!(
        rig.deliver(&stripe(r#"{"id":"a"}"#), Ok(Verdict::dead("no")))
            .status(),
        410
    );
    assert_eq!(rig.done(&stripe(r#"{"id":"a","x":1}"#)).status(), 409);
    assert_eq!(rig.done(&stripe("{}")).status(), 200);
    assert_eq!(rig.actions.get(), 1);
}

/// Frameworks move handler futures between threads, and stores may be trait objects.
#[test]
fn futures_are_send_and_stores_can_be_trait_objects() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let store: Arc<dyn IdempotencyStore> = Arc::new(MemoryStore::new());
    let gate = Arc::new(Gate::new(secrets(&scheme::STRIPE), store));
    let request = stripe(r#"{"id":"evt_1"}"#);
    let task = send(async move {
        let outcome = gate.handle(&request.body, &request, NOW, async |event| {
            let name = event.key().id().to_owned();
            std::future::ready(()).await;
            Ok(Verdict::done(name))
        });
        outcome.await.status()
    });
    let status = std::thread::spawn(move || block_on(task)).join().unwrap();
    assert_eq!(status, 200);
}
