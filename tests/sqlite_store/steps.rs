//! Steps of events: in the caller's own transaction, over restarts, and in the gate.

use hookproof::{
    Effect, EffectLedger, EffectSlot, IdempotencyStore, Lease, SqliteStore, Verdict,
    store::{RecordFault, StoreErrorKind, sql::ImmediateTx},
};

use super::{
    Bench, LEASE, ask, block_on, count, key, settle,
    transactions::{INVOICES, shop},
    win,
};

#[track_caller]
pub(crate) fn due(store: &SqliteStore, lease: &Lease, name: &str) -> EffectSlot {
    match block_on(store.effect(lease, name)).unwrap() {
        Effect::Due(slot) => slot,
        other => panic!("expected Due, got {other:?}"),
    }
}

#[track_caller]
pub(crate) fn done(store: &SqliteStore, lease: &Lease, name: &str) -> String {
    match block_on(store.effect(lease, name)).unwrap() {
        Effect::Done(done) => done.text,
        other => panic!("expected Done, got {other:?}"),
    }
}

fn invoice(tx: &ImmediateTx<'_>) {
    tx.execute("INSERT INTO invoice VALUES ('e1')", []).unwrap();
}

#[test]
fn record_and_rows_are_one_commit() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let lease = win(&store, "e1");
    for commits in [false, true] {
        let slot = due(&store, &lease, "invoice");
        let tx = ImmediateTx::begin(&mut connection).unwrap();
        invoice(&tx);
        let recorded = store.record_in(&tx, slot, "no. 1").unwrap();
        assert_eq!((recorded.number, recorded.fence), (1, lease.fence()));
        // Nobody sees it yet.
        assert_eq!(block_on(store.effects(&key("e1"))).unwrap(), []);
        match commits {
            true => tx.commit().unwrap(),
            false => tx.rollback().unwrap(),
        }
        assert_eq!(count(&connection, INVOICES), i64::from(commits));
    }
    assert_eq!(done(&store, &lease, "invoice"), "no. 1");
    settle(&store, lease, "done");
}

/// The lease was lost while the step's transaction was prepared: nothing of it may be committed.
#[test]
fn a_lost_lease_records_nothing_in_a_transaction() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let old = win(&store, "e1");
    let slot = due(&store, &old, "invoice");
    bench.clock.advance(LEASE);
    let new = win(&store, "e1");
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    invoice(&tx);
    let error = store.record_in(&tx, slot, "no. 1").unwrap_err();
    assert!(matches!(error.fault, RecordFault::LeaseLost));
    assert_eq!(error.slot.name(), "invoice");
    tx.rollback().unwrap();
    drop(due(&store, &new, "invoice"));
    settle(&store, new, "");
    super::crash(old);
}

#[test]
fn a_result_too_long_leaves_the_transaction_usable() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let lease = win(&store, "e1");
    let slot = due(&store, &lease, "invoice");
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let long = "r".repeat(hookproof::store::MAX_RESULT_BYTES + 1);
    let error = store.record_in(&tx, slot, &long).unwrap_err();
    assert!(matches!(error.fault, RecordFault::ResultTooLong));
    store.record_in(&tx, *error.slot, "short").unwrap();
    tx.commit().unwrap();
    assert_eq!(done(&store, &lease, "invoice"), "short");
    settle(&store, lease, "");
}

/// Whoever deletes a receipt, by whatever means, deletes its steps.
#[test]
fn steps_go_with_a_receipt_that_others_delete() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    let slot = due(&store, &lease, "charge");
    block_on(store.record(slot, "ch_123")).unwrap();
    settle(&store, lease, "");
    let other = bench.beside();
    other.execute_batch("DELETE FROM webhook_receipt").unwrap();
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_effect"), 0);
    let lease = win(&store, "e1");
    drop(due(&store, &lease, "charge"));
    settle(&store, lease, "");
}

/// What SQLite itself keeps out, should anything else write.
#[test]
fn steps_that_are_none_are_refused() {
    let bench = Bench::new();
    bench.open().close();
    let other = bench.beside();
    for values in [
        "zeroblob(15), 'a', 1, 1, 0, x''",
        "zeroblob(16), 'a', 0, 1, 0, x''",
        "zeroblob(16), 'a', 33, 1, 0, x''",
        "zeroblob(16), 'a', 1, 1, 0, zeroblob(4097)",
        "zeroblob(16), NULL, 1, 1, 0, x''",
    ] {
        other
            .execute_batch(&format!("INSERT INTO webhook_effect VALUES ({values})"))
            .unwrap_err();
    }
    let store = bench.open();
    let lease = win(&store, "e1");
    let slot = due(&store, &lease, "charge");
    block_on(store.record(slot, "ch_123")).unwrap();
    // No text at all.
    other
        .execute_batch("UPDATE webhook_effect SET result = x'ff'")
        .unwrap();
    let error = block_on(store.effects(&key("e1"))).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    settle(&store, lease, "");
}

/// In a gate's handler the event stands for its lease. The first attempt fails between two steps.
#[test]
fn a_gate_handler_skips_what_is_done() {
    use hookproof::{Gate, Secrets, scheme, testing};
    const SECRET: &str = "whsec_T3st0nlyAlphaKey4711xyz";
    let bench = Bench::new();
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
    let gate = Gate::new(secrets, bench.open());
    let signed =
        testing::sign(&scheme::STRIPE, SECRET, br#"{"id":"evt_1"}"#, super::START).unwrap();
    let (mut charges, mut mails, mut statuses) = (0, 0, vec![]);
    for attempt in 1..=3 {
        let outcome =
            block_on(
                gate.handle(&signed.body, &signed.headers, super::START, async |event| {
                    if let Effect::Due(slot) = gate.store().effect(&event, "charge").await? {
                        assert_eq!(slot.effect_key(), event.effect_key("charge"));
                        charges += 1;
                        gate.store().record(slot, "ch_123").await?;
                    }
                    if attempt == 1 {
                        return Err("the mail server is down".into());
                    }
                    let Effect::Done(charge) = gate.store().effect(&event, "charge").await? else {
                        return Err("the charge was forgotten".into());
                    };
                    mails += 1;
                    Ok(Verdict::done(charge.text))
                }),
            );
        statuses.push(outcome.status());
    }
    assert_eq!(statuses, [500, 200, 200]);
    assert_eq!((charges, mails), (1, 1));
}

/// A claim made in a transaction is nobody's holder on the store: its record would outlive a
/// rollback.
#[test]
fn a_claim_that_is_not_committed_takes_no_steps() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = super::transactions::win_in(&store, &tx, "e1");
    let lease_of_it: &Lease = &lease;
    let told = block_on(store.effect(lease_of_it, "charge"));
    assert!(matches!(
        told,
        Err(hookproof::store::EffectError::LeaseLost)
    ));
    store.settle_in(&tx, lease, Verdict::done("")).unwrap();
    tx.commit().unwrap();
}

/// Asking and listing take no write lock.
#[test]
fn looking_waits_for_nobody() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    drop(due(&store, &lease, "charge"));
    assert_eq!(block_on(store.effects(&key("e1"))).unwrap(), []);
    other.execute_batch("ROLLBACK").unwrap();
    block_on(store.release(lease)).unwrap();
    let again = block_on(store.claim(ask("e1"))).unwrap();
    assert!(matches!(&again, hookproof::Claim::New(lease) if lease.attempt() == 2));
}
