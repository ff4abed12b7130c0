//! Many deliveries in one call: each is answered as it would be alone, one after the other. Races are in
//! `batch_races.rs`.

use super::{
    super::{
        bench::{DAY, HOUR, LEASE, key, secs},
        post,
    },
    bench::{Inbox, body},
};
use crate::{
    Claim, Claiming, Fence, Fingerprint, Receipt, State, Verdict,
    inbox::{Accepted, BatchInbox, Leasing, MAX_BATCH_BYTES, Parcel},
    store::{MAX_BATCH, StoreErrorKind},
};

pub(super) type Store<'s> = &'s dyn BatchInbox;

/// Accepts a batch, whose every delivery must be answered.
pub(super) fn accept_many(
    inbox: &Inbox<'_>,
    store: Store<'_>,
    parcels: Vec<Parcel>,
) -> Vec<Accepted> {
    let asked = parcels.len();
    let answers = inbox
        .wait(async { store.accept_many(parcels).await })
        .expect("the store could not answer a batch");
    assert_eq!(answers.len(), asked, "one answer to each delivery");
    let answer = |accepted: Result<_, _>| accepted.expect("the store could not answer a delivery");
    answers.into_iter().map(answer).collect()
}

pub(super) fn parcels(inbox: &Inbox<'_>, ids: impl IntoIterator<Item = usize>) -> Vec<Parcel> {
    let parcel = |n| inbox.parcel(&format!("e{n}"));
    ids.into_iter().map(parcel).collect()
}

fn name(accepted: &Accepted) -> &'static str {
    match accepted {
        Accepted::New(_) => "new",
        Accepted::Pending(_) => "pending",
        Accepted::Duplicate(_) => "duplicate",
        Accepted::Dead(_) => "dead",
        Accepted::Conflict(_) => "conflict",
        Accepted::InProgress { .. } => "in progress",
    }
}

fn names(answers: &[Accepted]) -> Vec<&'static str> {
    answers.iter().map(name).collect()
}

#[track_caller]
fn receipt(accepted: Accepted) -> Receipt {
    match accepted {
        Accepted::New(receipt)
        | Accepted::Pending(receipt)
        | Accepted::Duplicate(receipt)
        | Accepted::Dead(receipt) => receipt,
        Accepted::Conflict(conflict) => conflict.receipt,
        busy @ Accepted::InProgress { .. } => panic!("in nobody's transaction: {busy:?}"),
    }
}

/// Leases all that is due, each once, and says which events these are, in order of their ids.
pub(super) fn lease_all(inbox: &Inbox<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let leased = inbox.leasing(Leasing::up_to(1000).lease(DAY));
        assert_eq!((leased.buried.len(), leased.unreadable), (0, 0));
        if leased.events.is_empty() {
            ids.sort();
            return ids;
        }
        for (lease, parked) in leased.events {
            assert_eq!(lease.key(), &parked.key);
            ids.push(parked.key.id().to_owned());
            inbox.stall(lease);
        }
    }
}

/// Whatever is stored of an event, the batch answers what `accept` would, in the order asked.
pub(super) fn answers_are_in_the_order_asked(inbox: &Inbox<'_>, store: Store<'_>) {
    for id in ["done", "dead", "running", "failed", "changed", "waiting"] {
        inbox.take_in(id);
        match id {
            "done" => drop(inbox.done(id)),
            "dead" => drop(inbox.bury(id)),
            "running" => inbox.stall(inbox.one(id)),
            "failed" => drop(inbox.fail(id, HOUR)),
            // They stay due until all of the others have had their turn.
            _ => {}
        }
    }
    let asked = [
        "z", "done", "running", "a", "failed", "changed", "dead", "m", "waiting",
    ];
    let parcel = |id: &&str| match *id {
        "changed" => inbox.parcel_of(id, "other"),
        id => inbox.parcel(id),
    };
    let answers = accept_many(inbox, store, asked.iter().map(parcel).collect());
    let expected = [
        "new",
        "duplicate",
        "pending",
        "new",
        "pending",
        "conflict",
        "dead",
        "new",
        "pending",
    ];
    assert_eq!(names(&answers), expected);
    if let Accepted::Conflict(conflict) = &answers[5] {
        assert_eq!(conflict.presented, Fingerprint::of(b"other"));
    }
    for (id, answer) in asked.into_iter().zip(answers) {
        assert_eq!(receipt(answer), inbox.row(id));
        let parked = inbox.parked(id).expect("its body is kept");
        assert_eq!(parked.body, body(id).as_bytes());
    }
    assert_eq!(lease_all(inbox), ["a", "changed", "m", "waiting", "z"]);
}

/// Nothing asked, nothing answered.
pub(super) fn no_delivery_is_no_batch(inbox: &Inbox<'_>, store: Store<'_>) {
    assert_eq!(accept_many(inbox, store, Vec::new()).len(), 0);
    inbox.none_due();
    let answers = accept_many(inbox, store, vec![inbox.parcel("e1")]);
    assert_eq!(names(&answers), ["new"]);
    inbox.done("e1");
}

/// What is new is as `accept` leaves it: under no lease, with its body, due now.
pub(super) fn accepted_events_are_received(inbox: &Inbox<'_>, store: Store<'_>) {
    let days = [1, 9, 90];
    let parcel = |days: &u32| {
        let id = format!("e{days}");
        let signed = post::attempt(inbox.now(), &id, "a1", &body(&id));
        let secrets = post::secrets(&post::ATTEMPTS);
        let delivery = crate::verify(&signed.body, &signed, &secrets, inbox.now()).unwrap();
        let claiming = Claiming::new(&delivery, key(&id)).retention(DAY * *days);
        Parcel::new(&delivery, claiming)
    };
    let parcels = days.iter().map(parcel).collect();
    inbox.at(secs(3));
    for (days, answer) in days.into_iter().zip(accept_many(inbox, store, parcels)) {
        let Accepted::New(receipt) = answer else {
            panic!("expected New, got {answer:?}");
        };
        let id = format!("e{days}");
        assert_eq!((receipt.key.id(), receipt.state), (&*id, State::Received));
        assert_eq!((receipt.attempts, receipt.until), (0, None));
        assert_eq!(receipt.received_at, inbox.now());
        assert_eq!(receipt.expires_at, inbox.now() + DAY * days);
        assert_eq!(inbox.row(&id), receipt);
        assert_eq!(inbox.parked(&id).unwrap().accepted_at, inbox.now());
    }
    for (lease, _) in inbox.due() {
        let received = inbox.row(lease.key().id());
        assert_eq!((lease.attempt(), lease.fence()), (1, received.fence));
        inbox.settle(lease, Verdict::done("done"));
    }
    inbox.at(HOUR);
    inbox.none_due();
}

/// The largest batch that is allowed is answered, then known, and all of it is leased.
pub(super) fn largest_batch(inbox: &Inbox<'_>, store: Store<'_>) {
    let answers = accept_many(inbox, store, parcels(inbox, 0..MAX_BATCH));
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(name(&answer), "new");
        assert_eq!(receipt(answer).key, key(&format!("e{number}")));
    }
    let again = accept_many(inbox, store, parcels(inbox, (0..MAX_BATCH).rev()));
    assert!(again.iter().all(|answer| name(answer) == "pending"));
    assert_eq!(lease_all(inbox).len(), MAX_BATCH);
}

/// One more is refused as a whole, and nothing was accepted.
pub(super) fn too_many_are_refused(inbox: &Inbox<'_>, store: Store<'_>) {
    let parcels = parcels(inbox, 0..=MAX_BATCH);
    let refused = inbox.wait(async { store.accept_many(parcels).await });
    let kind = refused.expect_err("a batch without a bound").kind();
    assert_eq!(kind, StoreErrorKind::BatchTooLarge);
    assert!(!kind.is_transient());
    for number in [0, 1, MAX_BATCH - 1, MAX_BATCH] {
        assert_eq!(inbox.get(&key(&format!("e{number}"))), None);
    }
    inbox.none_due();
}

/// So much may be kept of one batch, and not a byte more.
pub(super) fn bytes_are_bounded(inbox: &Inbox<'_>, store: Store<'_>) {
    let long = "x".repeat(MAX_BATCH_BYTES / 4);
    let mut all: Vec<_> = (0..4)
        .map(|n| inbox.parcel_of(&format!("e{n}"), &long))
        .collect();
    let bytes: usize = all.iter().map(Parcel::bytes).sum();
    assert_eq!(bytes, MAX_BATCH_BYTES);
    all.push(inbox.parcel_of("more", "1"));
    let refused = inbox.wait(async { store.accept_many(all.clone()).await });
    let kind = refused.expect_err("a batch without a bound").kind();
    assert_eq!(kind, StoreErrorKind::BatchTooLarge);
    assert_eq!(inbox.get(&key("e0")), None);
    all.truncate(4);
    let answers = accept_many(inbox, store, all);
    assert_eq!(names(&answers), ["new"; 4]);
    let parked = inbox.parked("e3").expect("its body is kept");
    assert!(parked.body == long.as_bytes(), "a body has changed");
}

/// Bodies are bytes, short ones beside long ones, and each goes with its own facts and headers.
pub(super) fn bodies_headers_and_facts_are_kept(inbox: &Inbox<'_>, store: Store<'_>) {
    let long: String = std::iter::repeat_n("0123456789abcde\n", 20_000).collect();
    let medium: String = long.chars().take(100_000).collect();
    let bodies = [
        "",
        &medium,
        "\0",
        "a\0b",
        &long,
        "\r\n",
        &medium,
        "'; DROP TABLE x; --",
        &medium,
        "[\"\\u0000\"]",
        "é🦀",
        "\\x00",
        "{}",
    ];
    let mut sent = Vec::new();
    for (n, body) in bodies.iter().enumerate() {
        let (id, attempt) = (format!("e{n:02}"), format!("a{n}"));
        let mut signed = post::attempt(inbox.now(), &id, &attempt, body);
        let value = format!("{n} = é\"\\'{{}}");
        signed.headers.push(("X-Kept".into(), value));
        let parcel = inbox.parcel_from(&id, &signed);
        sent.push(match n % 3 {
            0 => parcel,
            _ => parcel.keep(&signed, "x-kept"),
        });
    }
    inbox.at(secs(3));
    let answers = accept_many(inbox, store, sent.clone());
    assert_eq!(names(&answers), vec!["new"; bodies.len()]);
    let mut leased = inbox.due();
    leased.sort_by_key(|(lease, _)| lease.key().id().to_owned());
    assert_eq!(leased.len(), bodies.len());
    for ((lease, parked), parcel) in leased.into_iter().zip(sent) {
        let kept = parcel.park(inbox.now());
        assert!(parked.body == kept.body, "{} has changed", kept.key.id());
        assert_eq!(parked, kept);
        assert_eq!(inbox.parked(kept.key.id()), Some(kept));
        inbox.settle(lease, Verdict::done(""));
    }
}

/// Ids that could be taken for each other, or for a part of a statement.
pub(super) fn odd_ids_in_a_batch(inbox: &Inbox<'_>, store: Store<'_>) {
    let long = "x".repeat(crate::event::MAX_ID_BYTES);
    let ids = [
        "A", "a", "a ", " a", "é", "e\u{301}", "'", "\"", "\\", "{a,b}", "[1]", "NULL", "null",
        "%s", "🦀", &long,
    ];
    let parcel = |id: &&str| {
        let signed = post::attempt(inbox.now(), "odd", "a1", id);
        inbox.parcel_from(id, &signed)
    };
    let all: Vec<_> = ids.iter().map(parcel).collect();
    let answers = accept_many(inbox, store, all.clone());
    assert_eq!(names(&answers), ["new"; 16]);
    let again = accept_many(inbox, store, all);
    assert_eq!(names(&again), ["pending"; 16]);
    for (id, answer) in ids.into_iter().zip(again) {
        assert_eq!(receipt(answer), inbox.row(id));
    }
    let due = inbox.due();
    assert_eq!(due.len(), 16);
    for (lease, parked) in due {
        assert_eq!(parked.body, lease.key().id().as_bytes());
        inbox.settle(lease, Verdict::done(""));
    }
}

/// An event that comes twice is stored once, by the first delivery, and the next are told so.
pub(super) fn repeated_event_is_stored_once(inbox: &Inbox<'_>, store: Store<'_>) {
    let answers = accept_many(inbox, store, parcels(inbox, [1, 2, 1, 3, 2, 1]));
    let expected = ["new", "new", "pending", "new", "pending", "pending"];
    assert_eq!(names(&answers), expected);
    for (id, answer) in ["e1", "e2", "e1", "e3", "e2", "e1"]
        .into_iter()
        .zip(answers)
    {
        assert_eq!(receipt(answer), inbox.row(id));
    }
    assert_eq!(lease_all(inbox), ["e1", "e2", "e3"]);
}

/// If it comes with other content the second time, that is a conflict, and the first stands.
pub(super) fn repeated_event_with_other_content(inbox: &Inbox<'_>, store: Store<'_>) {
    let parcels = vec![
        inbox.parcel_of("e1", "first"),
        inbox.parcel_of("e1", "second"),
        inbox.parcel_of("e1", "first"),
        inbox.parcel("e2"),
    ];
    let answers = accept_many(inbox, store, parcels);
    assert_eq!(names(&answers), ["new", "conflict", "pending", "new"]);
    match &answers[1] {
        Accepted::Conflict(conflict) => {
            assert_eq!(conflict.receipt, inbox.row("e1"));
            assert_eq!(conflict.presented, Fingerprint::of(b"second"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(inbox.parked("e1").unwrap().body, b"first");
    assert_eq!(lease_all(inbox), ["e1", "e2"]);
}

/// A known event that comes twice has the same answer twice.
pub(super) fn repeated_known_event(inbox: &Inbox<'_>, store: Store<'_>) {
    inbox.take_in("done");
    let done = inbox.done("done");
    inbox.at(HOUR);
    let parcels = vec![
        inbox.parcel("done"),
        inbox.parcel("new"),
        inbox.parcel_of("done", "other"),
        inbox.parcel("done"),
    ];
    let answers = accept_many(inbox, store, parcels);
    let expected = ["duplicate", "new", "conflict", "duplicate"];
    assert_eq!(names(&answers), expected);
    assert_eq!(inbox.row("done"), done);
    inbox.done("new");
    inbox.none_due();
}

/// Events that were claimed elsewhere and are not done: their bodies are stored, once, and if nothing
/// comes of the claim the inbox has them.
pub(super) fn claimed_events_are_adopted(inbox: &Inbox<'_>, store: Store<'_>) {
    let ask = |id| inbox.parcel(id).claiming().clone().lease(LEASE);
    let running = inbox.win(ask("running"));
    let failed = inbox.win(ask("failed"));
    inbox.settle(failed, Verdict::retry(secs(30)));
    inbox.stall(inbox.win(ask("changed")));
    let parcels = vec![
        inbox.parcel_of("changed", "other"),
        inbox.parcel("running"),
        inbox.parcel("new"),
        inbox.parcel("running"),
        inbox.parcel("failed"),
        inbox.parcel_of("running", "other"),
    ];
    let answers = accept_many(inbox, store, parcels);
    let expected = [
        "conflict", "pending", "new", "pending", "pending", "conflict",
    ];
    assert_eq!(names(&answers), expected);
    for (id, answer) in ["changed", "running", "new", "running", "failed", "running"]
        .into_iter()
        .zip(answers)
    {
        assert_eq!(receipt(answer), inbox.row(id));
        assert_eq!(inbox.parked(id).is_some(), id != "changed");
    }
    inbox.done("new");
    inbox.none_due();
    inbox.release(running);
    assert_eq!(lease_all(inbox), ["running"]);
    inbox.at(secs(30));
    assert_eq!(lease_all(inbox), ["failed"]);
    for id in ["running", "failed"] {
        assert_eq!(inbox.row(id).attempts, 2);
    }
}

/// In conflict with a claim elsewhere, the first delivery says nothing of the second, which is
/// adopted.
pub(super) fn conflict_then_adoption_in_one_batch(inbox: &Inbox<'_>, store: Store<'_>) {
    let ask = inbox.parcel("e1").claiming().clone().lease(LEASE);
    let elsewhere = inbox.win(ask);
    let parcels = vec![inbox.parcel_of("e1", "other"), inbox.parcel("e1")];
    let answers = accept_many(inbox, store, parcels);
    assert_eq!(names(&answers), ["conflict", "pending"]);
    assert_eq!(inbox.parked("e1").unwrap().body, body("e1").as_bytes());
    inbox.release(elsewhere);
    inbox.done("e1");
}

/// A fence never comes twice, whether the event came in by a batch or by a claim.
pub(super) fn fences_in_accepted_batches_are_not_reused(inbox: &Inbox<'_>, store: Store<'_>) {
    let mut last = Fence(0);
    for round in 0..6 {
        if round % 2 == 0 {
            for answer in accept_many(inbox, store, parcels(inbox, [1, 2])) {
                let received = receipt(answer);
                assert_eq!(received.state, State::Received);
                assert!(received.key != key("e1") || received.fence > last);
            }
            let due = inbox.due();
            assert_eq!(due.len(), 2);
            for (lease, _) in due {
                if lease.key() == &key("e1") {
                    last = lease.fence();
                }
                inbox.stall(lease);
            }
        } else {
            let Claim::New(lease) = inbox.claim(Claiming::business(key("e1"))) else {
                panic!("it was forgotten");
            };
            assert!(lease.fence() > last, "{} after {last}", lease.fence());
            last = lease.fence();
            inbox.stall(lease);
        }
        inbox.forget(&key("e1"));
        inbox.forget(&key("e2"));
    }
}
