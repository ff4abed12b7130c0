//! What clients do.

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, Verdict,
    store::{BatchStore, sql::TxClaim},
};
use sqlx::MySqlConnection;

use crate::{
    load::Done,
    place::{Place, key},
};

/// Known events, of which the mixes ask nine times out of ten.
const KNOWN: u64 = 2_000;
const MANY: usize = 500;

/// The row that a claim writes.
const BARE: &str = "INSERT INTO bare (mark, `key`, slot, tenant, provider, event_id, body_hash, \
     state, attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, NULL)";

/// The same, which locks the row of a known event, and leaves it as it is. Then the row is read.
const LOCKING: &str = "INSERT INTO bare (mark, `key`, slot, tenant, provider, event_id, body_hash, \
     state, attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, NULL) \
     ON DUPLICATE KEY UPDATE mark = IF(body_hash = VALUES(body_hash) AND state IN (0, 1, 3) \
     AND lease_until <= VALUES(received_at), VALUES(mark), mark)";

const LOOK: &str = "SELECT mark, tenant, provider, event_id, body_hash, state, attempts, fence, \
     lease_until, received_at, changed_at, expires_at, result FROM bare WHERE `key` = ?";

fn content() -> Fingerprint {
    Fingerprint::of(b"content")
}

fn ask(key: EventKey) -> Claiming {
    Claiming::business(key).fingerprint(content())
}

async fn insert(connection: &mut MySqlConnection, sql: &'static str, key: &EventKey) {
    const NOW: i64 = 1_800_000_000_000_000;
    let [high, low, ..] = *key.digest();
    sqlx::query(sql)
        .bind(NOW)
        .bind(key.digest().as_slice())
        .bind(i64::from(u16::from_be_bytes([high, low])))
        .bind(key.tenant().as_bytes())
        .bind(key.provider().as_bytes())
        .bind(key.id().as_bytes())
        .bind(content().as_bytes().as_slice())
        .bind(NOW)
        .bind(NOW + 60_000_000)
        .bind(NOW)
        .bind(NOW)
        .bind(NOW + 2_592_000_000_000)
        .execute(connection)
        .await
        .expect("the server answers");
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
        insert(&mut connection, BARE, &place.new_key()).await;
        1
    })
}

pub fn claim(place: Place) -> Done {
    Box::pin(async move {
        let claim = place.store.claim(ask(place.new_key())).await;
        keep(won(claim.expect("the server answers")));
        1
    })
}

pub fn claim_many(place: Place) -> Done {
    Box::pin(async move {
        let asked = (0..MANY).map(|_| ask(place.new_key())).collect();
        let claims = place.store.claim_many(asked).await;
        for claim in claims.expect("the server answers") {
            keep(won(claim.expect("the server answers")));
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
            if let TxClaim::New(lease) = claim.expect("the server answers") {
                let settled = place.store.settle_in(&mut tx, lease, Verdict::done("done"));
                settled.await.expect("the lease stands");
            }
        }
        tx.commit().await.expect("a commit");
    }
    place
        .run("REPLACE INTO bare SELECT * FROM webhook_receipt WHERE state = 2")
        .await;
}

pub fn claim_mix(place: Place) -> Done {
    Box::pin(async move {
        let (key, known) = mixed_key(&place);
        let claim = place.store.claim(ask(key)).await;
        match claim.expect("the server answers") {
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
        insert(&mut connection, LOCKING, &key).await;
        if known {
            let row = sqlx::query(LOOK).bind(key.digest().as_slice());
            row.fetch_one(&mut *connection)
                .await
                .expect("a known event");
        }
        1
    })
}

const INVOICE: &str = "INSERT INTO invoice (event, cents) VALUES (?, 4200)";

async fn business(tx: &mut MySqlConnection, key: &EventKey) {
    let invoice = sqlx::query(INVOICE).bind(key.id().as_bytes());
    invoice.execute(tx).await.expect("the server answers");
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

/// An event whose slot somebody else's transaction has is told to be in progress, and comes again.
pub fn claim_in(place: Place) -> Done {
    Box::pin(async move {
        let key = place.new_key();
        loop {
            let mut tx = place.pool.begin().await.expect("a transaction");
            let claim = place.store.claim_in(&mut tx, ask(key.clone())).await;
            let lease = match claim.expect("the server answers") {
                TxClaim::New(lease) => lease,
                TxClaim::InProgress { .. } => {
                    tx.rollback().await.expect("a rollback");
                    continue;
                }
                other => panic!("a new event, not {other:?}"),
            };
            business(&mut tx, &key).await;
            let settled = place.store.settle_in(&mut tx, lease, Verdict::done("done"));
            settled.await.expect("the lease stands");
            tx.commit().await.expect("a commit");
            return 1;
        }
    })
}

/// Rows that one purge takes.
pub const STEP: usize = 1_000;

/// What the purge is beside: so many rows in deletions as large as its own, each a commit.
const DELETE: &str = "DELETE FROM bare WHERE expires_at <= ? ORDER BY expires_at LIMIT 100";

pub fn bare_delete(place: Place) -> Done {
    Box::pin(async move {
        let mut connection = place.pool.acquire().await.expect("a connection");
        for _ in 0..STEP / 100 {
            let gone = sqlx::query(DELETE).bind(i64::MAX);
            let gone = gone.execute(&mut *connection).await;
            assert_eq!(gone.expect("the server answers").rows_affected(), 100);
        }
        STEP as u64
    })
}

pub fn purge(place: Place) -> Done {
    Box::pin(async move {
        let purged = place.store.purge(STEP).await;
        assert_eq!(purged.expect("the server answers"), STEP);
        STEP as u64
    })
}

/// Nothing but this many receipts whose time is over, in both tables.
pub async fn expired(place: &Place, rows: usize) {
    place.run("DELETE FROM webhook_receipt").await;
    place.run("DELETE FROM bare").await;
    fill(place, rows, 1_600_000_000_000_000).await;
    place
        .run("INSERT INTO bare SELECT * FROM webhook_receipt")
        .await;
}

/// Processed receipts with keys like those of events.
pub async fn preload(place: &Place, rows: usize) {
    fill(place, rows, 1_800_000_000_000_000).await;
    place.run("ANALYZE TABLE webhook_receipt").await;
}

async fn fill(place: &Place, rows: usize, since: i64) {
    const DIGIT: &str = "(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 \
         UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    const CHUNK: usize = 100_000;
    // All in one statement would have to be kept for its rollback.
    for from in (0..rows).step_by(CHUNK) {
        let numbers = format!(
            "SELECT {from} + a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n FROM \
             {DIGIT} a, {DIGIT} b, {DIGIT} c, {DIGIT} d, {DIGIT} e"
        );
        place
            .run(&format!(
                "INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, lease_until, \
                    received_at, changed_at, expires_at, state, body_hash, tenant, provider, \
                    event_id, result) \
                 SELECT UNHEX(MD5(n)), CONV(LEFT(MD5(n), 4), 16, 10), n, 1, {since} + n, NULL, \
                    {since} + n, {since} + n, {since} + 2592000000000 + n, 2, UNHEX(MD5(n)), \
                    'tenant', 'bench', CONCAT('evt_', MD5(n)), 'created invoice 123' \
                 FROM ({numbers}) t WHERE n < {rows}"
            ))
            .await;
    }
}
