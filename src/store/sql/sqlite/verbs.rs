//! The verbs on one connection: each is one statement, or several under one write lock.

use rusqlite::{Connection, params};
use time::OffsetDateTime;

use crate::{
    clock::{Clock, after, from_micros, micros},
    event::EventKey,
    store::{
        Claim, Claiming, Fence, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind,
        StoredRow, Verdict,
    },
};

use super::{
    prepared::{Prepared, one},
    statements as sql,
};

/// A connection with its prepared statements. Each is prepared when it is first needed.
pub(super) struct Verbs<'c> {
    pub(super) connection: &'c Connection,
    pub(super) clock: &'c dyn Clock,
    find: Prepared<'c>,
    claim: Prepared<'c>,
    change: Prepared<'c>,
    give_back: Prepared<'c>,
    forget: Prepared<'c>,
    purge: Prepared<'c>,
    pub(super) stats: Prepared<'c>,
    remember: Prepared<'c>,
    pub(super) queue_until: Prepared<'c>,
    pub(super) unqueue: Prepared<'c>,
    pub(super) drop_body: Prepared<'c>,
    #[cfg(feature = "inbox")]
    pub(super) inbox: super::inbox::Statements<'c>,
    #[cfg(feature = "inbox")]
    pub(super) review: super::review::Statements<'c>,
    save: Prepared<'c>,
    keep: Prepared<'c>,
    undo: Prepared<'c>,
    pub(super) find_object: Prepared<'c>,
    pub(super) advance: Prepared<'c>,
    pub(super) forget_object: Prepared<'c>,
    pub(super) purge_deleted: Prepared<'c>,
    pub(super) look_up: Prepared<'c>,
    pub(super) record: Prepared<'c>,
    pub(super) effects: Prepared<'c>,
}

/// What a lease says of itself to the database.
#[derive(Debug, Clone)]
pub(super) struct Stand {
    key: EventKey,
    fence: Fence,
    attempt: u32,
    max_attempts: u32,
}

impl Stand {
    pub(super) fn of(lease: &Lease) -> Self {
        Self {
            key: lease.key().clone(),
            fence: lease.fence(),
            attempt: lease.attempt(),
            max_attempts: lease.max_attempts(),
        }
    }
}

/// What a claim came to, before it is committed.
#[derive(Debug)]
pub(super) enum Ruled {
    Won(Receipt),
    Answer(Claim),
}

impl<'c> Verbs<'c> {
    pub(super) fn new(connection: &'c Connection, clock: &'c dyn Clock) -> Self {
        let prepared = Prepared::new;
        Self {
            connection,
            clock,
            find: prepared(sql::FIND),
            claim: prepared(sql::CLAIM),
            change: prepared(sql::CHANGE),
            give_back: prepared(sql::GIVE_BACK),
            forget: prepared(sql::FORGET),
            purge: prepared(sql::PURGE),
            stats: prepared(sql::STATS),
            remember: prepared(sql::REMEMBER),
            queue_until: prepared(sql::QUEUE_UNTIL),
            unqueue: prepared(sql::UNQUEUE),
            drop_body: prepared(sql::DROP_BODY),
            #[cfg(feature = "inbox")]
            inbox: super::inbox::Statements::new(),
            #[cfg(feature = "inbox")]
            review: super::review::Statements::new(),
            save: prepared(sql::SAVE),
            keep: prepared(sql::KEEP),
            undo: prepared(sql::UNDO),
            find_object: prepared(sql::FIND_OBJECT),
            advance: prepared(sql::ADVANCE),
            forget_object: prepared(sql::FORGET_OBJECT),
            purge_deleted: prepared(sql::PURGE_DELETED),
            look_up: prepared(sql::LOOK_UP),
            record: prepared(sql::RECORD),
            effects: prepared(sql::EFFECTS),
        }
    }

    /// Runs `work` so that it leaves nothing behind if it fails, while the transaction goes on.
    pub(super) fn whole<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.save.on(self.connection)?.execute([])?;
        let done = work(self);
        let ended = match &done {
            Ok(_) => self.run(|verbs| &mut verbs.keep),
            Err(_) => self
                .run(|verbs| &mut verbs.undo)
                .and_then(|()| self.run(|verbs| &mut verbs.keep)),
        };
        if ended.is_err() && !self.connection.is_autocommit() {
            // Half a verb must not be committed with the others.
            self.connection.execute_batch(sql::ROLLBACK)?;
        }
        let done = done?;
        ended?;
        Ok(done)
    }

    fn run(&mut self, which: fn(&mut Self) -> &mut Prepared<'c>) -> rusqlite::Result<()> {
        let connection = self.connection;
        which(self).on(connection)?.execute([]).map(drop)
    }

    pub(super) fn find(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        let find = self.find.on(self.connection)?;
        one(find, params![key.digest().as_slice()], key)
    }

    /// Looks first, as the store's own claims do on a reader.
    pub(super) fn look_and_claim(&mut self, claiming: &Claiming) -> Result<Ruled, StoreError> {
        if let Some(stored) = self.find(&claiming.key)?
            && let Ruling::Answer(claim) = stored.ruling(claiming, moment(self.clock))
        {
            return Ok(Ruled::Answer(claim));
        }
        self.claim(claiming)
    }

    /// One statement decides. Only if it takes nothing is the row read, to say why.
    pub(super) fn claim(&mut self, claiming: &Claiming) -> Result<Ruled, StoreError> {
        let now = moment(self.clock);
        let key = &claiming.key;
        let row = StoredRow::of(&Receipt::first(claiming, now, Fence(0)));
        let won = one(
            self.claim.on(self.connection)?,
            params![
                key.digest().as_slice(),
                key.tenant(),
                key.provider(),
                key.id(),
                row.fingerprint,
                row.received_at,
                row.until,
                row.expires_at,
                claiming.max_attempts,
            ],
            key,
        )?;
        if let Some(receipt) = won {
            return Ok(Ruled::Won(receipt));
        }
        // The write lock is held, so this is the row that the statement above refused to take.
        let contradiction = || StoreError::new(StoreErrorKind::Corrupt);
        let stored = self.find(key)?.ok_or_else(contradiction)?;
        match stored.ruling(claiming, now) {
            Ruling::Answer(claim) => Ok(Ruled::Answer(claim)),
            Ruling::Bury(row) => self
                .change(key, row.fence, (row.state, row.until, row.result), now)?
                .map(|row| Ruled::Answer(Claim::Dead(row)))
                .ok_or_else(contradiction),
            Ruling::Take(_) => Err(contradiction()),
        }
    }

    pub(super) fn settle(
        &mut self,
        lease: &Stand,
        verdict: Verdict,
    ) -> Result<Option<Receipt>, StoreError> {
        let now = moment(self.clock);
        // While the fence stands, the row's attempts are the lease's.
        let outcome = verdict.outcome(lease.attempt, lease.max_attempts, now);
        self.change(&lease.key, lease.fence, outcome, now)
    }

    pub(super) fn renew(
        &mut self,
        lease: &Stand,
        length: std::time::Duration,
    ) -> Result<Option<Receipt>, StoreError> {
        let now = moment(self.clock);
        let outcome = (State::InProgress, Some(after(now, length)), Vec::new());
        self.change(&lease.key, lease.fence, outcome, now)
    }

    pub(super) fn release(&mut self, lease: &Stand) -> Result<Option<Receipt>, StoreError> {
        let outcome = (State::Failed, None, Vec::new());
        self.change(&lease.key, lease.fence, outcome, moment(self.clock))
    }

    /// Nothing, if the fence no longer stands.
    pub(super) fn change(
        &mut self,
        key: &EventKey,
        fence: Fence,
        (state, until, result): (State, Option<OffsetDateTime>, Vec<u8>),
        now: OffsetDateTime,
    ) -> Result<Option<Receipt>, StoreError> {
        let result = (!result.is_empty()).then_some(result);
        let changed = one(
            self.change.on(self.connection)?,
            params![
                key.digest().as_slice(),
                fence.0,
                state.code(),
                until.map(micros),
                result,
                micros(now),
            ],
            key,
        )?;
        if let Some(receipt) = &changed {
            self.queue(receipt)?;
        }
        Ok(changed)
    }

    /// Lets the inbox's queue follow a receipt.
    fn queue(&mut self, receipt: &Receipt) -> Result<(), StoreError> {
        match receipt.state {
            State::Processed | State::Dead => self.unqueue(receipt.key.digest()),
            State::Received | State::InProgress | State::Failed => {
                let due = micros(receipt.until.unwrap_or(receipt.changed_at));
                self.queue_until(receipt.key.digest(), due)
            }
        }
    }

    pub(super) fn queue_until(&mut self, digest: &[u8], due: i64) -> Result<(), StoreError> {
        let queue_until = self.queue_until.on(self.connection)?;
        queue_until.execute(params![digest, due])?;
        Ok(())
    }

    pub(super) fn unqueue(&mut self, digest: &[u8]) -> Result<(), StoreError> {
        self.unqueue.on(self.connection)?.execute([digest])?;
        Ok(())
    }

    /// What the inbox has of a receipt that is gone.
    fn drop_parked(&mut self, digest: &[u8]) -> Result<(), StoreError> {
        self.unqueue(digest)?;
        self.drop_body.on(self.connection)?.execute([digest])?;
        Ok(())
    }

    pub(super) fn give_back(&mut self, digest: &[u8; 16], fence: Fence) -> Result<(), StoreError> {
        let now = micros(moment(self.clock));
        let give_back = self.give_back.on(self.connection)?;
        if give_back.execute(params![digest.as_slice(), fence.0, now])? > 0 {
            self.queue_until(digest, now)?;
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        let forget = self.forget.on(self.connection)?;
        let forgotten = one(forget, params![key.digest().as_slice()], key)?;
        if let Some(receipt) = &forgotten {
            self.remember(receipt.fence.0)?;
            self.drop_parked(key.digest())?;
        }
        Ok(forgotten)
    }

    pub(super) fn purge(&mut self, at_most: i64) -> Result<usize, StoreError> {
        let now = micros(moment(self.clock));
        let mut rows = self
            .purge
            .on(self.connection)?
            .query(params![now, at_most])?;
        let (mut purged, mut highest) = (Vec::new(), None);
        while let Some(row) = rows.next()? {
            highest = highest.max(Some(row.get(0)?));
            purged.push(row.get::<_, Vec<u8>>(1)?);
        }
        drop(rows);
        for digest in &purged {
            self.drop_parked(digest)?;
        }
        if let Some(fence) = highest {
            self.remember(fence)?;
        }
        Ok(purged.len())
    }

    /// Without this a fence could repeat, so it fails rather than write nowhere.
    fn remember(&mut self, fence: i64) -> Result<(), StoreError> {
        match self.remember.on(self.connection)?.execute([fence])? {
            1 => Ok(()),
            _ => Err(StoreError::new(StoreErrorKind::Corrupt)),
        }
    }
}

/// The time as the database keeps it, so that what is judged here and there is the same.
pub(super) fn moment(clock: &dyn Clock) -> OffsetDateTime {
    let now = clock.now();
    from_micros(micros(now)).unwrap_or(now)
}
