//! One test for each trap that PostgreSQL sets for such statements, named after it.

use std::time::Duration;

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Verdict,
    store::{StoreErrorKind, sql::TxClaim},
};
use time::OffsetDateTime;

use super::{
    Bench, Between, LEASE, ask, batch, crash, duplicate, key, number, run, settle, statement, win,
    win_in, won,
};

/// `ON CONFLICT … RETURNING` gives no row when another's claim is committed between the snapshot
/// and the insert.
#[test]
fn no_row_from_on_conflict_is_looked_at_again() {
    let bench = Bench::new();
    let winner = bench.store();
    for settled in [true, false] {
        let id = format!("settled {settled}");
        let (other, event) = (bench.store(), id.clone());
        let clock = Between::look_and_claim(async move {
            let lease = win(&other, &event).await;
            if settled {
                settle(&other, lease, "the other's").await;
            } else {
                crash(lease);
            }
        });
        let store = bench.builder().clock(clock).build();
        match run(store.claim(ask(&id))).unwrap() {
            Claim::Duplicate(receipt) if settled => assert_eq!(receipt.result, b"the other's"),
            Claim::InProgress { receipt, .. } if !settled => {
                assert_eq!(Some(receipt), run(winner.get(&key(&id))).unwrap());
            }
            other => panic!("{other:?}"),
        }
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
        let mut tx = bench.pool.begin().await.unwrap();
        // Unknown when it is looked for, known when it is inserted.
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        batch(&mut tx, "INSERT INTO invoice VALUES ('mine')").await;
        tx.commit().await.unwrap();
        let invoices = number(&mut connection, "SELECT count(*) FROM invoice").await;
        assert_eq!(invoices, 1);
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
    let pool = bench.pool.clone();
    let clock = Between::look_and_claim(async move {
        let mut connection = pool.acquire().await.unwrap();
        let row = "INSERT INTO webhook_receipt (key, attempts, fence, received_at, changed_at, \
                   expires_at, state, body_hash, tenant, provider, event_id) \
                   VALUES (encode($1, 'hex')::uuid, 1, 1, 0, 0, 0, 3, $2, 'tenant', 'shop', 'E1')";
        sqlx::query(row)
            .bind(key("e1").digest().as_slice())
            .bind(Fingerprint::of(b"content").as_bytes().as_slice())
            .execute(&mut *connection)
            .await
            .unwrap();
    });
    let store = bench.builder().clock(clock).build();
    run(async {
        let error = store.claim(ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let fence = "SELECT fence FROM webhook_receipt";
        assert_eq!(number(&mut bench.beside().await, fence).await, 1);
    });
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
