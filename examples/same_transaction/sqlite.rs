//! In SQLite, on the caller's own connection.

use hookproof::{
    Claiming, SqliteStore, Verdict,
    store::sql::{ImmediateTx, TxClaim},
};
use rusqlite::Connection;

use crate::{Done, Failure, Fate, STORY, check, delivery};

fn deliver(
    store: &SqliteStore,
    connection: &mut Connection,
    claiming: Claiming,
    fate: Fate,
) -> Result<Done, Failure> {
    let tx = ImmediateTx::begin(connection)?;
    let lease = match store.claim_in(&tx, claiming)? {
        TxClaim::New(lease) => lease,
        TxClaim::Duplicate(receipt) => return Ok(Done::Known(receipt.result)),
        other => return Err(format!("answer 409, 202 or 200 to {other:?}").into()),
    };
    let result = format!("invoice of {}", lease.key().id());
    tx.execute(
        "INSERT INTO invoice (event) VALUES (?1)",
        [lease.key().id()],
    )?;
    store.settle_in(&tx, lease, Verdict::done(result))?;
    if fate == Fate::DiesBeforeTheCommit {
        // As it would be after a crash: what was not committed is gone.
        tx.rollback()?;
        return Ok(Done::RolledBack);
    }
    tx.commit()?;
    Ok(Done::Booked)
}

pub(crate) fn run() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.sqlite");
    let store = SqliteStore::open(&path)?;
    let mut connection = Connection::open(&path)?;
    connection.execute_batch("CREATE TABLE invoice (event TEXT NOT NULL)")?;
    for (id, fate, expected) in STORY {
        let done = deliver(&store, &mut connection, delivery(id)?, fate)?;
        check(id, fate, &done, expected);
    }
    let count = "SELECT count(*), count(DISTINCT event) FROM invoice";
    let invoices = connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    assert_eq!(invoices, (2, 2), "one invoice for each event");
    println!("SQLite: one invoice for each event");
    Ok(())
}
