//! Many deliveries in one transaction.

use std::iter::once;

use crate::{
    inbox::{Accepted, BatchInbox, Parcel, bounded},
    store::{StoreError, StoreErrorKind, StoreFuture},
};

use super::{SqliteStore, lane::Unwanted, verbs::Verbs};

type Answers = Vec<Result<Accepted, StoreError>>;

impl BatchInbox for SqliteStore {
    fn accept_many(&self, parcels: Vec<Parcel>) -> StoreFuture<'_, Result<Answers, StoreError>> {
        Box::pin(async move {
            let (mut answers, left) = self.read(look_at(bounded(parcels)?)).await?;
            if !left.is_empty() {
                // Asked of us is to store them, whether or not somebody still waits for the answer.
                answers.extend(self.write(Unwanted::Run, accept_all(left)).await?);
            }
            Ok(answers)
        })
    }
}

/// On a reader, up to the first that may have to be stored, and what is left from there on. So a batch
/// of known events waits for no writer.
fn look_at(
    parcels: Vec<Parcel>,
) -> impl FnOnce(&mut Verbs<'_>) -> Result<(Answers, Vec<Parcel>), StoreError> + Send {
    move |verbs| {
        let mut known = Vec::new();
        let mut left = parcels.into_iter();
        while let Some(parcel) = left.next() {
            match verbs.known(parcel.claiming()) {
                Err(error) if error.kind() == StoreErrorKind::Corrupt => known.push(Err(error)),
                Err(error) => return Err(error),
                Ok(Some(answer)) => known.push(Ok(answer)),
                Ok(None) => return Ok((known, once(parcel).chain(left).collect())),
            }
        }
        Ok((known, Vec::new()))
    }
}

/// On the writer, one after the other. All are committed or none, but for the ones that cannot be
/// read.
fn accept_all(
    parcels: Vec<Parcel>,
) -> impl FnOnce(&mut Verbs<'_>) -> Result<Answers, StoreError> + Send {
    move |verbs| {
        let mut answers = Vec::with_capacity(parcels.len());
        for parcel in parcels {
            answers.push(match verbs.whole(|verbs| verbs.accept(parcel)) {
                Err(error) if error.kind() != StoreErrorKind::Corrupt => return Err(error),
                answer => answer,
            });
        }
        Ok(answers)
    }
}
