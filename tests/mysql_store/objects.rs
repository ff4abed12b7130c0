//! Versions of objects: in the caller's own transaction, under every isolation level, and what they
//! must not write.

use hookproof::{Advance, ObjectKey, OrderGuard, Version, store::StoreErrorKind};
use sqlx::MySqlConnection;

use super::{Bench, PATIENCE, batch, number, races, run};

fn order(id: &str) -> ObjectKey {
    ObjectKey::new("tenant", "order", id).unwrap()
}

fn v(number: i64) -> Version {
    Version::number(number)
}

fn applied(previous: Option<i64>) -> Advance {
    Advance::Applied {
        previous: previous.map(v),
    }
}

fn older(current: i64) -> Advance {
    Advance::Older {
        current: v(current),
    }
}

const ORDERS: &str = "CREATE TABLE orders (id varchar(9) PRIMARY KEY, revision bigint); \
                      INSERT INTO orders VALUES ('o1', 0)";
const REVISION: &str = "SELECT revision FROM orders";

async fn write(tx: &mut MySqlConnection, revision: i64) {
    let update = format!("UPDATE orders SET revision = {revision}");
    batch(tx, &update).await;
}

#[test]
fn version_and_rows_are_one_commit() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, ORDERS).await;
        for commits in [false, true] {
            let mut tx = bench.pool.begin().await.unwrap();
            let first = store.advance_in(&mut tx, &order("o1"), v(3)).await.unwrap();
            assert_eq!(first, applied(None));
            write(&mut tx, 3).await;
            // Within the transaction it stands already; nobody else sees it.
            let late = store.advance_in(&mut tx, &order("o1"), v(2)).await.unwrap();
            assert_eq!(late, older(3));
            assert_eq!(store.current(&order("o1")).await.unwrap(), None);
            match commits {
                true => tx.commit().await.unwrap(),
                false => tx.rollback().await.unwrap(),
            }
            let stands = commits.then(|| v(3));
            assert_eq!(store.current(&order("o1")).await.unwrap(), stands);
            let revision = if commits { 3 } else { 0 };
            assert_eq!(number(&mut other, REVISION).await, revision);
        }
    });
}

/// What was refused has not ended the transaction.
#[test]
fn a_refusal_leaves_the_transaction_usable() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let first = store.advance_in(&mut tx, &order("o1"), v(3)).await;
        assert_eq!(first.unwrap(), applied(None));
        let time = Version::at(super::START);
        let refused = store.advance_in(&mut tx, &order("o1"), time).await;
        assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Misuse);
        let next = store.advance_in(&mut tx, &order("o1"), v(4)).await;
        assert_eq!(next.unwrap(), applied(Some(3)));
        tx.commit().await.unwrap();
    });
}

/// On a connection that is in no transaction each statement would be one: the version would stand
/// whatever becomes of the rows.
#[test]
fn without_a_transaction_it_is_misuse() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        let error = store.advance_in(&mut other, &order("o1"), v(1)).await;
        assert_eq!(error.unwrap_err().kind(), StoreErrorKind::Misuse);
        assert_eq!(store.current(&order("o1")).await.unwrap(), None);
    });
}

/// The older version's transaction begins later and would commit later: it waits for the newer
/// one's, and is then told. The row that a snapshot of its own would not show decides.
#[test]
fn transactions_on_one_object_wait_for_each_other() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for (id, commits) in [("rolled back", false), ("committed", true)] {
            let mut tx = bench.beside().await;
            batch(&mut tx, "BEGIN").await;
            let newer = store.advance_in(&mut tx, &order(id), v(2)).await.unwrap();
            assert_eq!(newer, applied(None));
            let mut second = bench.pool.begin().await.unwrap();
            let (object, end) = (order(id), if commits { "COMMIT" } else { "ROLLBACK" });
            let (answer, ()) = tokio::join!(store.advance_in(&mut second, &object, v(1)), async {
                bench.waiting(1).await;
                batch(&mut tx, end).await;
            });
            let expected = if commits { older(2) } else { applied(None) };
            assert_eq!(answer.unwrap(), expected);
            second.commit().await.unwrap();
            let stands = if commits { 2 } else { 1 };
            assert_eq!(store.current(&order(id)).await.unwrap(), Some(v(stands)));
        }
    });
}

/// The version that an old snapshot hides decides all the same, and is not written over.
#[test]
fn an_old_snapshot_writes_over_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for stands in [None, Some(1)] {
            let id = format!("{stands:?}");
            if let Some(number) = stands {
                let first = store.advance(&order(&id), v(number)).await.unwrap();
                assert_eq!(first, applied(None));
            }
            let mut tx = bench.beside().await;
            let begin = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN";
            batch(&mut tx, begin).await;
            number(&mut tx, "SELECT COUNT(*) FROM webhook_object").await;
            let newer = store.advance(&order(&id), v(5)).await.unwrap();
            assert_eq!(newer, applied(stands));
            let late = store.advance_in(&mut tx, &order(&id), v(4)).await.unwrap();
            assert_eq!(late, older(5));
            let next = store.advance_in(&mut tx, &order(&id), v(6)).await.unwrap();
            assert_eq!(next, applied(Some(5)));
            batch(&mut tx, "COMMIT").await;
            assert_eq!(store.current(&order(&id)).await.unwrap(), Some(v(6)));
        }
    });
}

/// Two transactions that each advance a new object lock no gap that the other one's row lies in.
#[test]
fn new_objects_are_not_waited_for() {
    const OBJECTS: usize = 8;
    let set = "SESSION innodb_lock_wait_timeout = 1";
    let bench = Bench::with(super::url(), &[set], OBJECTS as u32);
    let store = bench.store();
    run(async {
        let mut open = Vec::new();
        for _ in 0..OBJECTS {
            let mut tx = bench.pool.begin().await.unwrap();
            number(&mut tx, "SELECT COUNT(*) FROM webhook_object").await;
            open.push(tx);
        }
        for round in 0..3 {
            for (n, tx) in open.iter_mut().enumerate() {
                let object = order(&format!("o{n} {round}"));
                let first = store.advance_in(tx, &object, v(1)).await.unwrap();
                assert_eq!(first, applied(None));
            }
        }
        for tx in open {
            tx.commit().await.unwrap();
        }
    });
}

/// On the pool, as in transactions: nobody who was told `Applied` was told of a version before that
/// was not the one before.
#[test]
fn racing_versions_are_one_chain() {
    const VERSIONS: i64 = 120;
    for url in [super::url(), super::found_rows::url()] {
        let bench = Bench::with(url, &[], 10);
        let store = bench.store();
        run(async {
            let store = &store;
            let work = (0..VERSIONS).map(|n| async move {
                // In an order of its own.
                let version = (n * 77) % VERSIONS + 1;
                match store.advance(&order("o1"), v(version)).await.unwrap() {
                    Advance::Applied { previous } => Some((version, previous)),
                    _ => None,
                }
            });
            let told = tokio::time::timeout(PATIENCE, races::all(work)).await;
            let mut chain: Vec<_> = told.unwrap().into_iter().flatten().collect();
            chain.sort_unstable_by_key(|(version, _)| *version);
            let mut before = None;
            for (version, previous) in chain {
                assert_eq!(previous, before);
                before = Some(v(version));
            }
            assert_eq!(before, Some(v(VERSIONS)));
        });
    }
}

/// Many write one object's revisions in their own transactions, in any order: what is written last
/// is what is newest.
#[test]
fn the_newest_revision_is_what_is_written() {
    const WRITERS: i64 = 6;
    const REVISIONS: i64 = 60;
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let bench = Bench::with(super::url(), &[], 8);
        let store = bench.store();
        run(async {
            batch(&mut bench.beside().await, ORDERS).await;
            let (store, bench) = (&store, &bench);
            let work = (0..WRITERS).map(|writer| async move {
                let mut tx = bench.beside().await;
                for n in 0..REVISIONS {
                    // Each writer meets all, in an order of its own.
                    let revision = (n * 7 + writer * 10) % REVISIONS + 1;
                    loop {
                        let begin =
                            format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}; BEGIN");
                        batch(&mut tx, &begin).await;
                        match store.advance_in(&mut tx, &order("o1"), v(revision)).await {
                            Ok(Advance::Applied { previous }) => {
                                // As it is now, and not as it was when the transaction began.
                                let now = format!("{REVISION} FOR UPDATE");
                                let before = number(&mut tx, &now).await;
                                assert_eq!(previous, (before > 0).then(|| v(before)));
                                assert!(before < revision);
                                write(&mut tx, revision).await;
                            }
                            Ok(_) => {}
                            Err(error) if error.kind() == StoreErrorKind::Serialization => {
                                batch(&mut tx, "ROLLBACK").await;
                                continue;
                            }
                            Err(error) => panic!("{error:?}"),
                        }
                        if super::try_batch(&mut tx, "COMMIT").await.is_ok() {
                            break;
                        }
                        // SERIALIZABLE may say so at the end.
                        batch(&mut tx, "ROLLBACK").await;
                    }
                }
            });
            tokio::time::timeout(PATIENCE, races::all(work))
                .await
                .unwrap();
            assert_eq!(number(&mut bench.beside().await, REVISION).await, REVISIONS);
            let stands = store.current(&order("o1")).await.unwrap();
            assert_eq!(stands, Some(v(REVISIONS)));
        });
    }
}

/// A load of old versions writes no row and waits for nobody, not even for who has the row locked.
#[test]
fn old_versions_are_answered_without_writing_or_locking() {
    let server = run(super::MySql::start(&["--log-bin=log"]));
    let set = "SESSION innodb_lock_wait_timeout = 1";
    let bench = Bench::with(&server.url(), &[set], 4);
    let store = bench.store();
    run(async {
        let first = store.advance(&order("o1"), v(100)).await.unwrap();
        assert_eq!(first, applied(None));
        let mut beside = bench.beside().await;
        let written = "SELECT CAST(SUM(variable_value) AS SIGNED) \
                       FROM information_schema.global_status WHERE variable_name IN \
                       ('Binlog_commits', 'Handler_update', 'Innodb_rows_inserted', \
                        'Innodb_rows_updated', 'Innodb_row_lock_waits')";
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN; SELECT 1 FROM webhook_object FOR UPDATE").await;
        let before = number(&mut beside, written).await;
        for old in 1..100 {
            let late = store.advance(&order("o1"), v(old)).await.unwrap();
            assert_eq!(late, older(100));
            let mut tx = bench.pool.begin().await.unwrap();
            let late = store.advance_in(&mut tx, &order("o1"), v(old)).await;
            assert_eq!(late.unwrap(), older(100));
            tx.commit().await.unwrap();
        }
        let same = store.advance(&order("o1"), v(100)).await.unwrap();
        assert_eq!(same, Advance::Same { current: v(100) });
        assert_eq!(number(&mut beside, written).await, before);
        batch(&mut other, "ROLLBACK").await;
        // That the number tells.
        let next = store.advance(&order("o1"), v(101)).await.unwrap();
        assert_eq!(next, applied(Some(100)));
        assert!(number(&mut beside, written).await > before);
    });
}

/// A row of another object under the same digest never answers for this one.
#[test]
fn a_row_of_another_object_is_an_error() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let _ = store.advance(&order("o1"), v(3)).await.unwrap();
        let mut other = bench.beside().await;
        batch(&mut other, "UPDATE webhook_object SET object_id = 'other'").await;
        for version in [v(2), v(3), v(4)] {
            let error = store.advance(&order("o1"), version).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        }
        let error = store.forget_object(&order("o1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let rows = "SELECT COUNT(*) FROM webhook_object WHERE version = 3";
        assert_eq!(number(&mut other, rows).await, 1);
    });
}
