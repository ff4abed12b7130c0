//! Leasing what is due.
//!
//! The queue is looked at without locks; each receipt is judged here, by the same rule as a claim;
//! and what may be leased is written by its key, some at a time, if it is as it was read and nobody
//! has it locked. So no worker waits for another, and the server holds no lock between two
//! statements. Who comes second to a row goes on to the next, of which some more are looked at than
//! are asked for.

use sqlx::{MySqlConnection, Row, mysql::MySqlRow};

use crate::{
    clock::{from_micros, micros_after},
    inbox::{Leased, Leasing, Parked},
    store::{
        Claim, Lease, Receipt, Ruling, StoreError,
        sql::server::{again, corrupt},
    },
};

use super::{
    super::{MySqlStore, driver, session::not_autocommit, statements::inbox as sql, writing},
    due, rows,
};

/// How many more are looked at than are asked for: as many as some other workers take meanwhile.
const SPARE: usize = 32;

/// What is due.
struct Look {
    now: i64,
    queued: Vec<Queued>,
}

/// A row of the queue with what belongs to it.
struct Queued {
    digest: Vec<u8>,
    due_at: i64,
    has_body: bool,
    /// With its mark.
    receipt: Option<Result<(i64, Receipt), StoreError>>,
}

/// One that may be leased, as it was read.
struct Free {
    digest: Vec<u8>,
    mark: i64,
}

impl MySqlStore {
    pub(super) async fn lease(&self, leasing: Leasing) -> Result<Leased, StoreError> {
        let mut leased = Leased::default();
        if leasing.limit() == 0 {
            return Ok(leased);
        }
        let mut connection = self.pool.acquire().await?;
        let most = leasing.limit().saturating_add(SPARE);
        let look = look(&mut connection, self.verbs.now(), most).await?;
        let until = micros_after(look.now, leasing.lease);
        leased.more = look.queued.len() == most;
        let mut queued = look.queued.into_iter();
        loop {
            let wanted = leasing.limit().saturating_sub(leased.events.len());
            let mut free = Vec::new();
            while free.len() < wanted.min(sql::AT_ONCE)
                && let Some(next) = queued.next()
            {
                let ruled = rule(&mut connection, next, &leasing, look.now, &mut leased).await?;
                free.extend(ruled);
            }
            if free.is_empty() {
                break;
            }
            let mark = take(&mut connection, &free, look.now, until).await?;
            let won = won(&mut connection, &free, mark).await?;
            self.issue(&won, &leasing, &mut leased);
        }
        leased.more |= queued.next().is_some();
        leased.events.sort_by_key(|(_, parked)| parked.accepted_at);
        Ok(leased)
    }

    fn issue(&self, won: &[MySqlRow], leasing: &Leasing, leased: &mut Leased) {
        for row in won {
            match read(row) {
                Ok((receipt, parked)) => {
                    let claiming = leasing.claiming(&receipt);
                    let lease = Lease::issue(claiming, &receipt, self.verbs.on_abandoned.clone());
                    leased.events.push((lease, parked));
                }
                // It is leased and comes again by the lease's end, until its attempts are over.
                Err(_) => leased.unreadable = leased.unreadable.saturating_add(1),
            }
        }
    }
}

async fn look(
    connection: &mut MySqlConnection,
    now: Option<i64>,
    most: usize,
) -> Result<Look, StoreError> {
    let rows = sqlx::query(sql::DUE)
        .bind(now)
        .bind(now)
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    let first = rows.first().ok_or_else(corrupt)?;
    if first.try_get::<i64, _>(1)? == 0 {
        return Err(not_autocommit());
    }
    let now = first.try_get(0)?;
    let queued = rows.iter().filter_map(|row| queued(row).transpose());
    let queued = queued.collect::<Result<_, StoreError>>()?;
    Ok(Look { now, queued })
}

fn queued(row: &MySqlRow) -> Result<Option<Queued>, StoreError> {
    let Some(digest) = row.try_get::<Option<Vec<u8>>, _>(2)? else {
        return Ok(None);
    };
    let believed = match driver::found(row, 5) {
        Ok(None) => None,
        Ok(Some((mark, found))) => {
            Some(found.receipt_under(&digest).map(|receipt| (mark, receipt)))
        }
        Err(error) => Some(Err(error)),
    };
    Ok(Some(Queued {
        due_at: row.try_get(3)?,
        has_body: row.try_get::<Option<i64>, _>(4)?.is_some(),
        receipt: believed,
        digest,
    }))
}

/// Whether it may be leased. What may not leaves the queue, or is looked at again later.
async fn rule(
    connection: &mut MySqlConnection,
    queued: Queued,
    leasing: &Leasing,
    now: i64,
    leased: &mut Leased,
) -> Result<Option<Free>, StoreError> {
    let (mark, stored) = match queued.receipt {
        None => {
            unqueue_gone(connection, &queued.digest).await?;
            return Ok(None);
        }
        // One that cannot be read must not be the first in the queue for ever.
        Some(Err(_)) => {
            leased.unreadable = leased.unreadable.saturating_add(1);
            let later = micros_after(now, leasing.lease);
            put_off_unread(connection, &queued, later).await?;
            return Ok(None);
        }
        Some(Ok(marked)) => marked,
    };
    let moment = from_micros(now).ok_or_else(corrupt)?;
    let dead = match stored.ruling(&leasing.claiming(&stored), moment) {
        Ruling::Take(_) if queued.has_body => {
            let digest = queued.digest;
            return Ok(Some(Free { digest, mark }));
        }
        Ruling::Take(row) => row.without_body(moment),
        Ruling::Bury(row) => row,
        Ruling::Answer(Claim::InProgress { receipt, .. }) => {
            put_off(connection, &receipt, mark).await?;
            return Ok(None);
        }
        // It has ended.
        Ruling::Answer(_) => {
            unqueue(connection, &stored, mark).await?;
            return Ok(None);
        }
    };
    let dead = driver::as_kept(&dead)?;
    let written = driver::mark(Some(mark));
    if bury(connection, &dead, written, mark).await? {
        unqueue(connection, &dead, written).await?;
        leased.buried.push(dead);
    }
    Ok(None)
}

/// Leases those that nobody else has taken since. Returns the mark that these then have.
async fn take(
    connection: &mut MySqlConnection,
    free: &[Free],
    now: i64,
    until: i64,
) -> Result<i64, StoreError> {
    let mut mark = driver::mark(None);
    while free.iter().any(|free| free.mark == mark) {
        mark = driver::mark(None);
    }
    again!(async {
        let mut query = sqlx::query(sql::LEASE);
        for free in filled_up(free) {
            query = query.bind(&*free.digest);
        }
        for free in filled_up(free) {
            query = query.bind(&*free.digest).bind(free.mark);
        }
        query
            .bind(mark)
            .bind(until)
            .bind(now)
            .bind(until)
            .execute(&mut *connection)
            .await?;
        Ok(mark)
    })
}

async fn won(
    connection: &mut MySqlConnection,
    free: &[Free],
    mark: i64,
) -> Result<Vec<MySqlRow>, StoreError> {
    again!(async {
        let mut query = sqlx::query(sql::LEASED);
        for free in filled_up(free) {
            query = query.bind(&*free.digest);
        }
        Ok(query.bind(mark).fetch_all(&mut *connection).await?)
    })
}

/// As many as the statements name.
fn filled_up(free: &[Free]) -> impl Iterator<Item = &Free> {
    free.iter().cycle().take(sql::AT_ONCE)
}

fn read(row: &MySqlRow) -> Result<(Receipt, Parked), StoreError> {
    let (_, found) = driver::found(row, 11)?.ok_or_else(corrupt)?;
    let receipt = found.receipt_under(row.try_get(0)?)?;
    let parked = rows::parked(row, 1)?.ok_or_else(corrupt)?;
    let parked = parked.into_parked(receipt.key.clone())?;
    Ok((receipt, parked))
}

async fn bury(
    connection: &mut MySqlConnection,
    dead: &Receipt,
    mark: i64,
    old: i64,
) -> Result<bool, StoreError> {
    again!(writing::take(connection, dead, mark, old))
}

async fn unqueue(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
) -> Result<(), StoreError> {
    again!(writing::unqueue(connection, receipt, mark))
}

async fn unqueue_gone(connection: &mut MySqlConnection, digest: &[u8]) -> Result<(), StoreError> {
    again!(async {
        sqlx::query(sql::UNQUEUE_GONE)
            .bind(digest)
            .execute(&mut *connection)
            .await?;
        Ok(())
    })
}

async fn put_off(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
) -> Result<(), StoreError> {
    again!(async {
        sqlx::query(sql::PUT_OFF)
            .bind(receipt.key.digest().as_slice())
            .bind(mark)
            .bind(due(receipt))
            .execute(&mut *connection)
            .await?;
        Ok(())
    })
}

async fn put_off_unread(
    connection: &mut MySqlConnection,
    queued: &Queued,
    later: i64,
) -> Result<(), StoreError> {
    again!(async {
        sqlx::query(sql::PUT_OFF_UNREAD)
            .bind(later)
            .bind(&*queued.digest)
            .bind(queued.due_at)
            .execute(&mut *connection)
            .await?;
        Ok(())
    })
}
