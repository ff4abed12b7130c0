//! The receipts of one shard. No rule is in here: those are [`Receipt`]'s.

use time::OffsetDateTime;

use crate::{
    clock::micros,
    event::EventKey,
    store::{Claiming, EffectResult, Fence, Receipt, StoreStats, receipt::First},
};

use super::{
    entry::{Entry, Facts, whole_micros},
    index::{Hash, Hasher, Index, Place},
    side::Side,
    slab::{NEVER, Slab, Slot},
};

pub(super) struct Table {
    hasher: Hasher,
    index: Index,
    slab: Slab,
    /// The facts that do not fit into an entry.
    facts: Side<Facts>,
    /// The results that are not empty.
    results: Side<Box<[u8]>>,
    /// The steps of events that have any, in the order in which they were recorded.
    pub(super) effects: Side<Box<[EffectResult]>>,
    /// The highest fence of all receipts that were removed.
    used: Fence,
    /// How many more receipts may be added.
    room: usize,
}

impl Table {
    pub(super) fn new(hasher: Hasher, room: usize) -> Self {
        Self {
            hasher,
            index: Index::new(),
            slab: Slab::new(),
            facts: Side::new(),
            results: Side::new(),
            effects: Side::new(),
            used: Fence(i64::MIN),
            room,
        }
    }

    /// The highest fence that any key which is not in here may have had.
    pub(super) fn used(&self) -> Fence {
        self.used
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// The receipt of an event and where it is, or else where it would go.
    pub(super) fn find(&self, hash: Hash, key: &EventKey) -> Result<(Slot, Receipt), Place> {
        let (slot, entry) = self.index.find(hash, |slot| {
            let entry = self.slab.get(slot)?;
            (entry.digest == *key.digest()).then_some((slot, entry))
        })?;
        let facts = self.facts_of(slot, entry);
        let result = self.results.get(slot).map(|result| result.to_vec());
        let receipt = entry.receipt(&facts, key.clone(), result.unwrap_or_default());
        Ok((slot, receipt))
    }

    fn facts_of(&self, slot: Slot, entry: &Entry) -> Facts {
        let beside = if entry.is_packed() {
            None
        } else {
            self.facts.get(slot)
        };
        beside.copied().unwrap_or_else(|| entry.facts())
    }

    /// Adds the receipt of a first claim, whose event was missed at `place`. `None` if there is no
    /// room.
    pub(super) fn insert(
        &mut self,
        hash: Hash,
        place: Place,
        claiming: &Claiming,
        first: &First,
    ) -> Option<()> {
        let room = self.room.checked_sub(1)?;
        let place = if self.index.is_full() {
            let entries = self.slab.entries();
            let hashed = entries.map(|(slot, entry)| (self.hasher.hash(&entry.digest), slot));
            self.index.rebuild(hashed);
            self.index.find(hash, |_| None::<()>).err()?
        } else {
            place
        };
        let (entry, facts) = Entry::first(claiming, first);
        let slot = self.slab.insert(entry, facts.expires_at)?;
        if !entry.is_packed() {
            self.facts.set(slot, Some(facts));
        }
        self.index.insert(hash, slot, place);
        self.room = room;
        Some(())
    }

    /// Writes a later state of a receipt over the one in its slot, and cuts its `until`, the only
    /// time that may be finer, to what is kept of it.
    pub(super) fn write(&mut self, slot: Slot, receipt: &mut Receipt) {
        receipt.until = receipt.until.map(whole_micros);
        let (entry, facts) = Entry::of(receipt);
        self.slab.replace(slot, entry);
        self.facts.set(slot, (!entry.is_packed()).then_some(facts));
        let result = receipt.result.as_slice();
        let result = (!result.is_empty()).then(|| result.into());
        self.results.set(slot, result);
    }

    /// Removes a receipt and remembers that its fence was used.
    pub(super) fn remove(&mut self, slot: Slot, receipt: &Receipt) {
        let hash = self.hasher.hash(receipt.key.digest());
        let hash_of = |slot| Some(self.hasher.hash(&self.slab.get(slot)?.digest));
        self.index.remove(hash, slot, hash_of);
        self.slab.remove(slot);
        self.facts.set(slot, None);
        self.results.set(slot, None);
        self.effects.set(slot, None);
        self.used = self.used.max(receipt.fence);
        self.room = self.room.saturating_add(1);
    }

    /// Whether a receipt's retention may be over. Where this is wrong, a purge puts it right.
    pub(super) fn has_expired(&self, now: OffsetDateTime) -> bool {
        self.slab.soonest() <= micros(now)
    }

    /// Removes up to `at_most` receipts that may be purged and that an inbox lets go, and returns
    /// how many.
    pub(super) fn purge(
        &mut self,
        now: OffsetDateTime,
        at_most: usize,
        lets_go: impl Fn(&Receipt) -> bool,
    ) -> usize {
        if !self.has_expired(now) {
            return 0;
        }
        let mut purged = 0_usize;
        let mut from = 0;
        while purged < at_most
            && let Some((chunk, slots)) = self.slab.expired(from, micros(now))
        {
            let mut soonest = NEVER;
            for slot in slots.map(Slot) {
                let Some(entry) = self.slab.get(slot) else {
                    continue;
                };
                let facts = self.facts_of(slot, entry);
                if purged < at_most && facts.expires_at <= micros(now) {
                    // Neither its result nor the readable parts of its key matter here.
                    let key = EventKey::nameless(entry.digest);
                    let receipt = entry.receipt(&facts, key, Vec::new());
                    if receipt.is_purgeable(now) && lets_go(&receipt) {
                        self.remove(slot, &receipt);
                        purged = purged.saturating_add(1);
                        continue;
                    }
                }
                soonest = soonest.min(facts.expires_at);
            }
            self.slab.looked_at(chunk, soonest);
            from = chunk.saturating_add(1);
        }
        self.slab.find_soonest();
        purged
    }

    /// Counts all receipts.
    pub(super) fn count(&self, stats: &mut StoreStats) {
        for (slot, entry) in self.slab.entries() {
            let facts = self.facts_of(slot, entry);
            // Neither its result nor the readable parts of its key matter here.
            let key = EventKey::nameless(entry.digest);
            stats.add(&entry.receipt(&facts, key, Vec::new()));
        }
    }

    /// Takes half of the room that is left.
    pub(super) fn take_room(&mut self) -> usize {
        let taken = self.room.div_ceil(2);
        self.room = self.room.saturating_sub(taken);
        taken
    }

    pub(super) fn add_room(&mut self, room: usize) {
        self.room = self.room.saturating_add(room);
    }

    /// About how long a purge in vain takes.
    pub(super) fn slots(&self) -> usize {
        self.slab.slots()
    }
}
