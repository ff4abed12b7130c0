//! What only some receipts have.

use std::collections::HashMap;

use super::slab::Slot;

/// Values beside the slab, for the entries that have one.
pub(super) struct Side<V>(HashMap<Slot, V>);

impl<V> Side<V> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&V> {
        self.0.get(&slot)
    }

    pub(super) fn set(&mut self, slot: Slot, value: Option<V>) {
        match value {
            Some(value) => {
                self.0.insert(slot, value);
            }
            None if self.0.is_empty() => {}
            None => {
                self.0.remove(&slot);
                self.give_back();
            }
        }
    }

    /// After a bad day most entries have lost what they had here, and the room should follow.
    fn give_back(&mut self) {
        let room = self.0.capacity();
        if room > 32 && self.0.len() < room / 4 {
            self.0.shrink_to(room / 2);
        }
    }
}
