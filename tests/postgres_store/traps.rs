//! One test for each trap that PostgreSQL sets for such statements, named after it.

use std::time::Duration;

use hookproof::{
    Claim, Claiming, EventKey, Fence, Fingerprint, IdempotencyStore, Verdict,
    store::{State, StoreErrorKind, StoredRow, sql::TxClaim},
};
use time::OffsetDateTime;

use super::{
    Bench, Between, LEASE, START, ask, batch, duplicate, judged::insert, key, number, run, settle,
    statement, win, win_in, won,
};

/// `ON CONFLICT … RETURNING` gives no row when another's claim is committed between the snapshot
/// and the insert.
#[test]
fn no_row_from_on_conflict_is_looked_at_again() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        for state in [State::Processed, State::InProgress, State::Failed] {
            let id = format!("{state:?}");
            // By somebody who takes no lock beside the row's.
            batch(&mut other, "BEGIN").await;
            insert(&mut other, &key(&id), committed(state)).await;
            let (claim, ()) = tokio::join!(store.claim(ask(&id)), async {
                bench.waiting(1, "transactionid").await;
                batch(&mut other, "COMMIT").await;
            });
            let kept = store.get(&key(&id)).await.unwrap();
            match claim.unwrap() {
                Claim::Duplicate(receipt) if state == State::Processed => {
                    assert_eq!(Some(receipt), kept);
                }
                Claim::InProgress { receipt, .. } if state == State::InProgress => {
                    assert_eq!(Some(receipt), kept);
                }
                Claim::New(lease) if state == State::Failed => {
                    assert_eq!((lease.fence(), lease.attempt()), (Fence(2), 2));
                    settle(&store, lease, "").await;
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

/// What somebody else has claimed, failed or done.
pub(crate) fn committed(state: State) -> StoredRow {
    let start = i64::try_from(START.unix_timestamp_nanos() / 1_000).unwrap();
    StoredRow {
        fingerprint: Fingerprint::of(b"content").as_bytes().to_vec(),
        state: state.code(),
        attempts: 1,
        fence: 1,
        until: (state == State::InProgress).then_some(start + 1_000_000),
        received_at: start,
        changed_at: start,
        expires_at: start + 1_000_000_000,
        result: None,
    }
}

/// A raised unique violation would end the caller's transaction.
#[test]
fn a_known_event_raises_nothing_in_the_callers_transaction() {
    let bench = Bench::new();
    run(async {
        let mut connection = bench.beside().await;
        batch(&mut connection, "CREATE TABLE invoice (event text)").await;
        let other = bench.store();
        let clock = Between::look_and_claim(async move {
            let lease = win(&other, "e1").await;
            settle(&other, lease, "done").await;
        });
        let store = bench.builder().clock(clock).build();
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        // Unknown when it is looked for, known when it is inserted.
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        batch(&mut tx, "INSERT INTO invoice VALUES ('mine')").await;
        batch(&mut tx, "COMMIT").await;

        // The same where one statement looks and inserts.
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN").await;
        insert(&mut other, &key("e2"), committed(State::Processed)).await;
        let mut tx = bench.pool.begin().await.unwrap();
        let store = bench.store();
        let (claim, ()) = tokio::join!(store.claim_in(&mut tx, ask("e2")), async {
            bench.waiting(1, "transactionid").await;
            batch(&mut other, "COMMIT").await;
        });
        assert!(matches!(claim.unwrap(), TxClaim::Duplicate(_)));
        batch(&mut tx, "INSERT INTO invoice VALUES ('mine')").await;
        tx.commit().await.unwrap();
        let invoices = number(&mut connection, "SELECT count(*) FROM invoice").await;
        assert_eq!(invoices, 2);
    });
}

/// `now()` is when the transaction began: a lease counted from it would be over before it is given
/// in a transaction that lasts.
#[test]
fn a_lease_is_counted_from_the_claim_and_not_from_the_transactions_begin() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let micros = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let before = number(&mut tx, micros).await;
        let begun = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";
        assert!(number(&mut tx, begun).await < before);
        let lease = win_in(&store, &mut tx, "e1").await;
        let after = number(&mut tx, micros).await;
        assert!((before..=after).contains(&lease.fence().0));
        let until = i64::try_from(lease.until().unix_timestamp_nanos() / 1_000).unwrap();
        let length = i64::try_from(LEASE.as_micros()).unwrap();
        assert!((before..=after).contains(&(until - length)));
        drop(lease);
        // Nor is the wait of a failed attempt.
        let lease = win_in(&store, &mut tx, "e2").await;
        let before = number(&mut tx, micros).await;
        let retry = Verdict::retry(LEASE);
        let failed = store.settle_in(&mut tx, lease, retry).await.unwrap();
        let changed = i64::try_from(failed.changed_at.unix_timestamp_nanos() / 1_000).unwrap();
        assert!(changed >= before);
    });
}

/// The process's clock has no say.
#[test]
fn the_servers_clock_judges() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let mut beside = bench.beside().await;
        let micros = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let before = number(&mut beside, micros).await;
        let lease = win(&store, "e1").await;
        let lease = store.renew(lease, LEASE * 2).await.unwrap();
        let after = number(&mut beside, micros).await;
        let start = lease.until() - LEASE * 2;
        let start = i64::try_from(start.unix_timestamp_nanos() / 1_000).unwrap();
        assert!((before..=after).contains(&start));
        match store.claim(ask("e1")).await.unwrap() {
            Claim::InProgress { retry_after, .. } => assert!(retry_after <= LEASE * 2),
            other => panic!("{other:?}"),
        }
        // Ended by that clock: at once, by a lease of nothing.
        let lease = store.renew(lease, Duration::ZERO).await.unwrap();
        let second = win(&store, "e1").await;
        store.settle(lease, Verdict::done("")).await.unwrap_err();
        settle(&store, second, "").await;
    });
}

/// Text cannot hold NUL: no key has one, and a result is bytes.
#[test]
fn nul_reaches_no_text_column() {
    assert!(EventKey::business("", "shop", "a\0b").is_err());
    assert!(EventKey::business("a\0b", "shop", "e1").is_err());
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let result = b"\0\xff\0".to_vec();
        store.settle(lease, Verdict::done(result)).await.unwrap();
        assert_eq!(duplicate(&store, "e1").await.result, b"\0\xff\0");
    });
}

/// The names beside the key are compared by their bytes, by whatever collation the table's columns
/// would have had in this database.
#[test]
fn names_have_no_collation() {
    let bench = Bench::new();
    run(async {
        let mut beside = bench.beside().await;
        let others = "SELECT count(*) FROM information_schema.columns \
                      WHERE table_name = 'webhook_receipt' AND table_schema = current_schema() \
                      AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'";
        assert_eq!(number(&mut beside, statement(others)).await, 0);
    });
}

/// The key is a digest. A row of another event under it answers for nobody.
#[test]
fn a_row_of_another_event_under_the_same_key_is_corrupt() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
        let mut beside = bench.beside().await;
        for change in [
            "tenant = 'other'",
            "tenant = 'tenant', event_id = 'E1'",
            "event_id = 'e1', provider = 'shop '",
        ] {
            batch(&mut beside, &format!("UPDATE webhook_receipt SET {change}")).await;
            let error = store.claim(ask("e1")).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt);
            let error = store.get(&key("e1")).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        }
    });
}

/// Nor is such a row taken over that is claimable, and appears after the look.
#[test]
fn a_row_of_another_event_is_not_taken_over() {
    let bench = Bench::new();
    run(insert_beside(&bench, &key("e1"), committed(State::Failed)));
    let pool = bench.pool.clone();
    let clock = Between::look_and_claim(async move {
        let mut connection = pool.acquire().await.unwrap();
        let other = sqlx::query("UPDATE webhook_receipt SET event_id = 'E1'");
        other.execute(&mut *connection).await.unwrap();
    });
    let store = bench.builder().clock(clock).build();
    run(async {
        let error = store.claim(ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let fence = "SELECT fence FROM webhook_receipt";
        assert_eq!(number(&mut bench.beside().await, fence).await, 1);
    });
}

/// Nor one that appears while the statement runs that would insert the event's own.
#[test]
fn a_row_of_another_event_is_not_written_over() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN").await;
        insert(&mut other, &key("e1"), committed(State::Failed)).await;
        batch(&mut other, "UPDATE webhook_receipt SET event_id = 'E1'").await;
        let (claim, ()) = tokio::join!(store.claim(ask("e1")), async {
            bench.waiting(1, "transactionid").await;
            batch(&mut other, "COMMIT").await;
        });
        assert_eq!(claim.unwrap_err().kind(), StoreErrorKind::Corrupt);
        let fence = "SELECT fence FROM webhook_receipt";
        assert_eq!(number(&mut other, fence).await, 1);
    });
}

async fn insert_beside(bench: &Bench, key: &EventKey, row: StoredRow) {
    insert(&mut bench.beside().await, key, row).await;
}

/// The longest waits that can be asked for overflow no column.
#[test]
fn the_longest_waits_fit() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let endless = Claiming::business(key("e1"))
            .lease(Duration::MAX)
            .retention(Duration::MAX)
            .max_attempts(u32::MAX);
        let lease = won(store.claim(endless).await.unwrap());
        assert_eq!(lease.until().year(), 9999);
        let failed = Verdict::retry(Duration::MAX);
        let receipt = store.settle(lease, failed).await.unwrap();
        assert_eq!(receipt.until.map(OffsetDateTime::year), Some(9999));
        assert_eq!(receipt.expires_at.year(), 9999);
    });
}
