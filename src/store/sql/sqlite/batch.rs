//! Many claims in one transaction.

use crate::store::{
    BatchStore, Claim, Claiming, Ruling, StoreError, StoreErrorKind, StoreFuture, bounded,
};

use super::{
    SqliteStore, closed,
    lane::Unwanted,
    verbs::{Ruled, Verbs, moment},
};

type Answers = Vec<Result<Claim, StoreError>>;

impl BatchStore for SqliteStore {
    fn claim_many(&self, claimings: Vec<Claiming>) -> StoreFuture<'_, Result<Answers, StoreError>> {
        Box::pin(async move {
            let looks = self.look_at(bounded(claimings)?).await?;
            let (mut answers, mut asked) = (Vec::with_capacity(looks.len()), Vec::new());
            for look in looks {
                match look {
                    Look::Known(answer) => answers.push(Some(answer)),
                    Look::Ask(claiming) => {
                        asked.push(claiming);
                        answers.push(None);
                    }
                }
            }
            let mut written = match asked.is_empty() {
                true => Vec::new(),
                false => self.claim_all(asked).await?,
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
    Known(Result<Claim, StoreError>),
    Ask(Claiming),
}

impl SqliteStore {
    /// On a reader: known events are not written about.
    async fn look_at(&self, claimings: Vec<Claiming>) -> Result<Vec<Look>, StoreError> {
        let look = move |verbs: &mut Verbs<'_>| {
            let look = |claiming: Claiming| match verbs.find(&claiming.key) {
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {
                    Ok(Look::Known(Err(error)))
                }
                Err(error) => Err(error),
                Ok(stored) => {
                    let now = moment(verbs.clock);
                    Ok(match stored.map(|row| row.ruling(&claiming, now)) {
                        Some(Ruling::Answer(claim)) => Look::Known(Ok(claim)),
                        _ => Look::Ask(claiming),
                    })
                }
            };
            claimings.into_iter().map(look).collect()
        };
        let answer = self.read.submit(Unwanted::Skip, look, |looks| looks);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    /// On the writer, one after the other. All are committed or none, but for the ones that cannot
    /// be read.
    async fn claim_all(&self, claimings: Vec<Claiming>) -> Result<Answers, StoreError> {
        let on_abandoned = self.give_back();
        let claim = move |verbs: &mut Verbs<'_>| {
            verbs.whole(|verbs| {
                let mut ruled = Vec::with_capacity(claimings.len());
                for claiming in claimings {
                    ruled.push(match verbs.whole(|verbs| verbs.claim(&claiming)) {
                        Ok(one) => Ok((claiming, one)),
                        Err(error) if error.kind() == StoreErrorKind::Corrupt => Err(error),
                        Err(error) => return Err(error),
                    });
                }
                Ok(ruled)
            })
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
