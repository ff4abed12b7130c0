//! What a claim, a change and a deletion are on one connection.

use sqlx::MySqlConnection;

use crate::{
    clock::{from_micros, micros_after},
    event::EventKey,
    store::{
        Fence, Receipt, Ruling, StoreError, StoreErrorKind,
        sql::{
            server::{Ask, Attempt, Change, Changed, Look, Session},
            tx::TxMark,
        },
    },
};

use super::{
    driver::{self, Seen, misuse},
    statements as sql,
    writing::{self, Inserted},
};

/// How often it is looked again after another writer came between a look and its statement.
pub(super) const TRIES: usize = 50;

impl Session for MySqlConnection {
    type Seen = Seen;

    fn knows(mark: &TxMark) -> bool {
        matches!(mark, TxMark::Row { .. })
    }

    fn is_alone(seen: &Seen) -> Result<(), StoreError> {
        if seen.autocommit {
            Ok(())
        } else {
            Err(not_autocommit())
        }
    }

    /// What the driver counts may be over: a deadlock rolls back, and many statements commit.
    fn is_lasting(&self) -> bool {
        false
    }

    async fn find(&mut self, key: &EventKey, now: Option<i64>) -> Result<Look<Seen>, StoreError> {
        let (now, stored, seen) = driver::find(self, key, now).await?;
        Ok(Look { now, stored, seen })
    }

    async fn claim(&mut self, ask: &Ask<'_, Seen>) -> Result<Attempt, StoreError> {
        if ask.lasting {
            claim_lasting(self, ask).await
        } else {
            claim_alone(self, ask).await
        }
    }

    async fn change(&mut self, change: &Change<'_>) -> Result<Changed, StoreError> {
        let elsewhere = Changed {
            here: false,
            written: None,
        };
        if change.transaction.is_some() && !driver::is_in_transaction(self).await? {
            return Ok(elsewhere);
        }
        for _ in 0..TRIES {
            let (now, stored, seen) = driver::find(self, change.key, change.now).await?;
            let claimed_as = match change.transaction {
                None if !seen.autocommit => return Err(not_autocommit()),
                None => None,
                Some(TxMark::Row { connection, mark }) if *connection == seen.connection => {
                    Some(*mark)
                }
                Some(_) => return Ok(elsewhere),
            };
            let (Some(stored), Some(old)) = (stored, seen.mark) else {
                return Ok(lost());
            };
            if !stored.stands(Fence(change.fence)) || claimed_as.is_some_and(|mark| mark != old) {
                return Ok(lost());
            }
            let receipt = changed(stored, change, now)?;
            let lasting = change.transaction.is_some();
            if writing::change(self, &receipt, old, seen.queued, lasting).await? {
                return Ok(Changed {
                    here: true,
                    written: Some(receipt),
                });
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn forget(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        deleting(self, None).await?;
        for _ in 0..TRIES {
            let (_, stored, seen) = driver::find(self, key, None).await?;
            let (Some(stored), Some(old)) = (stored, seen.mark) else {
                return Ok(None);
            };
            driver::remember(self, &stored).await?;
            if driver::delete(self, key, old).await? {
                return Ok(Some(stored));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn purge(&mut self, now: Option<i64>, at_most: i64) -> Result<i64, StoreError> {
        let now = deleting(self, now).await?;
        driver::sweep(self, sql::REMEMBER_OLD, now, at_most).await?;
        driver::sweep(self, sql::PURGE, now, at_most).await
    }
}

/// One statement writes, and is a transaction of its own.
async fn claim_alone(
    connection: &mut MySqlConnection,
    ask: &Ask<'_, Seen>,
) -> Result<Attempt, StoreError> {
    let (claiming, seen) = (ask.claiming, &ask.look.seen);
    let now = time_of(ask)?;
    let mark = driver::mark(seen.mark);
    if let (Some(stored), Some(old)) = (&ask.look.stored, seen.mark) {
        let (Ruling::Take(row) | Ruling::Bury(row)) = stored.ruling(claiming, now) else {
            return Ok(Attempt::Refused);
        };
        let row = driver::as_kept(&row)?;
        if writing::take(connection, &row, mark, old).await? {
            return Ok(Attempt::Wrote(row, TxMark::Nowhere));
        }
        return Ok(if driver::is_free(connection, &claiming.key).await? {
            Attempt::Refused
        } else {
            Attempt::Held
        });
    }
    let deleted = seen.deleted.ok_or_else(no_slot)?;
    let first = Receipt::first(claiming, now, Fence(deleted));
    match writing::insert(connection, &first, mark, deleted).await? {
        Inserted::Yes => Ok(Attempt::Wrote(first, TxMark::Nowhere)),
        Inserted::Known => Ok(Attempt::Refused),
        Inserted::SlotTaken if driver::is_free(connection, &claiming.key).await? => {
            // It is another event of the same slot that somebody is at.
            driver::pause(connection).await?;
            Ok(Attempt::Refused)
        }
        Inserted::SlotTaken => Ok(Attempt::Held),
    }
}

/// In the caller's transaction, which keeps every lock until its end, so that the order of the
/// statements is one in which nobody waits for another claim.
async fn claim_lasting(
    connection: &mut MySqlConnection,
    ask: &Ask<'_, Seen>,
) -> Result<Attempt, StoreError> {
    let claiming = ask.claiming;
    let now = time_of(ask)?;
    ask.look.seen.deleted.ok_or_else(no_slot)?;
    if !driver::is_in_transaction(connection).await? {
        return Ok(Attempt::NoTransaction);
    }
    let Some(deleted) = driver::lock_slot(connection, &claiming.key).await? else {
        return Ok(Attempt::Held);
    };
    let first = Receipt::first(claiming, now, Fence(deleted));
    let mark = driver::mark(None);
    writing::ensure(connection, &first, mark).await?;
    let here = |mark| TxMark::Row {
        connection: ask.look.seen.connection,
        mark,
    };
    let (old, stored) = driver::read(connection, &claiming.key).await?;
    if old == mark {
        return Ok(Attempt::Wrote(stored, here(mark)));
    }
    match stored.ruling(claiming, now) {
        Ruling::Answer(_) => Ok(Attempt::Saw(stored)),
        Ruling::Take(row) | Ruling::Bury(row) => {
            let (row, mark) = (driver::as_kept(&row)?, driver::mark(Some(old)));
            if writing::write(connection, &row, mark, old).await? {
                Ok(Attempt::Wrote(row, here(mark)))
            } else {
                // The row is locked, so nobody else can have written it.
                Err(StoreError::new(StoreErrorKind::Corrupt))
            }
        }
    }
}

/// The time, in a session that may delete receipts, on the pool.
async fn deleting(connection: &mut MySqlConnection, now: Option<i64>) -> Result<i64, StoreError> {
    let clock = driver::clock(connection, now).await?;
    if !clock.autocommit {
        return Err(not_autocommit());
    }
    if !clock.cascades {
        return Err(misuse(
            "the pool's sessions have foreign_key_checks = 0, so an event's steps would outlive it",
        ));
    }
    Ok(clock.now)
}

/// The row that the holder of a lease writes.
fn changed(stored: Receipt, change: &Change<'_>, now: i64) -> Result<Receipt, StoreError> {
    let until = change.wait.map(|wait| {
        let wait = std::time::Duration::from_micros(u64::try_from(wait).unwrap_or_default());
        at(micros_after(now, wait))
    });
    Ok(Receipt {
        state: change.state,
        changed_at: at(now)?,
        until: until.transpose()?,
        result: change.result.clone(),
        ..stored
    })
}

fn time_of(ask: &Ask<'_, Seen>) -> Result<time::OffsetDateTime, StoreError> {
    at(ask.now.unwrap_or(ask.look.now))
}

pub(super) fn at(micros: i64) -> Result<time::OffsetDateTime, StoreError> {
    from_micros(micros).ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
}

fn lost() -> Changed {
    Changed {
        here: true,
        written: None,
    }
}

pub(super) fn not_autocommit() -> StoreError {
    misuse("the pool's sessions have autocommit = 0, so nothing would be committed")
}

pub(super) fn no_slot() -> StoreError {
    misuse("the table of slots is incomplete: run the schema")
}
