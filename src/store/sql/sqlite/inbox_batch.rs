//! Many deliveries in one transaction.

use crate::{
    inbox::{Accepted, BatchInbox, Parcel, bounded},
    store::{StoreError, StoreErrorKind, StoreFuture},
};

use super::{SqliteStore, lane::Unwanted, verbs::Verbs};

type Answers = Vec<Result<Accepted, StoreError>>;

impl BatchInbox for SqliteStore {
    fn accept_many(&self, parcels: Vec<Parcel>) -> StoreFuture<'_, Result<Answers, StoreError>> {
        Box::pin(async move {
            let looks = self.read(look_at(bounded(parcels)?)).await?;
            let (mut answers, mut asked) = (Vec::with_capacity(looks.len()), Vec::new());
            for look in looks {
                match look {
                    Look::Known(answer) => answers.push(Some(answer)),
                    Look::Ask(parcel) => {
                        asked.push(*parcel);
                        answers.push(None);
                    }
                }
            }
            let mut written = match asked.is_empty() {
                true => Vec::new(),
                // Asked of us is to store them, whether or not somebody still waits for the answer.
                false => self.write(Unwanted::Run, accept_all(asked)).await?,
            }
            .into_iter();
            let rest = || Err(StoreError::new(StoreErrorKind::Corrupt));
            let answers = answers.into_iter();
            Ok(answers
                .map(|answer| answer.or_else(|| written.next()).unwrap_or_else(rest))
                .collect())
        })
    }
}

enum Look {
    Known(Result<Accepted, StoreError>),
    Ask(Box<Parcel>),
}

/// On a reader: known events are not written about.
fn look_at(
    parcels: Vec<Parcel>,
) -> impl FnOnce(&mut Verbs<'_>) -> Result<Vec<Look>, StoreError> + Send {
    move |verbs| {
        let look = |parcel: Parcel| match verbs.known(parcel.claiming()) {
            Err(error) if error.kind() == StoreErrorKind::Corrupt => Ok(Look::Known(Err(error))),
            Err(error) => Err(error),
            Ok(Some(known)) => Ok(Look::Known(Ok(known))),
            Ok(None) => Ok(Look::Ask(Box::new(parcel))),
        };
        parcels.into_iter().map(look).collect()
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
