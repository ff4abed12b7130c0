//! Entries under small numbers, in chunks: growing copies nothing and wastes next to nothing.

use std::{mem::replace, ops::Range};

use super::entry::Entry;

/// Entries in a chunk: the unit in which memory is asked for, and in which a purge looks for work.
const CHUNK: usize = 64;

/// Slot numbers are below this, so that a tag fits beside them into 32 bits.
pub(super) const MAX_SLOTS: u32 = (1 << 24) - 1;

/// Where no entry is, none expires.
pub(super) const NEVER: i64 = i64::MAX;

pub(super) struct Slab {
    chunks: Vec<Chunk>,
    /// The slot to use next; each vacant slot names the one after it.
    vacant: Option<Slot>,
    /// No entry expires before this.
    soonest: i64,
}

/// The number of an entry in its slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slot(pub(super) u32);

struct Chunk {
    cells: Box<[Cell; CHUNK]>,
    /// No entry in here expires before this.
    soonest: i64,
}

enum Cell {
    Taken(Entry),
    Vacant { next: Option<Slot> },
}

// 64 bytes for a receipt, less the index's share.
const _: () = assert!(size_of::<Cell>() == 56);

impl Slab {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            vacant: None,
            soonest: NEVER,
        }
    }

    /// `None` if all slots are taken.
    pub(super) fn insert(&mut self, entry: Entry, expires_at: i64) -> Option<Slot> {
        let slot = match self.vacant {
            Some(slot) => slot,
            None => self.grow()?,
        };
        let chunk = self.chunks.get_mut(slot.chunk())?;
        chunk.soonest = chunk.soonest.min(expires_at);
        self.soonest = self.soonest.min(expires_at);
        let cell = chunk.cells.get_mut(slot.cell())?;
        if let Cell::Vacant { next } = replace(cell, Cell::Taken(entry)) {
            self.vacant = next;
        }
        Some(slot)
    }

    /// Adds a chunk, and returns its first slot.
    fn grow(&mut self) -> Option<Slot> {
        let first = u32::try_from(self.slots()).ok()?;
        let end = first.checked_add(CHUNK as u32)?;
        if end > MAX_SLOTS {
            return None;
        }
        // Written from end to end while it is in the cache, where the entries will find it.
        let nexts = (first..end).skip(1).map(|slot| Some(Slot(slot)));
        let cells = nexts.chain([None]).map(|next| Cell::Vacant { next });
        let cells: Box<[Cell]> = cells.collect();
        self.chunks.push(Chunk {
            cells: cells.try_into().ok()?,
            soonest: NEVER,
        });
        Some(Slot(first))
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        match self.chunks.get(slot.chunk())?.cells.get(slot.cell())? {
            Cell::Taken(entry) => Some(entry),
            Cell::Vacant { .. } => None,
        }
    }

    /// Replaces an entry by one of the same receipt, which expires at the same time.
    pub(super) fn replace(&mut self, slot: Slot, entry: Entry) {
        if let Some(cell) = self.cell(slot) {
            *cell = Cell::Taken(entry);
        }
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let next = self.vacant;
        if let Some(cell) = self.cell(slot) {
            *cell = Cell::Vacant { next };
            self.vacant = Some(slot);
        }
    }

    fn cell(&mut self, slot: Slot) -> Option<&mut Cell> {
        self.chunks
            .get_mut(slot.chunk())?
            .cells
            .get_mut(slot.cell())
    }

    /// All entries, in the order of their slots.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Slot, &Entry)> {
        let cells = self.chunks.iter().flat_map(|chunk| chunk.cells.iter());
        (0..).zip(cells).filter_map(|(slot, cell)| match cell {
            Cell::Taken(entry) => Some((Slot(slot), entry)),
            Cell::Vacant { .. } => None,
        })
    }

    /// How many slots there are, taken and vacant.
    pub(super) fn slots(&self) -> usize {
        self.chunks.len().saturating_mul(CHUNK)
    }

    /// No entry expires before this.
    pub(super) fn soonest(&self) -> i64 {
        self.soonest
    }

    /// The slots of the first chunk at or after `from` that may hold an entry which has expired.
    pub(super) fn expired(&self, from: usize, now: i64) -> Option<(usize, Range<u32>)> {
        let ahead = self.chunks.get(from..)?;
        let skip = ahead.iter().position(|chunk| chunk.soonest <= now)?;
        let chunk = from.checked_add(skip)?;
        let first = u32::try_from(chunk.checked_mul(CHUNK)?).ok()?;
        Some((chunk, first..first.saturating_add(CHUNK as u32)))
    }

    /// After looking at all of a chunk's entries: the time before which none of them expires.
    pub(super) fn looked_at(&mut self, chunk: usize, soonest: i64) {
        if let Some(chunk) = self.chunks.get_mut(chunk) {
            chunk.soonest = soonest;
        }
    }

    /// After looking at chunks: brings [`Slab::soonest`] up to date.
    pub(super) fn find_soonest(&mut self) {
        let all = self.chunks.iter().map(|chunk| chunk.soonest);
        self.soonest = all.min().unwrap_or(NEVER);
    }
}

impl Slot {
    fn chunk(self) -> usize {
        self.0 as usize / CHUNK
    }

    fn cell(self) -> usize {
        self.0 as usize % CHUNK
    }
}
