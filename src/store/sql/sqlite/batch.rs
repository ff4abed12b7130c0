//! Many claims in one transaction.

use std::iter::once;

use crate::store::{
    BatchStore, Claim, Claiming, Ruling, StoreError, StoreErrorKind, StoreFuture, bounded,
};

use super::{
    SqliteStore, closed,
    lane::Unwanted,
    verbs::{Ruled, Verbs, moment},
};

type Answers = Vec<Result<Claim, StoreError>>;
type Rulings = Vec<Result<Ruled, StoreError>>;

impl BatchStore for SqliteStore {
    fn claim_many(&self, claimings: Vec<Claiming>) -> StoreFuture<'_, Result<Answers, StoreError>> {
        Box::pin(async move {
            let (mut answers, left) = self.look_at(bounded(claimings)?).await?;
            if !left.is_empty() {
                answers.extend(self.claim_all(left).await?);
            }
            Ok(answers)
        })
    }
}

impl SqliteStore {
    /// On a reader, up to the first that may have to be written, and what is left from there on. So a
    /// batch of known events waits for no writer, and one of new ones is not looked at twice.
    async fn look_at(
        &self,
        claimings: Vec<Claiming>,
    ) -> Result<(Answers, Vec<Claiming>), StoreError> {
        let look = move |verbs: &mut Verbs<'_>| {
            let mut known = Vec::new();
            let mut left = claimings.into_iter();
            while let Some(claiming) = left.next() {
                match verbs.find(&claiming.key) {
                    Err(error) if error.kind() == StoreErrorKind::Corrupt => known.push(Err(error)),
                    Err(error) => return Err(error),
                    Ok(stored) => {
                        let now = moment(verbs.clock);
                        match stored.map(|row| row.ruling(&claiming, now)) {
                            Some(Ruling::Answer(claim)) => known.push(Ok(claim)),
                            _ => return Ok((known, once(claiming).chain(left).collect())),
                        }
                    }
                }
            }
            Ok((known, Vec::new()))
        };
        let answer = self.read.submit(Unwanted::Skip, look, |looked| looked);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    /// On the writer, one after the other. All are committed or none, but for the ones that cannot
    /// be read.
    async fn claim_all(&self, claimings: Vec<Claiming>) -> Result<Answers, StoreError> {
        let on_abandoned = self.give_back();
        let claim = move |verbs: &mut Verbs<'_>| {
            let ruled = match verbs.whole(|verbs| all(verbs, &claimings)) {
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {
                    verbs.whole(|verbs| each(verbs, &claimings))
                }
                ruled => ruled,
            };
            let pair = |(claiming, ruled): (Claiming, Result<Ruled, _>)| Ok((claiming, ruled?));
            Ok(claimings.into_iter().zip(ruled?).map(pair).collect())
        };
        let finish = move |ruled: Vec<Result<(Claiming, Ruled), StoreError>>| {
            let claim =
                |(claiming, ruled): (Claiming, Ruled)| ruled.claim(claiming, on_abandoned.clone());
            ruled.into_iter().map(|one| one.map(claim)).collect()
        };
        let answer = self.write.submit(Unwanted::Skip, claim, finish);
        answer.await.unwrap_or_else(|| Err(closed()))
    }
}

/// All, or the error of one.
fn all(verbs: &mut Verbs<'_>, claimings: &[Claiming]) -> Result<Rulings, StoreError> {
    let claim = |claiming| verbs.claim(claiming).map(Ok);
    claimings.iter().map(claim).collect()
}

/// Each whole by itself, which costs two statements more: what cannot be read leaves nothing behind, and
/// the others stand.
fn each(verbs: &mut Verbs<'_>, claimings: &[Claiming]) -> Result<Rulings, StoreError> {
    let claim = |claiming| match verbs.whole(|verbs| verbs.claim(claiming)) {
        Err(error) if error.kind() != StoreErrorKind::Corrupt => Err(error),
        ruled => Ok(ruled),
    };
    claimings.iter().map(claim).collect()
}
