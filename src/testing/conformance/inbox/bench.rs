//! A bench whose store is an inbox, and the verbs as cases speak them.

use std::{ops::Deref, sync::Arc, time::Duration};

use super::super::{
    bench::{Bench, LEASE, key},
    post,
};
use crate::{
    Claiming, EventKey, Lease, Receipt, State, Verdict,
    inbox::{Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, Requeued},
    testing::Signed,
};

pub(in super::super) struct Inbox<'b> {
    pub(in super::super) bench: &'b Bench<'b>,
    pub(in super::super) store: Arc<dyn InboxStore>,
}

impl<'b> Deref for Inbox<'b> {
    type Target = Bench<'b>;

    fn deref(&self) -> &Bench<'b> {
        self.bench
    }
}

/// The usual body of an event.
pub(in super::super) fn body(id: &str) -> String {
    format!("body of {id}")
}

impl Inbox<'_> {
    pub(in super::super) fn parcel(&self, id: &str) -> Parcel {
        self.parcel_of(id, &body(id))
    }

    pub(in super::super) fn parcel_of(&self, id: &str, body: &str) -> Parcel {
        self.parcel_from(id, &post::attempt(self.now(), id, "a1", body))
    }

    pub(in super::super) fn parcel_from(&self, id: &str, signed: &Signed) -> Parcel {
        let secrets = post::secrets(&post::ATTEMPTS);
        let delivery = crate::verify(&signed.body, signed, &secrets, self.now())
            .expect("the delivery is authentic");
        Parcel::new(&delivery, Claiming::new(&delivery, key(id)))
    }

    pub(in super::super) fn accept(&self, parcel: Parcel) -> Accepted {
        self.wait(async { self.store.accept(parcel).await })
            .expect("the store could not answer")
    }

    #[track_caller]
    pub(in super::super) fn take_in(&self, id: &str) -> Receipt {
        match self.accept(self.parcel(id)) {
            Accepted::New(receipt) => receipt,
            other => panic!("expected New, got {other:?}"),
        }
    }

    #[track_caller]
    pub(in super::super) fn pending(&self, parcel: Parcel) -> Receipt {
        match self.accept(parcel) {
            Accepted::Pending(receipt) => receipt,
            other => panic!("expected Pending, got {other:?}"),
        }
    }

    pub(in super::super) fn leasing(&self, leasing: Leasing) -> Leased {
        self.wait(async { self.store.lease_due(leasing).await })
            .expect("the store could not lease")
    }

    /// Leases what is due.
    #[track_caller]
    pub(in super::super) fn due(&self) -> Vec<(Lease, Parked)> {
        let leased = self.leasing(Leasing::up_to(100).lease(LEASE));
        assert_eq!(leased.buried, [], "buried");
        assert_eq!(leased.unreadable, 0);
        leased.events
    }

    /// Leases the one that is due.
    #[track_caller]
    pub(in super::super) fn one(&self, id: &str) -> Lease {
        let mut due = self.due();
        assert_eq!(due.len(), 1, "{due:?}");
        let (lease, parked) = due.remove(0);
        assert_eq!((lease.key(), &parked.key), (&key(id), &key(id)));
        assert_eq!(parked.body, body(id).as_bytes());
        lease
    }

    #[track_caller]
    pub(in super::super) fn none_due(&self) {
        let due = self.due();
        assert!(due.is_empty(), "{due:?}");
    }

    #[track_caller]
    pub(in super::super) fn done(&self, id: &str) -> Receipt {
        let lease = self.one(id);
        self.settle(lease, Verdict::done("done"))
    }

    #[track_caller]
    pub(in super::super) fn bury(&self, id: &str) -> Receipt {
        let lease = self.one(id);
        self.settle(lease, Verdict::dead("no"))
    }

    #[track_caller]
    pub(in super::super) fn fail(&self, id: &str, wait: Duration) -> Receipt {
        let lease = self.one(id);
        self.settle(lease, Verdict::retry(wait))
    }

    pub(in super::super) fn requeue(&self, id: &str) -> Requeued {
        self.wait(async { self.store.requeue(&key(id)).await })
            .expect("cannot requeue")
    }

    pub(in super::super) fn list(&self, listing: Listing) -> Vec<Receipt> {
        self.wait(async { self.store.list(listing).await })
            .expect("cannot list")
    }

    /// The keys of all events of a state, by their digests.
    pub(in super::super) fn listed(&self, state: State) -> Vec<EventKey> {
        let receipts = self.list(Listing::of(state));
        receipts.into_iter().map(|receipt| receipt.key).collect()
    }

    pub(in super::super) fn parked(&self, id: &str) -> Option<Parked> {
        self.wait(async { self.store.parked(&key(id)).await })
            .expect("cannot read")
    }

    pub(in super::super) fn drop_bodies(&self, dropping: Dropping) -> usize {
        self.wait(async { self.store.drop_bodies(dropping).await })
            .expect("cannot drop bodies")
    }
}
