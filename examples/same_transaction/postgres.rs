//! In PostgreSQL, in a transaction of the caller's pool.

use hookproof::{Claiming, PostgresStore, Verdict, store::sql::TxClaim};
use sqlx::{
    Executor, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{Done, Failure, Fate, STORY, check, delivery};

async fn deliver(
    store: &PostgresStore,
    pool: &PgPool,
    claiming: Claiming,
    fate: Fate,
) -> Result<Done, Failure> {
    let mut tx = pool.begin().await?;
    let lease = match store.claim_in(&mut tx, claiming).await? {
        TxClaim::New(lease) => lease,
        TxClaim::Duplicate(receipt) => return Ok(Done::Known(receipt.result)),
        other => return Err(format!("answer 409, 202 or 200 to {other:?}").into()),
    };
    let result = format!("invoice of {}", lease.key().id());
    sqlx::query("INSERT INTO invoice (event) VALUES ($1)")
        .bind(lease.key().id())
        .execute(&mut *tx)
        .await?;
    let done = Verdict::done(result);
    store.settle_in(&mut tx, lease, done).await?;
    if fate == Fate::DiesBeforeTheCommit {
        // As it would be after a crash: what was not committed is gone.
        tx.rollback().await?;
        return Ok(Done::RolledBack);
    }
    tx.commit().await?;
    Ok(Done::Booked)
}

const SCHEMA: &str = "hookproof_same_transaction";

pub(crate) async fn run(url: &str) -> Result<(), Failure> {
    let options: PgConnectOptions = url.parse()?;
    let options = options.options([("search_path", SCHEMA)]);
    let pool = PgPoolOptions::new()
        .max_connections(2)
        .connect_with(options)
        .await?;
    pool.execute("DROP SCHEMA IF EXISTS hookproof_same_transaction CASCADE")
        .await?;
    pool.execute("CREATE SCHEMA hookproof_same_transaction")
        .await?;
    let store = PostgresStore::new(pool.clone());
    store.migrate().await?;
    pool.execute("CREATE TABLE invoice (event text NOT NULL)")
        .await?;
    for (id, fate, expected) in STORY {
        let done = deliver(&store, &pool, delivery(id)?, fate).await?;
        check(id, fate, &done, expected);
    }
    let count = "SELECT count(*), count(DISTINCT event) FROM invoice";
    let invoices: (i64, i64) = sqlx::query_as(count).fetch_one(&pool).await?;
    assert_eq!(invoices, (2, 2), "one invoice for each event");
    pool.execute("DROP SCHEMA hookproof_same_transaction CASCADE")
        .await?;
    println!("PostgreSQL: one invoice for each event");
    Ok(())
}
