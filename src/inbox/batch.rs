//! Many deliveries in one call.

use std::sync::Arc;

use crate::store::{MAX_BATCH, StoreError, StoreErrorKind, StoreFuture};

use super::{Accepted, InboxStore, Parcel};

/// Most bytes that the parcels of one batch may keep together ([`Parcel::bytes`]): 16 MiB of bodies and
/// chosen headers. A larger batch is refused with [`StoreErrorKind::BatchTooLarge`] before anything
/// is accepted: it bounds what one call takes of the memory of both sides, and for how long it holds an
/// engine. A single delivery that is longer has to be [accepted](InboxStore::accept) by itself.
pub const MAX_BATCH_BYTES: usize = 16 * 1024 * 1024;

/// An inbox that can accept many deliveries in one step, for senders and queues that deliver in bulk,
/// and for gateways that collect what comes in within some milliseconds: one commit is shared, which
/// is what accepting mostly costs.
///
/// There is no default method, since a loop over [`accept`](InboxStore::accept) would be the same
/// only in its answers. The cases of
/// [`batch_inbox_conformance!`](crate::batch_inbox_conformance) (feature `testing`) are this
/// contract, executed.
///
/// ```
/// # #[cfg(all(feature = "testing", feature = "json"))] {
/// # use hookproof::{Claiming, MemoryStore, Secrets, scheme, testing, verify};
/// # use time::macros::datetime;
/// use hookproof::inbox::{Accepted, BatchInbox, Parcel};
///
/// # testing::block_on(async {
/// # let now = datetime!(2027-01-15 08:00 UTC);
/// # let secret = "whsec_T3st0nlyAlphaKey4711xyz";
/// # let sign = |body: &str| testing::sign(&scheme::STRIPE, secret, body.as_bytes(), now);
/// # let requests = [sign(r#"{"id":"evt_1"}"#)?, sign(r#"{"id":"evt_2"}"#)?, sign(r#"{"id":"evt_1"}"#)?];
/// # let secrets = Secrets::new(&scheme::STRIPE, [secret])?;
/// # let store = MemoryStore::new();
/// let mut parcels = Vec::new();
/// for request in &requests {
///     let delivery = verify(&request.body, &request.headers, &secrets, now)?;
///     let key = delivery.event_key("acme")?;
///     parcels.push(Parcel::new(&delivery, Claiming::new(&delivery, key)));
/// }
/// let mut answers = store.accept_many(parcels).await?.into_iter();
/// assert!(matches!(answers.next(), Some(Ok(Accepted::New(_)))));
/// assert!(matches!(answers.next(), Some(Ok(Accepted::New(_)))));
/// assert!(matches!(answers.next(), Some(Ok(Accepted::Pending(_))))); // `evt_1` again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # }
/// ```
pub trait BatchInbox: InboxStore {
    /// Accepts deliveries as if one after the other, in the order given, and answers in that order.
    /// If an event comes twice, the first delivery is what is kept, and the next is told so:
    /// `Pending`, or `Conflict` if it came with other content.
    ///
    /// Each event is stored whole or not at all: receipt, delivery and place in the queue are one
    /// step. Whatever is answered `New` or `Pending` is stored, as durably as the store's receipts are,
    /// before the call returns. A delivery that could not be answered does not undo the others: its
    /// place holds the error, and nothing is known of it.
    ///
    /// A call that is dropped before its answer may have stored all, some or none; sent again, what
    /// is stored is `Pending`.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::BatchTooLarge`] above [`MAX_BATCH`] parcels or [`MAX_BATCH_BYTES`]; then
    /// nothing was accepted. Any other says that the engine could not answer at all; as with a single
    /// delivery, it may have stored what it was asked to all the same.
    fn accept_many(
        &self,
        parcels: Vec<Parcel>,
    ) -> StoreFuture<'_, Result<Vec<Result<Accepted, StoreError>>, StoreError>>;
}

/// For stores: the batch, if it is not too large.
///
/// # Errors
///
/// [`StoreErrorKind::BatchTooLarge`].
pub fn bounded(parcels: Vec<Parcel>) -> Result<Vec<Parcel>, StoreError> {
    let bytes = parcels.iter().map(Parcel::bytes);
    if parcels.len() > MAX_BATCH || bytes.fold(0, usize::saturating_add) > MAX_BATCH_BYTES {
        return Err(StoreError::new(StoreErrorKind::BatchTooLarge));
    }
    Ok(parcels)
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: BatchInbox + ?Sized> BatchInbox for $pointer {
            fn accept_many(
                &self,
                parcels: Vec<Parcel>,
            ) -> StoreFuture<'_, Result<Vec<Result<Accepted, StoreError>>, StoreError>> {
                (**self).accept_many(parcels)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
