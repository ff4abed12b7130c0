//! What clients do.

use std::time::Instant;

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, Verdict,
    store::{BatchStore, StatsStore, sql::TxClaim},
};
use sqlx::PgConnection;

use crate::{
    load::{Done, Work},
    place::{Place, key},
};

/// Known events, of which the mixes ask nine times out of ten.
const KNOWN: u64 = 2_000;
const MANY: usize = 500;

/// The row that a claim writes.
const BARE: &str = "INSERT INTO bare (key, tenant, provider, event_id, body_hash, state, attempts, \
     fence, lease_until, received_at, changed_at, expires_at, result) VALUES ($1::text::uuid, $2, \
     $3, $4, $5, 1, 1, $6, $7, $6, $6, $8, NULL) ON CONFLICT DO NOTHING";

/// An upsert whose condition decides: for a known event it locks the row, uses a transaction number
/// up and writes that to the log. Then the row is read.
const LOCKING: &str = "INSERT INTO bare AS r (key, tenant, provider, event_id, body_hash, state, \
     attempts, fence, lease_until, received_at, changed_at, expires_at, result) VALUES \
     ($1::text::uuid, $2, $3, $4, $5, 1, 1, $6, $7, $6, $6, $8, NULL) ON CONFLICT (key) DO UPDATE SET \
     state = 1, attempts = r.attempts + 1, fence = r.fence + 1, lease_until = excluded.lease_until \
     WHERE r.body_hash = excluded.body_hash AND r.state IN (0, 1, 3) \
     AND coalesce(r.lease_until, 0) <= excluded.received_at RETURNING fence";

const LOOK: &str = "SELECT tenant, provider, event_id, body_hash, state, attempts, fence, lease_until, \
     received_at, changed_at, expires_at, result FROM bare WHERE key = $1::text::uuid";

fn content() -> Fingerprint {
    Fingerprint::of(b"content")
}

fn ask(key: EventKey) -> Claiming {
    Claiming::business(key).fingerprint(content())
}

async fn insert(connection: &mut PgConnection, sql: &'static str, key: &EventKey) -> u64 {
    const NOW: i64 = 1_800_000_000_000_000;
    sqlx::query(sql)
        .bind(hex::encode(key.digest()))
        .bind(key.tenant())
        .bind(key.provider())
        .bind(key.id())
        .bind(content().as_bytes().as_slice())
        .bind(NOW)
        .bind(NOW + 60_000_000)
        .bind(NOW + 2_592_000_000_000)
        .execute(connection)
        .await
        .expect("PostgreSQL answers")
        .rows_affected()
}

fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => panic!("a new event, not {other:?}"),
    }
}

/// Neither settled nor dropped: what is measured is the claim.
fn keep(lease: Lease) {
    std::mem::forget(lease);
}

pub fn bare_insert(place: Place) -> Done {
    Box::pin(async move {
        let mut connection = place.pool.acquire().await.expect("a connection");
        insert(&mut connection, BARE, &place.new_key()).await
    })
}

pub fn claim(place: Place) -> Done {
    Box::pin(async move {
        let claim = place.store.claim(ask(place.new_key())).await;
        keep(won(claim.expect("PostgreSQL answers")));
        1
    })
}

pub fn claim_many(place: Place) -> Done {
    Box::pin(async move {
        let asked = (0..MANY).map(|_| ask(place.new_key())).collect();
        let claims = place.store.claim_many(asked).await;
        for claim in claims.expect("PostgreSQL answers") {
            keep(won(claim.expect("PostgreSQL answers")));
        }
        MANY as u64
    })
}

/// Nine in ten are known.
fn mixed_key(place: &Place) -> (EventKey, bool) {
    let number = place.number();
    match number % 10 {
        0 => (place.new_key(), false),
        _ => (key(&format!("known {}", number % KNOWN)), true),
    }
}

/// Makes the known events, in both tables.
pub async fn keep_known(place: &Place) {
    let known: Vec<_> = (0..KNOWN).collect();
    // A commit for each would be waited for.
    for numbers in known.chunks(100) {
        let mut tx = place.pool.begin().await.expect("a transaction");
        for number in numbers {
            let key = key(&format!("known {number}"));
            let claim = place.store.claim_in(&mut tx, ask(key)).await;
            if let TxClaim::New(lease) = claim.expect("PostgreSQL answers") {
                let settled = place.store.settle_in(&mut tx, lease, Verdict::done("done"));
                settled.await.expect("the lease stands");
            }
        }
        tx.commit().await.expect("a commit");
    }
    place
        .run(
            "INSERT INTO bare SELECT * FROM webhook_receipt WHERE state = 2 ON CONFLICT DO NOTHING",
        )
        .await;
}

pub fn claim_mix(place: Place) -> Done {
    Box::pin(async move {
        let (key, known) = mixed_key(&place);
        match place
            .store
            .claim(ask(key))
            .await
            .expect("PostgreSQL answers")
        {
            Claim::Duplicate(_) if known => {}
            Claim::New(lease) if !known => keep(lease),
            other => panic!("{other:?}"),
        }
        1
    })
}

pub fn locking_mix(place: Place) -> Done {
    Box::pin(async move {
        let (key, known) = mixed_key(&place);
        let mut connection = place.pool.acquire().await.expect("a connection");
        let wrote = insert(&mut connection, LOCKING, &key).await;
        assert_eq!(wrote == 0, known);
        if known {
            let row = sqlx::query(LOOK).bind(hex::encode(key.digest()));
            row.fetch_one(&mut *connection)
                .await
                .expect("a known event");
        }
        1
    })
}

const INVOICE: &str = "INSERT INTO invoice (event, cents) VALUES ($1, 4200)";

async fn business(tx: &mut PgConnection, key: &EventKey) {
    let invoice = sqlx::query(INVOICE).bind(key.id()).execute(tx).await;
    invoice.expect("PostgreSQL answers");
}

pub fn bare_transaction(place: Place) -> Done {
    Box::pin(async move {
        let key = place.new_key();
        let mut tx = place.pool.begin().await.expect("a transaction");
        insert(&mut tx, BARE, &key).await;
        business(&mut tx, &key).await;
        tx.commit().await.expect("a commit");
        1
    })
}

pub fn claim_in(place: Place) -> Done {
    Box::pin(async move {
        let key = place.new_key();
        let mut tx = place.pool.begin().await.expect("a transaction");
        let claim = place.store.claim_in(&mut tx, ask(key.clone())).await;
        let Ok(TxClaim::New(lease)) = claim else {
            panic!("a new event, not {claim:?}");
        };
        business(&mut tx, &key).await;
        let settled = place.store.settle_in(&mut tx, lease, Verdict::done("done"));
        settled.await.expect("the lease stands");
        tx.commit().await.expect("a commit");
        1
    })
}

/// Rows that one purge takes.
pub const STEP: usize = 1_000;

/// What the purge is beside: so many rows in deletions as large as its own, each a commit.
const DELETE: &str = "DELETE FROM bare WHERE key IN (SELECT key FROM bare WHERE expires_at <= $1 \
     ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

pub fn bare_delete(place: Place) -> Done {
    Box::pin(async move {
        let mut connection = place.pool.acquire().await.expect("a connection");
        for _ in 0..STEP / 100 {
            let gone = sqlx::query(DELETE).bind(i64::MAX);
            let gone = gone.execute(&mut *connection).await;
            assert_eq!(gone.expect("PostgreSQL answers").rows_affected(), 100);
        }
        STEP as u64
    })
}

pub fn purge(place: Place) -> Done {
    Box::pin(async move {
        let purged = place.store.purge(STEP).await;
        assert_eq!(purged.expect("PostgreSQL answers"), STEP);
        STEP as u64
    })
}

/// Nothing but this many receipts whose time is over, in both tables.
pub async fn expired(place: &Place, rows: usize) {
    let empty = "TRUNCATE webhook_receipt, bare CASCADE";
    place.run(empty).await;
    fill(place, rows, 1_600_000_000_000_000).await;
    place
        .run("INSERT INTO bare SELECT * FROM webhook_receipt")
        .await;
    place.run("VACUUM ANALYZE webhook_receipt").await;
    place.run("VACUUM ANALYZE bare").await;
}

/// Processed receipts with keys like those of events.
pub async fn preload(place: &Place, rows: usize) {
    fill(place, rows, 1_800_000_000_000_000).await;
    place.run("VACUUM ANALYZE webhook_receipt").await;
    place.run("CHECKPOINT").await;
}

async fn fill(place: &Place, rows: usize, since: i64) {
    place
        .run(&format!(
            "INSERT INTO webhook_receipt SELECT md5(n::text)::uuid, 1, {since} + n, NULL, \
                {since} + n, {since} + n, {since} + 2592000000000 + n, 2, \
                decode(md5(n::text), 'hex'), 'tenant', 'bench', 'evt_' || md5(n::text), \
                'created invoice 123' \
             FROM generate_series(1, {rows}) n"
        ))
        .await;
}

/// What one client's events write to the log, each.
pub async fn logged(place: &Place, name: &str, work: Work<Place>) {
    const EVENTS: i64 = 500;
    work(place.clone()).await;
    place.run("CHECKPOINT").await;
    // Full pages are logged at their first change.
    for _ in 0..EVENTS {
        work(place.clone()).await;
    }
    let before = place.log_position().await;
    for _ in 0..EVENTS {
        work(place.clone()).await;
    }
    let bytes = (place.log_position().await - before) / EVENTS;
    println!("log of one, full pages apart  {name:<34} {bytes:>8} B");
}

/// What the numbers of a full table cost, and what a receipt takes.
pub async fn stats(place: &Place, rows: usize) {
    for bytes in [128 << 20, u64::MAX] {
        let store = hookproof::PostgresStore::builder(place.pool.clone());
        let store = store.stats_bytes(bytes).build();
        let begin = Instant::now();
        let stats = store.stats().await.expect("PostgreSQL answers");
        println!(
            "stats of {rows} receipts: {:.0} ms, exact: {}, total {}",
            begin.elapsed().as_secs_f64() * 1000.0,
            stats.exact,
            stats.total()
        );
    }
    let sizes = "SELECT pg_relation_size('webhook_receipt'), \
                 pg_indexes_size('webhook_receipt'), (SELECT count(*) FROM webhook_receipt)";
    let (heap, indexes, count): (i64, i64, i64) = sqlx::query_as(sizes)
        .fetch_one(&place.pool)
        .await
        .expect("PostgreSQL answers");
    println!(
        "a receipt takes {} + {} bytes, table and indexes",
        heap / count,
        indexes / count
    );
}
