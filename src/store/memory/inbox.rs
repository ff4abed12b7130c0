//! An inbox in memory: for tests, since what it has accepted is gone with the process.
//!
//! What is due is found by looking at every event that waits, so it suits some thousands of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use time::OffsetDateTime;

use crate::{
    clock::after,
    event::EventKey,
    inbox::{Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, Requeued},
    store::{
        Claim, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        receipt::First,
    },
};

use super::MemoryStore;

/// Deliveries beside the receipts.
#[derive(Default)]
pub(super) struct Bodies(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    parked: BTreeMap<[u8; 16], Parked>,
    /// What may have to be acted on. An event that has ended is taken off when it is next seen.
    pending: BTreeSet<[u8; 16]>,
}

impl Bodies {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets an event whose receipt is to be purged, but keeps one that waits.
    pub(super) fn let_go(&self, receipt: &Receipt) -> bool {
        let mut lists = self.lists();
        let digest = receipt.key.digest();
        let has_ended = matches!(receipt.state, State::Processed | State::Dead);
        if !has_ended && lists.pending.contains(digest) {
            return false;
        }
        lists.pending.remove(digest);
        lists.parked.remove(digest);
        true
    }

    pub(super) fn forget(&self, key: &EventKey) {
        let mut lists = self.lists();
        lists.pending.remove(key.digest());
        lists.parked.remove(key.digest());
    }

    fn keep(&self, parked: Parked) {
        let mut lists = self.lists();
        let digest = *parked.key.digest();
        lists.pending.insert(digest);
        lists.parked.entry(digest).or_insert(parked);
    }

    fn get(&self, digest: &[u8; 16]) -> Option<Parked> {
        self.lists().parked.get(digest).cloned()
    }

    fn keys(&self) -> Vec<EventKey> {
        let lists = self.lists();
        lists.parked.values().map(|kept| kept.key.clone()).collect()
    }

    fn pending(&self) -> Vec<EventKey> {
        let lists = self.lists();
        let parked = |digest| lists.parked.get(digest);
        let waiting = lists.pending.iter().filter_map(parked);
        waiting.map(|kept| kept.key.clone()).collect()
    }
}

impl MemoryStore {
    fn bodies(&self) -> &Bodies {
        &self.shards.shared().inbox
    }

    pub(super) fn receive(
        &self,
        parcel: Parcel,
        now: OffsetDateTime,
    ) -> Result<Accepted, StoreError> {
        let key = parcel.key().clone();
        let (shard, hash) = self.shards.of(&key);
        let mut table = self.shards.table_with_room(shard, hash, &key, now)?;
        let place = match table.find(hash, &key) {
            Ok((_, stored)) => {
                // A claim that is won or refused for now is one that the inbox takes over.
                return Ok(match stored.ruling(parcel.claiming(), now) {
                    Ruling::Answer(Claim::Conflict(conflict)) => Accepted::Conflict(conflict),
                    _ if stored.state == State::Processed => Accepted::Duplicate(stored),
                    _ if stored.state == State::Dead => Accepted::Dead(stored),
                    _ => {
                        self.bodies().keep(parcel.park(now));
                        Accepted::Pending(stored)
                    }
                });
            }
            Err(place) => place,
        };
        let full = || StoreError::new(StoreErrorKind::Full);
        let first = First::of(parcel.claiming(), now, table.used());
        table
            .insert(hash, place, parcel.claiming(), &first)
            .ok_or_else(full)?;
        let mut received = Receipt::received(parcel.claiming(), now, table.used());
        // Cannot fail: it was added above, and the lock is held.
        let (slot, _) = table.find(hash, &key).map_err(|_| full())?;
        table.write(slot, &mut received);
        self.bodies().keep(parcel.park(now));
        Ok(Accepted::New(received))
    }

    fn lease(&self, leasing: Leasing) -> Leased {
        let now = self.shards.shared().now();
        let mut due: Vec<_> = self
            .bodies()
            .pending()
            .into_iter()
            .filter_map(|key| {
                let (shard, hash) = self.shards.of(&key);
                let receipt = shard.get(hash, &key)?;
                let since = receipt.until.unwrap_or(receipt.changed_at);
                (!receipt.is_waiting(now)).then_some((since, *key.digest(), key))
            })
            .collect();
        due.sort_by_key(|(since, digest, _)| (*since, *digest));
        let mut leased = Leased::default();
        for (_, _, key) in due {
            if leased.events.len() >= leasing.limit() {
                leased.more = true;
                break;
            }
            self.lease_one(&key, &leasing, &mut leased);
        }
        leased
    }

    fn lease_one(&self, key: &EventKey, leasing: &Leasing, leased: &mut Leased) {
        let now = self.shards.shared().now();
        let (shard, hash) = self.shards.of(key);
        let mut table = shard.table();
        let Ok((slot, stored)) = table.find(hash, key) else {
            return;
        };
        let Some(parked) = self.bodies().get(key.digest()) else {
            return;
        };
        let claiming = leasing.claiming(&stored);
        match stored.ruling(&claiming, now) {
            Ruling::Take(mut row) => {
                table.write(slot, &mut row);
                let lease = Lease::issue(claiming, &row, shard.clone());
                leased.events.push((lease, parked));
            }
            Ruling::Bury(mut row) => {
                table.write(slot, &mut row);
                self.bodies().lists().pending.remove(key.digest());
                leased.buried.push(row);
            }
            Ruling::Answer(Claim::InProgress { .. }) => {}
            // It has ended.
            Ruling::Answer(_) => {
                self.bodies().lists().pending.remove(key.digest());
            }
        }
    }

    fn send_back(&self, key: &EventKey) -> Requeued {
        let now = self.shards.shared().now();
        let (shard, hash) = self.shards.of(key);
        let mut table = shard.table();
        let Ok((slot, stored)) = table.find(hash, key) else {
            return Requeued::Unknown;
        };
        if !matches!(stored.state, State::Failed | State::Dead) {
            return Requeued::NotFailed(stored);
        }
        if self.bodies().get(key.digest()).is_none() {
            return Requeued::NoBody(stored);
        }
        let mut row = stored.requeued(now);
        table.write(slot, &mut row);
        self.bodies().lists().pending.insert(*key.digest());
        Requeued::Waiting(row)
    }

    fn page(&self, listing: Listing) -> Vec<Receipt> {
        let receipt = |key: EventKey| {
            let (shard, hash) = self.shards.of(&key);
            shard.get(hash, &key)
        };
        let keys = self.bodies().keys().into_iter();
        keys.filter(|key| listing.is_before(key.digest()))
            .filter_map(receipt)
            .filter(|receipt| receipt.state == listing.state)
            .take(listing.limit)
            .collect()
    }

    fn drop_some(&self, dropping: Dropping) -> usize {
        let now = self.shards.shared().now();
        let mut dropped = 0_usize;
        for key in self.bodies().keys() {
            if dropped == dropping.limit {
                break;
            }
            let (shard, hash) = self.shards.of(&key);
            let table = shard.table();
            let Ok((_, receipt)) = table.find(hash, &key) else {
                continue;
            };
            let kept = self.bodies().get(key.digest());
            let is_old = kept.is_some_and(|kept| after(kept.accepted_at, dropping.age) <= now);
            if is_old && dropping.takes(receipt.state) {
                self.bodies().forget(&key);
                dropped = dropped.saturating_add(1);
            }
        }
        dropped
    }
}

/// Not durable: what was accepted is gone with the process, although its sender was told 200.
impl InboxStore for MemoryStore {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        Box::pin(async move { self.receive(parcel, self.shards.shared().now()) })
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        Box::pin(async move { Ok(self.lease(leasing)) })
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        Box::pin(async move { Ok(self.send_back(key)) })
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        Box::pin(async move { Ok(self.page(listing)) })
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        Box::pin(async move { Ok(self.bodies().get(key.digest())) })
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { Ok(self.drop_some(dropping)) })
    }
}
