//! Keeping for review what is not acted on.

use std::sync::Arc;

use crate::{
    event::KeyError,
    headers::Headers,
    inbox::Parcel,
    review::{Case, Kept, OnKept, ReviewStore},
    store::{Conflict, IdempotencyStore, Stderr, StoreError, StoreFuture},
    verify::{Rejection, StaleDelivery, Verified},
};

use super::{Decision, Gate, outcome::Facts};

/// What a [`Gate`] keeps for [review](crate::review).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reviewing {
    /// Conflicts and stale deliveries.
    #[default]
    All,
    /// Known ids with other content.
    Conflicts,
    /// Authentic deliveries outside the allowed age.
    Stale,
    /// Nothing: the content of a conflict, and what came late, is lost but for what you do with the
    /// [`Outcome`](super::Outcome).
    Nothing,
}

impl Reviewing {
    const fn conflicts(self) -> bool {
        matches!(self, Reviewing::All | Reviewing::Conflicts)
    }

    const fn stale(self) -> bool {
        matches!(self, Reviewing::All | Reviewing::Stale)
    }
}

/// Why a delivery that was to be kept for review is not.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The store could not keep it.
    #[error("the delivery could not be kept for review")]
    Store(#[source] StoreError),
    /// Nothing names its event, so there is nothing to keep it under.
    #[error("the delivery cannot be kept for review, since nothing names its event")]
    Unkeyed(#[source] KeyError),
}

type Keep<S> = for<'s> fn(&'s S, Case) -> StoreFuture<'s, Result<Kept, StoreError>>;

/// What is kept, by which function, and who is told. A function, because a gate's store need not be
/// one that can keep anything.
pub(super) struct Desk<S> {
    chosen: Option<Sorting<S>>,
    report: Arc<dyn OnKept>,
}

pub(super) struct Sorting<S> {
    what: Reviewing,
    keep: Keep<S>,
}

impl<S> Clone for Sorting<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Sorting<S> {}

impl<S> Desk<S> {
    pub(super) fn new() -> Self {
        Self {
            chosen: None,
            report: Arc::new(Stderr),
        }
    }

    /// What was chosen, for the gate's own answers.
    pub(super) fn chosen(&self) -> Option<Sorting<S>> {
        self.chosen
    }

    /// The same for an inbox, where keeping is the default.
    pub(super) fn sorting(&self) -> Sorting<S>
    where
        S: ReviewStore,
    {
        self.chosen.unwrap_or(Sorting {
            what: Reviewing::default(),
            keep: S::keep,
        })
    }
}

impl<S: ReviewStore> Gate<S> {
    /// What is kept for [review](crate::review): for [`accept`](Gate::accept), [`Reviewing::All`]
    /// unless set here; for [`handle`](Gate::handle), nothing unless set here.
    ///
    /// A conflict that is kept is answered 202; if the store cannot keep it, 503, so that the sender
    /// repeats it. A stale delivery is answered 401 in every case.
    /// [`Outcome::review`](super::Outcome::review) says what became of it.
    #[must_use]
    pub fn keep_for_review(mut self, what: Reviewing) -> Self {
        let keep = S::keep;
        self.desk.chosen = Some(Sorting { what, keep });
        self
    }

    /// Who is told of each delivery that is kept, once; standard error if not set.
    #[must_use]
    pub fn on_kept(mut self, report: impl OnKept + 'static) -> Self {
        self.desk.report = Arc::new(report);
        self
    }
}

impl<S> Gate<S> {
    /// A delivery with the headers that are kept with it.
    pub(super) fn with_headers(&self, mut parcel: Parcel, headers: &impl Headers) -> Parcel {
        for name in &self.kept_headers {
            parcel = parcel.keep(headers, name);
        }
        parcel
    }
}

impl<S: IdempotencyStore> Gate<S> {
    /// Keeps what was not let in, if it is a stale delivery and those are kept.
    pub(super) async fn keep_stale(
        &self,
        sorting: Option<Sorting<S>>,
        decision: Decision,
        headers: &impl Headers,
        facts: &mut Facts,
    ) -> Decision {
        let Some(sorting) = sorting.filter(|sorting| sorting.what.stale()) else {
            return decision;
        };
        let Decision::Rejected(Rejection::Stale(stale)) = &decision else {
            return decision;
        };
        let kept = match self.late(stale, headers, facts) {
            Ok(case) => self.keep(sorting, case).await,
            Err(error) => Err(NotKept::Unkeyed(error)),
        };
        facts.review(kept);
        decision
    }

    /// It is only named here, and not acted on.
    fn late(
        &self,
        stale: &StaleDelivery,
        headers: &impl Headers,
        facts: &mut Facts,
    ) -> Result<Case, KeyError> {
        let delivery = stale.authentic();
        facts.delivery(&delivery);
        let key = (self.key_by)(&delivery, &self.tenant)?;
        facts.event(&key);
        let parcel = Parcel::new(&delivery, self.claiming(&delivery, key));
        Ok(Case::late(self.with_headers(parcel, headers)))
    }

    /// Keeps the second content of an event, if conflicts are kept.
    pub(super) async fn keep_conflict(
        &self,
        sorting: Option<Sorting<S>>,
        delivery: &Verified<'_>,
        conflict: Conflict,
        headers: &impl Headers,
        facts: &mut Facts,
    ) -> Decision {
        let Some(sorting) = sorting.filter(|sorting| sorting.what.conflicts()) else {
            return Decision::Conflict(conflict);
        };
        let claiming = self.claiming(delivery, conflict.receipt.key.clone());
        let parcel = self.with_headers(Parcel::new(delivery, claiming), headers);
        let kept = self.keep(sorting, Case::conflict(parcel, &conflict)).await;
        let decision = match &kept {
            Ok(_) => Decision::Conflict(conflict),
            Err(_) => Decision::Unkept(conflict),
        };
        facts.review(kept);
        decision
    }

    async fn keep(&self, sorting: Sorting<S>, case: Case) -> Result<Kept, NotKept> {
        let kept = (sorting.keep)(&self.store, case).await;
        if let Ok(Kept::New(review)) = &kept {
            self.desk.report.kept(review);
        }
        kept.map_err(NotKept::Store)
    }
}
