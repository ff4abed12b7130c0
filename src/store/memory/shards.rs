//! All shards of a store, and the work that goes over more than one of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::OffsetDateTime;

use crate::{
    event::EventKey,
    store::{Claim, Claiming, Receipt, StoreError, StoreErrorKind, StoreStats},
};

use super::{
    index::Hash,
    shard::{Shard, Shared},
    table::Table,
};

/// Receipts for which there is one shard: so few that its index grows in a third of a millisecond.
const RECEIPTS_PER_SHARD: usize = 32_768;

/// Enough that threads seldom meet, and less than 5 KB when empty.
const LEAST_SHARDS: usize = 16;

const MOST_SHARDS: usize = 1024;

/// Receipts that a purge removes from a shard before it lets others in.
const PURGE_STEP: usize = 128;

/// Receipts that a claim purges when it finds the store full.
const PURGE_WHEN_FULL: usize = 16;

/// Slots that such a claim looks through in vain before it gives up; a shard's more at most.
const LOOK_WHEN_FULL: usize = 8192;

pub(super) struct Shards {
    /// All but one of them. Their number with that one is a power of two.
    most: Box<[Arc<Shard>]>,
    last: Arc<Shard>,
    shared: Arc<Shared>,
    /// Where room was found last, to begin there. Whoever moves room between shards holds this, so
    /// that no room is out of sight of somebody else who looks for it.
    turn: Mutex<usize>,
}

impl Shards {
    pub(super) fn new(shared: Shared) -> Self {
        let count = (shared.capacity / RECEIPTS_PER_SHARD)
            .clamp(LEAST_SHARDS, MOST_SHARDS)
            .next_power_of_two();
        // A shard that has used its part up takes room from the others.
        let part = shared.capacity.checked_div(count).unwrap_or_default();
        let rest = shared.capacity.checked_rem(count).unwrap_or_default();
        let shared = Arc::new(shared);
        let shard = |at: usize| {
            let room = part.saturating_add(usize::from(at < rest));
            Arc::new(Shard::new(shared.clone(), room))
        };
        Self {
            most: (1..count).map(shard).collect(),
            last: shard(0),
            turn: Mutex::new(0),
            shared,
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// How many more receipts may be added.
    pub(super) fn room(&self) -> usize {
        let rooms = self.all().map(|(_, shard)| shard.table().room());
        rooms.fold(0, usize::saturating_add)
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Arc<Shard>)> {
        self.most.iter().chain([&self.last]).enumerate()
    }

    /// Every shard once, beginning with this one.
    fn all_from(&self, start: usize) -> impl Iterator<Item = (usize, &Arc<Shard>)> {
        self.all().skip(start).chain(self.all().take(start))
    }

    fn turn(&self) -> MutexGuard<'_, usize> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard that an event belongs to.
    pub(super) fn of(&self, key: &EventKey) -> (&Arc<Shard>, Hash) {
        let hash = self.shared.hasher.hash(key.digest());
        // A mask, since one less than the number of shards has all its bits set.
        let at = hash.shard_bits() & self.most.len();
        (self.most.get(at).unwrap_or(&self.last), hash)
    }

    pub(super) fn claim(&self, claiming: Claiming) -> Result<Claim, StoreError> {
        let now = self.shared.now();
        let (shard, hash) = self.of(&claiming.key);
        let table = self.table_with_room(shard, hash, &claiming.key, now)?;
        shard.claim(table, hash, claiming, now)
    }

    /// The table of a shard in which the event is, or there is room for it.
    pub(super) fn table_with_room<'s>(
        &self,
        shard: &'s Shard,
        hash: Hash,
        key: &EventKey,
        now: OffsetDateTime,
    ) -> Result<MutexGuard<'s, Table>, StoreError> {
        let mut table = shard.table();
        while table.room() == 0 && table.find(hash, key).is_err() {
            drop(table);
            if !self.make_room(shard, now) {
                return Err(StoreError::new(StoreErrorKind::Full));
            }
            table = shard.table();
        }
        Ok(table)
    }

    /// Gives a shard room from one that has some left, or else from one in which a few receipts can
    /// be purged.
    fn make_room(&self, shard: &Shard, now: OffsetDateTime) -> bool {
        let mut turn = self.turn();
        let room = self.find_room(&mut turn, now);
        shard.table().add_room(room);
        room > 0
    }

    /// Where nothing has expired, which is one comparison, that is all that a shard costs.
    fn find_room(&self, turn: &mut usize, now: OffsetDateTime) -> usize {
        for (at, shard) in self.all_from(*turn) {
            let room = shard.table().take_room();
            if room > 0 {
                *turn = at;
                return room;
            }
        }
        let mut looks = LOOK_WHEN_FULL;
        for (at, shard) in self.all_from(*turn) {
            let mut table = shard.table();
            if !table.has_expired(now) {
                continue;
            }
            *turn = at.saturating_add(1);
            if table.purge(now, PURGE_WHEN_FULL, |row| self.shared.lets_go(row)) > 0 {
                *turn = at;
                return table.take_room();
            }
            looks = looks.saturating_sub(table.slots());
            if looks == 0 {
                break;
            }
        }
        0
    }

    /// Purges up to `at_most` receipts, and returns how many.
    pub(super) fn purge(&self, at_most: usize) -> usize {
        let now = self.shared.now();
        let start = *self.turn();
        let mut purged = 0_usize;
        for (at, shard) in self.all_from(start) {
            while purged < at_most {
                let step = at_most.saturating_sub(purged).min(PURGE_STEP);
                let lets_go = |row: &Receipt| self.shared.lets_go(row);
                let found = shard.table().purge(now, step, lets_go);
                purged = purged.saturating_add(found);
                if found < step {
                    break;
                }
            }
            if purged == at_most {
                *self.turn() = at;
                break;
            }
        }
        purged
    }

    /// Counts all receipts.
    pub(super) fn stats(&self) -> StoreStats {
        let mut stats = StoreStats::at(self.shared.now());
        for (_, shard) in self.all_from(0) {
            shard.table().count(&mut stats);
        }
        stats
    }
}
