//! Reviews on a server: odd sessions, other people's locks, dropped calls, and what is written and
//! read.

use std::time::Duration;

use hookproof::{
    EventKey, IdempotencyStore, MySqlStore, Secrets, State,
    inbox::{InboxStore, Leasing, Parcel},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge,
        ReviewStatus, ReviewStore,
    },
    scheme,
    store::{StoreErrorKind, sql::TxClaim},
    testing::sign,
};

use super::{
    Bench, LEASE, START, batch,
    common_server::mysql::MySql,
    crash,
    inbox::{dropped::dropped_after, verified},
    key, number,
    quiet::counts,
    races, run, try_batch, url,
};

const HOUR: Duration = Duration::from_secs(3600);

/// A delivery of this event that came an hour late, and whose body is the id.
pub(super) fn stale_as(key: EventKey) -> Case {
    const SECRET: &str = "a-secret-of-sufficient-length";
    let signed = sign(&scheme::STRIPE, SECRET, key.id().as_bytes(), START - HOUR).unwrap();
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
    let rejection = hookproof::verify(&signed.body, &signed, &secrets, START).unwrap_err();
    Case::stale(&rejection.into_stale().unwrap(), key)
}

pub(super) fn stale(id: &str) -> Case {
    stale_as(key(id))
}

pub(super) async fn kept(store: &MySqlStore, case: Case) -> Review {
    match store.keep(case).await.unwrap() {
        Kept::New(review) => review,
        other => panic!("{other:?}"),
    }
}

async fn open(store: &MySqlStore) -> usize {
    store.reviews(ReviewListing::open()).await.unwrap().len()
}

/// Does what is due, which must be this event alone.
async fn done_once(store: &MySqlStore, id: &str) {
    let mut leased = store.lease_due(Leasing::up_to(9)).await.unwrap().events;
    assert_eq!(leased.len(), 1);
    let (lease, parked) = leased.remove(0);
    assert_eq!((lease.key(), &*parked.body), (&key(id), id.as_bytes()));
    super::settle(store, lease, "done").await;
}

/// Nothing would be committed, or could be believed.
#[test]
fn sessions_that_cannot_be_right_are_refused() {
    for setting in [
        "autocommit = 0",
        "SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    ] {
        let bench = Bench::new();
        let review = run(kept(&bench.store(), stale("e1")));
        let odd = Bench::of(&bench.url, &bench.schema, &[setting], 1);
        let store = odd.store();
        run(async {
            let purge = ReviewPurge::unresolved(Duration::ZERO);
            let answers = [
                store.keep(stale("e1")).await.map(drop),
                store.keep(stale("e2")).await.map(drop),
                store.reviews(ReviewListing::open()).await.map(drop),
                store.review(&review.id).await.map(drop),
                store.admit(&review.id).await.map(drop),
                store.discard(&review.id).await.map(drop),
                store.purge_reviews(purge).await.map(drop),
            ];
            for answer in answers {
                assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Misuse);
            }
        });
        assert_eq!(run(open(&bench.store())), 1, "{setting}");
    }
}

/// A table of other hands under this name shows at the start.
#[test]
fn a_table_of_other_hands_is_refused() {
    let bench = Bench::bare(url(), &[], 2);
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "CREATE TABLE webhook_review (id binary(16))").await;
        let error = bench.store().migrate().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
    });
}

/// Nor does the table hold what is neither open nor resolved.
#[test]
fn rows_that_are_none_are_refused() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let review = kept(&store, stale("e1")).await;
        let mut other = bench.beside().await;
        for change in [
            "status = 1",
            "status = 3, resolved_at = 0, body = NULL",
            "resolved_at = 0, body = NULL",
            "body = NULL",
            "status = 2, resolved_at = 0",
            "reason = 3",
        ] {
            let sql = format!("UPDATE webhook_review SET {change}");
            try_batch(&mut other, &sql).await.unwrap_err();
        }
        let (untouched, delivery) = store.review(&review.id).await.unwrap().unwrap();
        assert_eq!((untouched, &*delivery.unwrap().body), (review, &b"e1"[..]));
    });
}

/// Without strict mode, what is too long is cut off. Nothing is.
#[test]
fn the_longest_names_are_kept_without_strict_mode() {
    let bench = Bench::with(url(), &["sql_mode = ''"], 2);
    let store = bench.store();
    run(async {
        let id = "é".repeat(1024);
        let key = EventKey::business(&"t".repeat(255), &"p".repeat(255), &id).unwrap();
        let review = kept(&store, stale_as(key.clone())).await;
        assert_eq!(
            store.keep(stale_as(key.clone())).await.unwrap(),
            Kept::Known(review.clone())
        );
        let admission = store.admit(&review.id).await.unwrap();
        assert!(matches!(&admission, Admission::Accepted(_, receipt) if receipt.key == key));
        let parked = store.parked(&key).await.unwrap().unwrap();
        assert_eq!(parked.body, id.as_bytes());
    });
}

/// A review of an event that is in somebody's open transaction, new or known, is told to wait, and
/// stays as it is.
#[test]
fn an_event_in_somebodys_transaction_is_not_admitted() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for known in [false, true] {
            let id = format!("e_{known}");
            let case = stale(&id);
            let review = kept(&store, case).await;
            let claiming = review.claiming().lease(LEASE);
            if known {
                let claim = store.claim(claiming.clone()).await.unwrap();
                crash(super::won(claim));
                bench.clock.advance(LEASE);
            }
            let mut tx = bench.pool.begin().await.unwrap();
            let TxClaim::New(lease) = store.claim_in(&mut tx, claiming).await.unwrap() else {
                panic!("not won");
            };
            let admission = store.admit(&review.id).await.unwrap();
            assert!(
                matches!(admission, Admission::InProgress { .. }),
                "{admission:?}"
            );
            let (untouched, _) = store.review(&review.id).await.unwrap().unwrap();
            assert_eq!(untouched, review);
            tx.rollback().await.unwrap();
            drop(lease);
            match store.admit(&review.id).await.unwrap() {
                Admission::Accepted(..) => assert!(!known),
                Admission::Known(..) => assert!(known),
                other => panic!("{other:?}"),
            }
            done_once(&store, &id).await;
        }
    });
}

/// In a table of few rows, too, only the review itself is locked; and what is locked is not purged.
#[test]
fn who_is_at_a_review_holds_nobody_up_at_another() {
    let bench = Bench::with(url(), &["innodb_lock_wait_timeout = 1"], 3);
    let store = bench.store();
    run(async {
        let [held, admitted, discarded] = [
            kept(&store, stale("e1")).await,
            kept(&store, stale("e2")).await,
            kept(&store, stale("e3")).await,
        ];
        let mut other = bench.beside().await;
        let id = held.id.to_string();
        let lock = format!("BEGIN; SELECT 1 FROM webhook_review WHERE id = x'{id}' FOR UPDATE");
        batch(&mut other, &lock).await;
        let admission = store.admit(&admitted.id).await.unwrap();
        assert!(matches!(admission, Admission::Accepted(..)));
        let discarding = store.discard(&discarded.id).await.unwrap();
        assert!(matches!(discarding, Discarding::Discarded(_)));
        kept(&store, stale("e4")).await;
        bench.clock.advance(HOUR);
        let purge = ReviewPurge::unresolved(HOUR);
        assert_eq!(store.purge_reviews(purge).await.unwrap(), 1);
        assert_eq!(
            store
                .purge_reviews(ReviewPurge::resolved(HOUR))
                .await
                .unwrap(),
            2
        );
        // Who wants this very one is told that it is taken.
        let error = store.discard(&held.id).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        let error = store.admit(&held.id).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        batch(&mut other, "ROLLBACK").await;
        assert_eq!(store.get(&key("e1")).await.unwrap(), None);
        assert_eq!(open(&store).await, 1);
        assert_eq!(store.purge_reviews(purge).await.unwrap(), 1);
    });
}

/// Dropped at each of its awaits in turn: either the review is open, and there is nothing in the
/// inbox, or it is admitted, and there is all.
#[test]
fn admitting_is_all_or_nothing() {
    let bench = Bench::with(url(), &[], 2);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        for known in [false, true] {
            let mut polls = 0;
            loop {
                let id = format!("e{polls}_{known}");
                let review = kept(&store, stale(&id)).await;
                if known {
                    let claim = store.claim(review.claiming()).await.unwrap();
                    store.release(super::won(claim)).await.unwrap();
                }
                let is_done = dropped_after(polls, store.admit(&review.id)).await;
                bench.calm(&mut beside).await;
                // Exactly those that are in the inbox have been admitted.
                let half = "SELECT count(*) FROM webhook_review v \
                            LEFT JOIN webhook_receipt r ON r.event_id = v.event_id \
                            LEFT JOIN webhook_inbox i ON i.`key` = r.`key` \
                            LEFT JOIN webhook_inbox_due q ON q.`key` = r.`key` \
                            WHERE (i.`key` IS NULL) <> (v.status = 0) \
                            OR (v.status = 0 AND q.`key` IS NOT NULL) \
                            OR (v.status = 1 AND r.state IN (0, 1, 3) AND q.`key` IS NULL)";
                assert_eq!(number(&mut beside, half).await, 0, "after {polls} polls");
                let in_tables = "SELECT count(*) FROM webhook_inbox_due";
                let due = number(&mut beside, in_tables).await;
                match store.admit(&review.id).await.unwrap() {
                    Admission::Accepted(..) => assert!(!known && due == 0),
                    Admission::Known(..) => assert!(known && due == 0),
                    Admission::Resolved(_) => assert_eq!(due, 1),
                    other => panic!("{other:?}"),
                }
                done_once(&store, &id).await;
                if is_done {
                    break;
                }
                polls += 1;
            }
            assert!(polls > 0);
        }
    });
}

/// One decides, and the event is in the inbox or it is not; also where a transaction is told that a row
/// has changed since its snapshot.
#[test]
fn one_decides_among_many() {
    for settings in [&[][..], &["innodb_snapshot_isolation = ON"]] {
        let bench = Bench::with(url(), settings, 8);
        let store = bench.store();
        run(async {
            for round in 0..30 {
                let id = format!("e{round}");
                let review = kept(&store, stale(&id)).await;
                let decided = races::all((0..8).map(|n: usize| {
                    let (store, id) = (&store, &review.id);
                    async move {
                        if n.is_multiple_of(2) {
                            let discarding = store.discard(id).await.unwrap();
                            usize::from(matches!(discarding, Discarding::Discarded(_)))
                        } else {
                            let admission = store.admit(id).await.unwrap();
                            usize::from(matches!(admission, Admission::Accepted(..)))
                        }
                    }
                }))
                .await;
                assert_eq!(decided.iter().sum::<usize>(), 1, "{decided:?}");
                let (review, _) = store.review(&review.id).await.unwrap().unwrap();
                match review.status {
                    ReviewStatus::Admitted => done_once(&store, &id).await,
                    _ => assert_eq!(store.get(&key(&id)).await.unwrap(), None),
                }
            }
        });
    }
}

/// The same delivery again, a resolved review and an unknown one are answered by reading.
#[test]
fn what_is_known_writes_nothing() {
    let server = run(MySql::start(&["--log-bin=log"]));
    let bench = Bench::with(&server.url(), &[], 2);
    let store = bench.store();
    run(async {
        kept(&store, stale("open")).await;
        let discarded = kept(&store, stale("discarded")).await.id;
        drop(store.discard(&discarded).await.unwrap());
        let admitted = kept(&store, stale("admitted")).await.id;
        drop(store.admit(&admitted).await.unwrap());
        let mut beside = bench.beside().await;
        let known = async || {
            for id in ["open", "discarded", "admitted"] {
                let kept = store.keep(stale(id)).await.unwrap();
                assert!(matches!(kept, Kept::Known(_)), "{kept:?}");
            }
            for id in [&discarded, &admitted] {
                let admission = store.admit(id).await.unwrap();
                assert!(matches!(admission, Admission::Resolved(_)), "{admission:?}");
                let discarding = store.discard(id).await.unwrap();
                assert!(matches!(discarding, Discarding::Resolved(_)));
            }
            let unknown = ReviewId::from_bytes([7; 16]);
            assert_eq!(store.discard(&unknown).await.unwrap(), Discarding::Unknown);
        };
        known().await;
        let before = counts(&mut beside).await;
        // Nor does somebody's lock hold it up.
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN; SELECT 1 FROM webhook_review FOR UPDATE").await;
        for _ in 0..50 {
            known().await;
        }
        batch(&mut other, "ROLLBACK").await;
        assert_eq!(counts(&mut beside).await, before);
        // That the numbers tell.
        kept(&store, stale("new")).await;
        assert_ne!(counts(&mut beside).await, before);
    });
}

/// However many there are: what is listed or purged is found by indexes.
#[test]
fn no_table_is_read_from_end_to_end() {
    const MANY: usize = 10_000;
    let bench = Bench::with(url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        kept(&store, stale("e1")).await;
        let old = kept(&store, stale("e2")).await;
        drop(store.discard(&old.id).await.unwrap());
        // Discarded ones, later than the two.
        let fill = format!(
            "INSERT INTO webhook_review (id, retention, body_bytes, kept_at, resolved_at, received_at, \
             coverage, reason, status, presented, tenant, provider, event_id, scheme) \
             SELECT UNHEX(MD5(slot)), 0, 0, {now} + slot, {now} + slot, 0, 0, 2, 2, '', '', 'p', 'e', 's' \
             FROM webhook_receipt_slot WHERE slot BETWEEN 1 AND {MANY}",
            now = START.unix_timestamp() * 1_000_000,
        );
        batch(&mut beside, &fill).await;
        let read = "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.session_status \
                    WHERE variable_name IN ('HANDLER_READ_RND_NEXT', 'HANDLER_READ_NEXT', \
                    'HANDLER_READ_RND')";
        let read = async || -> i64 {
            let mut connection = bench.pool.acquire().await.unwrap();
            number(&mut connection, read).await
        };
        // What asking costs.
        let asking = read().await;
        let asking = read().await - asking;
        let before = read().await;
        assert_eq!(open(&store).await, 1);
        let resolved = ReviewPurge::resolved(Duration::ZERO);
        assert_eq!(store.purge_reviews(resolved).await.unwrap(), 1);
        let unresolved = ReviewPurge::unresolved(Duration::ZERO);
        assert_eq!(store.purge_reviews(unresolved).await.unwrap(), 1);
        assert_eq!(store.purge_reviews(unresolved).await.unwrap(), 0);
        bench.clock.advance(HOUR);
        assert_eq!(store.purge_reviews(resolved.at_most(50)).await.unwrap(), 50);
        let asked = read().await - before - asking;
        assert!(asked > 0 && asked < 500, "{asked} rows were read");
    });
}

/// Nobody's body is written over, and a place in the queue that is put off stays.
#[test]
fn what_waits_in_the_inbox_is_left_there() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let review = kept(&store, stale("e1")).await;
        let parcel = verified("e1", |delivery| Parcel::new(delivery, review.claiming()));
        drop(store.accept(parcel).await.unwrap());
        let mut leased = store.lease_due(Leasing::up_to(9)).await.unwrap().events;
        let (lease, _) = leased.remove(0);
        let retry = hookproof::Verdict::retry(HOUR);
        store.settle(lease, retry).await.unwrap();
        let mut beside = bench.beside().await;
        let row =
            "SELECT due_at + (SELECT mark FROM webhook_receipt) % 1000 FROM webhook_inbox_due";
        let before = number(&mut beside, row).await;
        let admission = store.admit(&review.id).await.unwrap();
        assert!(
            matches!(&admission, Admission::Known(_, receipt) if receipt.state == State::Failed),
            "{admission:?}"
        );
        assert_eq!(number(&mut beside, row).await, before);
        bench.clock.advance(HOUR);
        done_once(&store, "e1").await;
    });
}
