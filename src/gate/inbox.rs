//! Answering through an inbox.

use time::OffsetDateTime;

use crate::{
    headers::Headers,
    inbox::{Accepted, Parcel},
    review::ReviewStore,
};

use super::{Decision, Gate, Outcome};

impl<S: ReviewStore> Gate<S> {
    /// Headers to keep with each delivery that is stored, in the inbox or for review; none if not set.
    /// Name none that carries a secret ([`Parcel::keep`]).
    #[must_use]
    pub fn keep_headers<N: Into<Box<str>>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.kept_headers = names.into_iter().map(Into::into).collect();
        self
    }

    /// Takes one delivery into the inbox and says what to answer: 200 once it is stored, or was
    /// before; 503 if the store cannot say so; and the rest as [`handle`](Gate::handle) does. A
    /// [`Worker`](crate::inbox::Worker) acts on it later.
    ///
    /// Conflicts and stale deliveries are kept for [review](crate::review), unless
    /// [`keep_for_review`](Gate::keep_for_review) says otherwise, and reported.
    ///
    /// Of the gate's settings, lease, attempts and retry wait do not count here: they are the
    /// worker's.
    pub async fn accept(
        &self,
        raw_body: &[u8],
        headers: &impl Headers,
        now: OffsetDateTime,
    ) -> Outcome {
        let mut facts = self.facts(headers);
        let sorting = Some(self.desk.sorting());
        let (delivery, key) = match self.admit(raw_body, headers, now, &mut facts) {
            Ok(admitted) => admitted,
            Err(decision) => {
                let decision = self
                    .keep_stale(sorting, *decision, headers, &mut facts)
                    .await;
                return facts.decide(decision, &self.answers);
            }
        };
        let parcel = Parcel::new(&delivery, self.claiming(&delivery, key));
        let parcel = self.with_headers(parcel, headers);
        let decision = match self.store.accept(parcel).await {
            Err(error) => Decision::Unavailable(error),
            Ok(Accepted::New(receipt)) => Decision::Accepted(receipt),
            Ok(Accepted::Pending(receipt)) => Decision::Pending(receipt),
            Ok(Accepted::Duplicate(receipt)) => Decision::Duplicate(receipt),
            Ok(Accepted::Dead(receipt)) => Decision::Dead(receipt),
            Ok(Accepted::Conflict(conflict)) => {
                self.keep_conflict(sorting, &delivery, conflict, headers, &mut facts)
                    .await
            }
            Ok(Accepted::InProgress { retry_after, .. }) => Decision::InProgress { retry_after },
        };
        facts.decide(decision, &self.answers)
    }
}
