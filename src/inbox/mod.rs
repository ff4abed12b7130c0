//! Accept now, process later.
//!
//! A sender waits seconds for its answer; some work takes longer, or must be tried again at hours
//! at which the sender has given up. An inbox stores the delivery *before* the 200, and workers act
//! on it afterwards, with as many attempts as it takes:
//!
//! ```
//! # #[cfg(all(feature = "testing", feature = "json"))] {
//! # use hookproof::testing;
//! # use std::sync::Arc;
//! use hookproof::{Gate, MemoryStore, Secrets, Verdict, inbox::Worker, scheme};
//! # use time::macros::datetime;
//! # let now = datetime!(2027-01-15 08:00 UTC);
//!
//! # testing::block_on(async {
//! let store = Arc::new(MemoryStore::new()); // for this page; a real inbox is on a disk
//! let secrets = Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?;
//! let gate = Gate::new(secrets, store.clone()).tenant("acme");
//!
//! // per request: verify, store, answer
//! # let signed = testing::sign(&scheme::STRIPE, "whsec_T3st0nlyAlphaKey4711xyz", br#"{"id":"evt_1"}"#, now)?;
//! # let (raw_body, headers) = (&signed.body, &signed.headers);
//! let outcome = gate.accept(raw_body, headers, now).await;
//! assert_eq!(outcome.status(), 200);
//!
//! // beside it, in this process or any other on the same database
//! let worker = Worker::new(store, |job: hookproof::inbox::Job| async move {
//!     let _charge = job.effect_key("charge"); // the same over all attempts
//!     Ok(Verdict::done(format!("{} bytes", job.body().len())))
//! });
//! # let mut turns = 0;
//! # let shutdown = std::future::poll_fn(move |cx: &mut std::task::Context<'_>| { turns += 1; cx.waker().wake_by_ref(); if turns > 100 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending } });
//! # let sleep = |_| std::future::pending::<()>();
//! let tally = worker.run(shutdown, sleep).await; // `tokio::signal::ctrl_c()`, `tokio::time::sleep`
//! assert_eq!(tally.processed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # }
//! ```
//!
//! # What is promised
//!
//! * What was answered 200 is stored: body, chosen headers, and what verification found out
//!   ([`Facts`]), in one transaction with the receipt. As durably as the store's receipts are.
//! * Each accepted event is leased to one worker at a time, by the same fences as everywhere: a
//!   worker that was too slow cannot settle. Effects outside the store's transactions are
//!   at-least-once; give [`Job::effect_key`] to the other side.
//! * None is stuck: a worker that dies loses its leases by their end, and any other takes over.
//!   After so many attempts an event is dead, and an [`Observer`] is told. None is purged while it
//!   waits, whatever its retention.
//! * **Not** promised is an order. Events are leased by the time at which they are due; retries,
//!   and more than one worker at a time, mix them.

mod attempt;
mod backoff;
mod batch;
mod job;
mod observer;
mod parcel;
mod verbs;
mod worker;

use std::sync::Arc;

pub use backoff::Backoff;
pub use batch::{BatchInbox, MAX_BATCH_BYTES, bounded};
pub use job::Job;
pub use observer::{Notice, Observer, Task};
pub use parcel::{Facts, MAX_HEADER_BYTES, MAX_HEADERS, Parcel, Parked, ParkedRow};
pub use verbs::{Accepted, Dropping, Leased, Leasing, Listing, Requeued};
pub use worker::{Tally, Worker};

use crate::{
    event::EventKey,
    store::{IdempotencyStore, Receipt, StoreError, StoreFuture},
};

/// A store that also keeps deliveries until they have been acted on.
///
/// Each verb is one atomic step of the engine below, as with [`IdempotencyStore`], and there are no
/// default methods for the same reason. What is leased here is settled, renewed and released there.
/// A claim of an accepted event is as good as a lease from here: both go by the receipt.
pub trait InboxStore: IdempotencyStore {
    /// Stores a delivery and its receipt (state [`Received`](crate::State::Received)) unless the
    /// event is known, and says what is stored. Compares content as a claim does. An event that was
    /// claimed elsewhere and is not done gets its body stored all the same, so that an inbox takes
    /// over whatever comes of that claim.
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>>;

    /// Leases events that are due: accepted and not tried yet, failed with their wait over, or left
    /// in progress by a lease that ran out. Longest due first. Never waits for another worker.
    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>>;

    /// Sends a dead or failed event back to the start: due now, its attempts counted from 1 again.
    /// For an operator who has removed the cause.
    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>>;

    /// The receipts of one state whose bodies are kept, in the order of their keys' digests, a page
    /// at a time.
    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>>;

    /// The delivery of an event, while it is kept.
    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>>;

    /// Drops bodies, headers and facts of events that have ended; their receipts stay. Returns how
    /// many; fewer than asked for means that there are no more.
    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: InboxStore + ?Sized> InboxStore for $pointer {
            fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
                (**self).accept(parcel)
            }

            fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
                (**self).lease_due(leasing)
            }

            fn requeue<'a>(
                &'a self,
                key: &'a EventKey,
            ) -> StoreFuture<'a, Result<Requeued, StoreError>> {
                (**self).requeue(key)
            }

            fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
                (**self).list(listing)
            }

            fn parked<'a>(
                &'a self,
                key: &'a EventKey,
            ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
                (**self).parked(key)
            }

            fn drop_bodies(
                &self,
                dropping: Dropping,
            ) -> StoreFuture<'_, Result<usize, StoreError>> {
                (**self).drop_bodies(dropping)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
