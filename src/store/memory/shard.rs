//! One of the parts that a store is split into, each behind a lock of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::OffsetDateTime;

use crate::{
    clock::{Clock, after},
    event::EventKey,
    store::{
        Abandoned, Claim, Claiming, Fence, Lease, OnAbandoned, Receipt, Ruling, StoreError,
        StoreErrorKind, receipt::First,
    },
};

use super::{
    entry::whole_micros,
    index::{Hash, Hasher},
    table::Table,
};

/// A lease points at its shard, so that shards, not stores, are what threads count references to.
pub(super) struct Shard {
    table: Mutex<Table>,
    pub(super) shared: Arc<Shared>,
}

/// What all shards of a store have in common.
pub(super) struct Shared {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) on_abandoned: Arc<dyn OnAbandoned>,
    pub(super) hasher: Hasher,
    pub(super) capacity: usize,
    /// Locked within a shard's lock, never around one.
    #[cfg(feature = "inbox")]
    pub(super) inbox: super::inbox::Bodies,
}

impl Shared {
    /// The time, cut to what receipts keep of it. Asked before a shard is locked: the clock may
    /// be the application's.
    pub(super) fn now(&self) -> OffsetDateTime {
        whole_micros(self.clock.now())
    }

    /// Whether a receipt may be removed. If so, the inbox forgets what it has of it.
    pub(super) fn lets_go(&self, _receipt: &Receipt) -> bool {
        #[cfg(feature = "inbox")]
        return self.inbox.let_go(_receipt);
        #[cfg(not(feature = "inbox"))]
        true
    }
}

impl Shard {
    pub(super) fn new(shared: Arc<Shared>, room: usize) -> Self {
        let table = Mutex::new(Table::new(shared.hasher, room));
        Self { table, shared }
    }

    /// A panic cannot leave a table half written: nothing that panics runs under the lock.
    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn claim(
        self: &Arc<Self>,
        mut table: MutexGuard<'_, Table>,
        hash: Hash,
        claiming: Claiming,
        now: OffsetDateTime,
    ) -> Result<Claim, StoreError> {
        match table.find(hash, &claiming.key) {
            Ok((slot, stored)) => match stored.ruling(&claiming, now) {
                Ruling::Answer(claim) => Ok(claim),
                Ruling::Bury(mut row) => {
                    table.write(slot, &mut row);
                    Ok(Claim::Dead(row))
                }
                Ruling::Take(mut row) => {
                    table.write(slot, &mut row);
                    Ok(Claim::New(Lease::issue(claiming, &row, self.clone())))
                }
            },
            Err(place) => {
                let first = First::of(&claiming, now, table.used());
                let full = || StoreError::new(StoreErrorKind::Full);
                let added = table.insert(hash, place, &claiming, &first);
                added.ok_or_else(full)?;
                drop(table);
                let First {
                    attempts, fence, ..
                } = first;
                let until = whole_micros(after(now, claiming.lease));
                Ok(Claim::New(Lease::new(
                    claiming,
                    fence,
                    attempts,
                    until,
                    self.clone(),
                )))
            }
        }
    }

    /// Changes the receipt that `fence` still stands for.
    pub(super) fn change(
        &self,
        hash: Hash,
        key: &EventKey,
        fence: Fence,
        change: impl FnOnce(&mut Receipt),
    ) -> Option<Receipt> {
        let mut table = self.table();
        let (slot, mut row) = table.find(hash, key).ok()?;
        if !row.stands(fence) {
            return None;
        }
        change(&mut row);
        table.write(slot, &mut row);
        Some(row)
    }

    pub(super) fn get(&self, hash: Hash, key: &EventKey) -> Option<Receipt> {
        self.table().find(hash, key).ok().map(|(_, row)| row)
    }

    pub(super) fn forget(&self, hash: Hash, key: &EventKey) -> Option<Receipt> {
        let mut table = self.table();
        let (slot, row) = table.find(hash, key).ok()?;
        table.remove(slot, &row);
        #[cfg(feature = "inbox")]
        self.shared.inbox.forget(key);
        Some(row)
    }
}

impl OnAbandoned for Shard {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        let now = self.shared.now();
        let hash = self.shared.hasher.hash(lease.key.digest());
        // If the lease no longer stands, somebody else has the event, and it is theirs.
        let _ = self.change(hash, lease.key, lease.fence, |row| row.until = Some(now));
        self.shared.on_abandoned.abandoned(lease);
    }
}
