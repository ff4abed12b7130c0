//! `OwnStore` with its rules taken out, so that each can be broken alone.

use std::{
    sync::{
        Arc, MutexGuard,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, Receipt, StoreError, Verdict,
    store::{Abandoned, OnAbandoned, Ruling, SettleError, StoreFuture},
    testing::{ManualClock, conformance::Witness},
};

use crate::{
    own_store::{OwnStore, Table},
    rules::{Rules, Verb},
};

pub(crate) struct Mutant {
    own: Arc<OwnStore>,
    rules: Rules,
    report: Arc<Report>,
    writes: AtomicUsize,
    looks: AtomicUsize,
}

struct Report {
    own: Arc<OwnStore>,
    rules: Rules,
    witness: Witness,
}

impl OnAbandoned for Report {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        (self.rules.dropped)(&mut self.own.table(), lease, self.own.now());
        for _ in 0..self.rules.reports {
            self.witness.abandoned(lease);
        }
    }
}

impl Mutant {
    pub(crate) fn new(rules: Rules, clock: ManualClock, witness: Witness) -> Self {
        let own = Arc::new(OwnStore::new(clock, witness.clone()));
        let report = Arc::new(Report {
            own: own.clone(),
            rules,
            witness,
        });
        let [writes, looks] = [const { AtomicUsize::new(0) }; 2];
        Self {
            own,
            rules,
            report,
            writes,
            looks,
        }
    }

    /// The table to write into: the one that was looked at or, where that is the fault, what it has
    /// become once somebody else has written in between. Where nobody does, it does not wait long,
    /// and not as long as the next one does.
    fn again<'t>(&'t self, verb: Verb, looked_at: MutexGuard<'t, Table>) -> MutexGuard<'t, Table> {
        if self.rules.looks_first != Some(verb) {
            self.writes.fetch_add(1, SeqCst);
            return looked_at;
        }
        let before = self.writes.load(SeqCst);
        let patience = 1 + self.looks.fetch_add(1, SeqCst) % 4;
        drop(looked_at);
        for _ in 0..patience {
            thread::sleep(Duration::from_millis(1));
            if self.writes.load(SeqCst) != before {
                break;
            }
        }
        self.writes.fetch_add(1, SeqCst);
        self.own.table()
    }

    fn claim_now(&self, claiming: Claiming) -> Result<Claim, StoreError> {
        let (rules, now) = (&self.rules, self.own.now());
        let digest = (rules.digest)(claiming.key());
        let mut table = self.own.table();
        let before = table.rows.get(&digest).cloned();
        let before = before.filter(|row| (rules.is_known)(row, now));
        let ruling = match &before {
            Some(row) => (rules.ruling)(row, &claiming, now),
            None => Ruling::Take(Receipt::first(&claiming, now, table.used)),
        };
        let claim = match ruling {
            Ruling::Answer(claim) => {
                if let Some(row) = table.rows.get_mut(&digest) {
                    (rules.seen)(row, &claiming, now);
                }
                claim
            }
            Ruling::Bury(row) => {
                table.rows.insert(digest, row.clone());
                Claim::Dead(row)
            }
            Ruling::Take(mut row) => {
                let verb = before.as_ref().map_or(Verb::Insert, |_| Verb::TakeOver);
                let mut table = self.again(verb, table);
                (rules.won)(&mut row, before.as_ref(), now);
                let lease = Lease::issue(claiming, &row, self.report.clone());
                table.rows.insert(digest, row);
                Claim::New(lease)
            }
        };
        (rules.answer)(claim)
    }

    fn write(
        &self,
        verb: Verb,
        lease: Lease,
        change: impl FnOnce(&mut Receipt, &Lease),
    ) -> Result<(Lease, Receipt), SettleError> {
        let (rules, now) = (&self.rules, self.own.now());
        let digest = (rules.digest)(lease.key());
        let mut table = self.own.table();
        if let (false, Some(row)) = (
            table.rows.contains_key(&digest),
            (rules.revived)(&lease, now),
        ) {
            table.rows.insert(digest, row);
        }
        let row = table.rows.get(&digest);
        let allowed = row.is_some_and(|row| (rules.may_write)(verb, row, &lease, now));
        let mut table = self.again(verb, table);
        match table.rows.get_mut(&digest) {
            Some(row) if allowed => {
                row.changed_at = now;
                change(row, &lease);
                Ok((lease, row.clone()))
            }
            _ => Err((rules.lost)(lease)),
        }
    }

    fn settle_now(&self, lease: Lease, verdict: Verdict) -> Result<Receipt, SettleError> {
        let (rules, now) = (&self.rules, self.own.now());
        let verdict = (rules.verdict)(verdict);
        if !(rules.fits)(&verdict) {
            return Err((rules.too_long)(lease));
        }
        let (lease, row) = self.write(Verb::Settle, lease, |row, lease| {
            let most = (rules.most)(lease);
            (row.state, row.until, row.result) = verdict.outcome(row.attempts, most, now);
        })?;
        lease.settled();
        Ok(row)
    }

    fn renew_now(&self, lease: Lease, length: Duration) -> Result<Lease, SettleError> {
        let (rules, now) = (&self.rules, self.own.now());
        let (lease, row) = self.write(Verb::Renew, lease, |row, _| {
            (rules.renewed)(row, length, now);
        })?;
        Ok(lease.renewed(row.until.unwrap_or(now)))
    }

    fn release_now(&self, lease: Lease) -> Result<Receipt, SettleError> {
        let (lease, row) = self.write(Verb::Release, lease, |row, lease| {
            (self.rules.released)(row, lease);
        })?;
        let key = lease.settled();
        if !self.rules.stays {
            self.own.table().remove(&(self.rules.digest)(&key));
        }
        Ok(row)
    }

    fn purge_now(&self, at_most: usize) -> Result<usize, StoreError> {
        let (rules, now) = (&self.rules, self.own.now());
        let at_most = (rules.batch)(at_most)?;
        let table = self.own.table();
        let old = table.rows.iter();
        let old = old.filter(|(_, row)| (rules.is_purgeable)(row, now));
        let mut old: Vec<_> = old.map(|(digest, _)| *digest).take(at_most).collect();
        if old.is_empty() {
            return Ok(0);
        }
        let mut table = self.again(Verb::Purge, table);
        old.retain(|digest| table.remove(digest).is_some());
        Ok((rules.purged)(old.len()))
    }
}

impl IdempotencyStore for Mutant {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move { self.claim_now(claiming) })
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move { self.settle_now(lease, verdict) })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        Box::pin(async move { self.renew_now(lease, length) })
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move { self.release_now(lease) })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move {
            let row = self
                .own
                .table()
                .rows
                .get(&(self.rules.digest)(key))
                .cloned();
            Ok((self.rules.found)(row, key, self.own.now()))
        })
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        let digest = (self.rules.digest)(key);
        Box::pin(async move { Ok((self.rules.forgotten)(&mut self.own.table(), &digest)) })
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { self.purge_now(at_most) })
    }
}
