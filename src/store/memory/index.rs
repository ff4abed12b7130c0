//! From a key to its slot: open addressing over 32-bit words, with linear probing.
//!
//! The standard library's map takes its size in powers of two and a key beside each number: up to
//! 48 bytes a receipt. This takes 5 to 7.

use std::hash::{BuildHasher as _, RandomState};

use super::slab::Slot;

/// A word is a slot's number with the lowest 8 bits of its hash below it, so that a probe seldom
/// has to look at an entry that is not the one.
const TAG_BITS: u32 = 8;

const EMPTY: u32 = u32::MAX;

/// The hash of a key.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

/// Makes hashes, in another way for each store.
///
/// Digests are uniform already, but a tenant may try ids until it has many whose digests begin
/// alike, and so would make long chains. Multiplied by an odd number that nobody knows, any two of
/// them meet in one place hardly more often than by chance ("multiply-shift", Dietzfelbinger et
/// al. 1997). That is all the mixing they need, at a cost of three multiplications.
#[derive(Clone, Copy)]
pub(super) struct Hasher(u128);

impl Hasher {
    /// The standard library's maps get their random keys from the same place.
    pub(super) fn random() -> Self {
        let random = RandomState::new();
        let [low, high] = [0, 1].map(|half| u128::from(random.hash_one(half)));
        Self(high << 64 | low | 1)
    }

    pub(super) fn hash(self, digest: &[u8; 16]) -> Hash {
        let product = u128::from_ne_bytes(*digest).wrapping_mul(self.0);
        Hash((product >> 64) as u64)
    }
}

impl Hash {
    /// Bits 8 to 31 choose the shard: neither those of the tag nor those of the home. Otherwise
    /// the keys of one shard would crowd in one corner of its index.
    pub(super) const fn shard_bits(self) -> usize {
        (self.0 as u32 >> TAG_BITS) as usize
    }

    /// The highest 32 bits, scaled to the number of words: any number will do.
    const fn home(self, words: usize) -> usize {
        ((self.0 >> 32).wrapping_mul(words as u64) >> 32) as usize
    }

    const fn word(self, slot: Slot) -> u32 {
        slot.0 << TAG_BITS | self.tag() as u32
    }

    const fn tag(self) -> u8 {
        self.0 as u8
    }
}

const fn slot_of(word: u32) -> Slot {
    Slot(word >> TAG_BITS)
}

/// Where a chain ends. It holds until the index changes.
#[derive(Clone, Copy)]
pub(super) struct Place(usize);

pub(super) struct Index {
    words: Vec<u32>,
    used: usize,
}

impl Index {
    pub(super) const fn new() -> Self {
        Self {
            words: Vec::new(),
            used: 0,
        }
    }

    /// What `look` finds in one of the slots of this hash, or else the place for a new one.
    pub(super) fn find<T>(&self, hash: Hash, look: impl Fn(Slot) -> Option<T>) -> Result<T, Place> {
        let home = hash.home(self.words.len());
        let (before, after) = self.words.split_at_checked(home).unwrap_or_default();
        let mut chain = (home..).zip(after).chain((0..).zip(before));
        let end = chain.find_map(|(at, word)| match *word {
            EMPTY => Some(Err(Place(at))),
            word if word as u8 == hash.tag() => look(slot_of(word)).map(Ok),
            _ => None,
        });
        end.unwrap_or(Err(Place(self.words.len())))
    }

    /// Whether one more needs [`Index::rebuild`] first: at most 85 words in 100 are used.
    pub(super) fn is_full(&self) -> bool {
        self.used.saturating_mul(100) >= self.words.len().saturating_mul(85)
    }

    /// Grows by four tenths and starts anew from all entries: after that, 60 words in 100 are used.
    /// Doubling would leave too many of them empty.
    pub(super) fn rebuild(&mut self, entries: impl Iterator<Item = (Hash, Slot)>) {
        let words = self.words.len().saturating_mul(7) / 5;
        self.words = vec![EMPTY; words.max(16)];
        self.used = 0;
        for (hash, slot) in entries {
            if let Err(place) = self.find(hash, |_| None::<()>) {
                self.insert(hash, slot, place);
            }
        }
    }

    /// Adds a slot that is not in yet, at the place where it was missed.
    pub(super) fn insert(&mut self, hash: Hash, slot: Slot, Place(at): Place) {
        self.put(at, hash.word(slot));
        self.used = self.used.saturating_add(1);
    }

    /// Takes a slot out and moves later words of its chain up, so that no mark must stay behind.
    pub(super) fn remove(
        &mut self,
        hash: Hash,
        slot: Slot,
        hash_of: impl Fn(Slot) -> Option<Hash>,
    ) {
        let words = self.words.len();
        let home = hash.home(words);
        let gone = hash.word(slot);
        let is_it = |at: &usize| self.words.get(*at) == Some(&gone);
        let Some(mut hole) = (home..words).chain(0..home).find(is_it) else {
            return;
        };
        for at in (hole..words).chain(0..hole).skip(1) {
            let Some(word) = self.words.get(at).copied().filter(|word| *word != EMPTY) else {
                break;
            };
            // A word may not stand before its home.
            let home = hash_of(slot_of(word)).map_or(at, |hash| hash.home(words));
            if distance(home, at, words) >= distance(hole, at, words) {
                self.put(hole, word);
                hole = at;
            }
        }
        self.put(hole, EMPTY);
        self.used = self.used.saturating_sub(1);
    }

    fn put(&mut self, at: usize, word: u32) {
        if let Some(place) = self.words.get_mut(at) {
            *place = word;
        }
    }
}

/// Steps from one place of a ring to another.
const fn distance(from: usize, to: usize, ring: usize) -> usize {
    match to.checked_sub(from) {
        Some(steps) => steps,
        None => to.wrapping_add(ring).wrapping_sub(from),
    }
}
