//! Many deliveries in one call: each is answered as it would be alone, one after the other. What comes twice or
//! is claimed elsewhere is in `batch_known.rs`, races in `batch_races.rs`.

use super::{
    super::{
        bench::{DAY, HOUR, key, secs},
        post,
    },
    bench::{Inbox, body},
};
use crate::{
    Claiming, Fingerprint, Receipt, State, Verdict,
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

pub(super) fn names(answers: &[Accepted]) -> Vec<&'static str> {
    answers.iter().map(name).collect()
}

#[track_caller]
pub(super) fn receipt(accepted: Accepted) -> Receipt {
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
