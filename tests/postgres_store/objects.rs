//! Versions of objects: in the caller's own transaction, under every isolation level, and what they
//! must not write.

use hookproof::{Advance, ObjectKey, OrderGuard, Version, store::StoreErrorKind};
use sqlx::PgConnection;

use super::{Bench, PATIENCE, Postgres, batch, number, races, run};

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

const ORDERS: &str = "CREATE TABLE orders (id text PRIMARY KEY, revision bigint); \
                      INSERT INTO orders VALUES ('o1', 0)";
const REVISION: &str = "SELECT revision FROM orders";

async fn write(tx: &mut PgConnection, revision: i64) {
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
                bench.waiting(1, "transactionid").await;
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

/// Under a stricter level the version that an old snapshot hides is not written over: the
/// transaction is to be run again. On the pool the store does so itself.
#[test]
fn an_old_snapshot_writes_over_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            for stands in [None, Some(1)] {
                let id = format!("{level} {stands:?}");
                if let Some(number) = stands {
                    let first = store.advance(&order(&id), v(number)).await.unwrap();
                    assert_eq!(first, applied(None));
                }
                let mut tx = bench.beside().await;
                batch(&mut tx, &format!("BEGIN ISOLATION LEVEL {level}")).await;
                number(&mut tx, "SELECT count(*) FROM webhook_object").await;
                let newer = store.advance(&order(&id), v(5)).await.unwrap();
                assert_eq!(newer, applied(stands));
                for asked in [4, 6] {
                    batch(&mut tx, "SAVEPOINT before").await;
                    let error = store.advance_in(&mut tx, &order(&id), v(asked)).await;
                    let kind = error.unwrap_err().kind();
                    assert_eq!(kind, StoreErrorKind::Serialization, "{id}");
                    batch(&mut tx, "ROLLBACK TO before").await;
                }
                batch(&mut tx, "ROLLBACK").await;
                assert_eq!(store.current(&order(&id)).await.unwrap(), Some(v(5)));
            }
        }
    });
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
                        batch(&mut tx, &format!("BEGIN ISOLATION LEVEL {level}")).await;
                        match store.advance_in(&mut tx, &order("o1"), v(revision)).await {
                            Ok(Advance::Applied { previous }) => {
                                let before = number(&mut tx, REVISION).await;
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

/// A load of old versions adds nothing to the log and uses no transaction numbers up; newer ones
/// are changed in place.
#[test]
fn old_versions_are_answered_without_writing() {
    let silent = [
        "autovacuum=off",
        "wal_level=minimal",
        "max_wal_senders=0",
        "checkpoint_timeout=1d",
    ];
    let server = run(Postgres::start(&silent));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        let first = store.advance(&order("o1"), v(100)).await.unwrap();
        assert_eq!(first, applied(None));
        let mut other = bench.beside().await;
        let position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
        let next = "SELECT txid_snapshot_xmax(txid_current_snapshot())";
        // Catalogue pages that are read for the first time may be tidied up.
        assert_eq!(store.advance(&order("o1"), v(1)).await.unwrap(), older(100));
        let before = (
            number(&mut other, position).await,
            number(&mut other, next).await,
        );
        for old in 1..100 {
            assert_eq!(
                store.advance(&order("o1"), v(old)).await.unwrap(),
                older(100)
            );
        }
        let same = store.advance(&order("o1"), v(100)).await.unwrap();
        assert_eq!(same, Advance::Same { current: v(100) });
        let after = (
            number(&mut other, position).await,
            number(&mut other, next).await,
        );
        assert_eq!(after, before);

        for new in 101..=150 {
            let _ = store.advance(&order("o1"), v(new)).await.unwrap();
        }
        bench.pool.close().await;
        // Sessions report what they did when they end.
        let moved = "SELECT n_tup_upd * 1000 + n_tup_hot_upd FROM pg_stat_user_tables \
                     WHERE relname = 'webhook_object'";
        let since = std::time::Instant::now();
        while number(&mut other, moved).await / 1000 < 50 {
            assert!(since.elapsed() < PATIENCE, "the server reports nothing");
        }
        assert_eq!(number(&mut other, moved).await, 50_050);
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
        assert_eq!(store.forget_object(&order("o1")).await.unwrap(), None);
        let rows = "SELECT count(*) FROM webhook_object WHERE version = 3";
        assert_eq!(number(&mut other, rows).await, 1);
    });
}
