//! What is kept for review, and what it comes from.

use std::{fmt, io::Write as _, time::Duration};

use time::OffsetDateTime;

use crate::{
    clock::micros_after,
    event::{EventKey, Fingerprint, MAX_ID_BYTES},
    headers::Headers,
    inbox::{Facts, Parcel, Parked},
    store::{Claiming, Conflict, Retention, Stderr},
    verify::StaleDelivery,
};

use super::ReviewId;

/// Why a delivery is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A known id that came with other content.
    Conflict,
    /// Authentic, but outside the allowed age.
    Stale,
}

impl Reason {
    /// A short label for logs and metrics: `conflict` or `stale`.
    pub const fn label(self) -> &'static str {
        match self {
            Reason::Conflict => "conflict",
            Reason::Stale => "stale",
        }
    }

    /// For stores.
    pub const fn code(self) -> i64 {
        match self {
            Reason::Conflict => 1,
            Reason::Stale => 2,
        }
    }

    /// For stores.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Reason::Conflict),
            2 => Some(Reason::Stale),
            _ => None,
        }
    }
}

/// Where a review stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewStatus {
    /// Nobody has decided yet.
    Open,
    /// Taken into the inbox.
    Admitted,
    /// Not to be acted on.
    Discarded,
}

impl ReviewStatus {
    /// Whether somebody has to decide.
    pub const fn is_open(self) -> bool {
        matches!(self, ReviewStatus::Open)
    }

    /// For stores.
    pub const fn code(self) -> i64 {
        match self {
            ReviewStatus::Open => 0,
            ReviewStatus::Admitted => 1,
            ReviewStatus::Discarded => 2,
        }
    }

    /// For stores.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(ReviewStatus::Open),
            1 => Some(ReviewStatus::Admitted),
            2 => Some(ReviewStatus::Discarded),
            _ => None,
        }
    }
}

/// An authentic delivery on its way into a review. A [`Gate`](crate::Gate) makes them; so can you.
#[derive(Debug, Clone)]
#[must_use = "nothing is kept until a store does"]
pub struct Case {
    reason: Reason,
    parcel: Parcel,
    stored: Option<Fingerprint>,
}

impl Case {
    /// The delivery that was answered with this conflict.
    ///
    /// A parcel is made of a [`Verified`](crate::Verified) delivery only, and a conflict by a store,
    /// so what nobody has verified does not get in.
    pub fn conflict(parcel: Parcel, conflict: &Conflict) -> Self {
        Self {
            reason: Reason::Conflict,
            parcel,
            stored: Some(conflict.receipt.fingerprint),
        }
    }

    /// An authentic delivery outside the allowed age, and the event that it tells of
    /// ([`StaleDelivery::event_key`]).
    ///
    /// Nothing else is taken for one:
    ///
    /// ```compile_fail,E0308
    /// # fn run(key: hookproof::EventKey) {
    /// let case = hookproof::review::Case::stale(br#"{"id":"evt_1"}"#, key);
    /// # }
    /// ```
    pub fn stale(delivery: &StaleDelivery, key: EventKey) -> Self {
        let delivery = delivery.authentic();
        let claiming = Claiming::new(&delivery, key);
        Self::late(Parcel::new(&delivery, claiming))
    }

    /// A parcel of a stale delivery.
    pub(crate) fn late(parcel: Parcel) -> Self {
        Self {
            reason: Reason::Stale,
            parcel,
            stored: None,
        }
    }

    /// Keeps a header too; see [`Parcel::keep`].
    pub fn keep(mut self, headers: &impl Headers, name: &str) -> Self {
        self.parcel = self.parcel.keep(headers, name);
        self
    }

    /// Replaces the scheme's fingerprint by one of your own, as in [`Claiming::fingerprint`].
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.parcel.claiming = self.parcel.claiming.fingerprint(fingerprint);
        self
    }

    /// How long the receipt is kept once the delivery is admitted, as in
    /// [`Claiming::retention_policy`].
    pub fn retention_policy(mut self, policy: &Retention) -> Self {
        self.parcel.claiming = self.parcel.claiming.retention_policy(policy);
        self
    }

    /// The name of the review that it becomes.
    pub fn id(&self) -> ReviewId {
        ReviewId::of(
            self.reason,
            self.parcel.key(),
            self.parcel.claiming.content(),
        )
    }

    /// For stores: the open review that it becomes, and the delivery to keep with it.
    pub fn open(self, now: OffsetDateTime) -> (Review, Parked) {
        let (id, reason, stored) = (self.id(), self.reason, self.stored);
        let presented = self.parcel.claiming.content();
        let retention = whole(self.parcel.claiming.retention);
        let parked = self.parcel.park(now);
        let review = Review {
            id,
            reason,
            status: ReviewStatus::Open,
            key: parked.key.clone(),
            stored,
            presented,
            retention,
            facts: parked.facts.clone(),
            body_bytes: parked.body.len(),
            kept_at: now,
            resolved_at: None,
        };
        (review, parked)
    }
}

/// A delivery that was kept for somebody to look at. Its body is [asked
/// for](super::ReviewStore::review) by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Review {
    /// Its name.
    pub id: ReviewId,
    /// Why it was kept.
    pub reason: Reason,
    /// Where it stands.
    pub status: ReviewStatus,
    /// The event that it was delivered for.
    pub key: EventKey,
    /// For a conflict: the fingerprint of the content that came first, and stands.
    pub stored: Option<Fingerprint>,
    /// The fingerprint of this content.
    pub presented: Fingerprint,
    /// How long the receipt is kept once it is admitted, to the microsecond.
    pub retention: Duration,
    /// What verification found out: among others when it was sent, and when it came.
    pub facts: Facts,
    /// The length of the body.
    pub body_bytes: usize,
    /// When it was kept, on the store's clock.
    pub kept_at: OffsetDateTime,
    /// When it was admitted or discarded, on the store's clock.
    pub resolved_at: Option<OffsetDateTime>,
}

impl Review {
    /// The event that it is, or was, admitted as. For a stale delivery its own. For a conflict,
    /// whose own event is the first content's, one of its own: the same tenant and provider, and the
    /// id followed by `#` and the review's id, which is the same for the same content. (An id that
    /// would be longer than [`MAX_ID_BYTES`] is cut before that; the review's id tells it apart.)
    pub fn admitted_key(&self) -> EventKey {
        match self.reason {
            Reason::Stale => self.key.clone(),
            Reason::Conflict => {
                let id = apart(self.key.id(), self.id);
                // Cannot fail: tenant and provider are those of a key, and so is the id but for
                // what was added to it, for which there is room.
                EventKey::make(self.key.tenant(), self.key.provider(), &id)
                    .unwrap_or_else(|_| self.key.clone())
            }
        }
    }

    /// For stores: what is asked of the inbox when it is admitted.
    pub fn claiming(&self) -> Claiming {
        Claiming::business(self.admitted_key())
            .fingerprint(self.presented)
            .retention(self.retention)
    }

    /// For stores: the review once it is resolved.
    #[must_use]
    pub fn resolved(&self, status: ReviewStatus, now: OffsetDateTime) -> Self {
        Self {
            status,
            resolved_at: Some(now),
            ..self.clone()
        }
    }
}

/// Cut to what is stored of it.
fn whole(while_: Duration) -> Duration {
    let micros = micros_after(0, while_);
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

fn apart(id: &str, review: ReviewId) -> String {
    /// `#` and 32 digits.
    const ADDED: usize = 33;
    let mut end = id.len().min(MAX_ID_BYTES.saturating_sub(ADDED));
    while !id.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    format!("{}#{review}", id.get(..end).unwrap_or_default())
}

/// The answer to [`ReviewStore::keep`](super::ReviewStore::keep).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a new one is to be reported"]
pub enum Kept {
    /// Kept now. Wake a human.
    New(Review),
    /// Kept earlier; it may have been resolved since.
    Known(Review),
}

impl Kept {
    /// What is kept.
    pub fn review(&self) -> &Review {
        match self {
            Kept::New(review) | Kept::Known(review) => review,
        }
    }
}

/// Told of what is kept for review, once for each. Must not block for long and must not panic.
pub trait OnKept: Send + Sync {
    /// Takes notice of a new review.
    fn kept(&self, review: &Review);
}

impl<F: Fn(&Review) + Send + Sync> OnKept for F {
    fn kept(&self, review: &Review) {
        self(review);
    }
}

/// Most characters of a sender's text in a log line.
const LOG_CHARS: usize = 128;

/// One log line; what the sender wrote is escaped in it and cut.
impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| text.chars().take(LOG_CHARS).collect::<String>();
        let (reason, status) = (self.reason.label(), self.status);
        write!(f, "{reason} review={} {status:?}", self.id)?;
        write!(f, " provider={:?}", cut(self.key.provider()))?;
        write!(f, " tenant={:?}", cut(self.key.tenant()))?;
        write!(f, " event={:?}", cut(self.key.id()))?;
        if let Some(kind) = &self.facts.event_type {
            write!(f, " type={:?}", cut(kind))?;
        }
        if let Some(sent_at) = self.facts.sent_at {
            let received_at = self.facts.received_at.unix_timestamp();
            let age = received_at.saturating_sub(sent_at.unix_timestamp());
            write!(f, " age={age}s")?;
        }
        if let Some(stored) = self.stored {
            write!(f, " stored={stored:?}")?;
        }
        write!(
            f,
            " presented={:?} bytes={}",
            self.presented, self.body_bytes
        )
    }
}

/// One line on standard error.
impl OnKept for Stderr {
    fn kept(&self, review: &Review) {
        // Not `eprintln!`, which panics if standard error is closed.
        let _ = writeln!(std::io::stderr(), "hookproof: kept for review: {review}");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn what_is_admitted_of_a_conflict_is_an_event_of_its_own_however_long_its_id() {
        let review = ReviewId::from_bytes([0xab; 16]);
        let digits = "ab".repeat(16);
        assert_eq!(apart("evt_1", review), format!("evt_1#{digits}"));
        for id in [
            "a".repeat(MAX_ID_BYTES),
            "é".repeat(MAX_ID_BYTES / 2),
            "🦀".repeat(512),
        ] {
            assert_eq!(id.len(), MAX_ID_BYTES);
            let apart = apart(&id, review);
            assert!(apart.len() <= MAX_ID_BYTES && apart.len() > MAX_ID_BYTES - 4);
            assert!(apart.ends_with(&format!("#{digits}")), "{apart}");
            EventKey::make("t", "p", &apart).unwrap();
        }
    }

    #[test]
    fn reason_event_and_content_each_make_another_review() {
        let key = |tenant, id| EventKey::business(tenant, "shop", id).unwrap();
        let content = Fingerprint::of(b"a");
        let id = ReviewId::of(Reason::Conflict, &key("t", "e1"), content);
        assert_eq!(id, ReviewId::of(Reason::Conflict, &key("t", "e1"), content));
        for other in [
            ReviewId::of(Reason::Stale, &key("t", "e1"), content),
            ReviewId::of(Reason::Conflict, &key("u", "e1"), content),
            ReviewId::of(Reason::Conflict, &key("t", "e2"), content),
            ReviewId::of(Reason::Conflict, &key("t", "e1"), Fingerprint::of(b"b")),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn codes_are_read_back() {
        for code in -1..5 {
            assert!(Reason::from_code(code).is_none_or(|reason| reason.code() == code));
            assert!(ReviewStatus::from_code(code).is_none_or(|status| status.code() == code));
        }
        let known = |known: fn(i64) -> bool| (-1..5).filter(|code| known(*code)).count();
        assert_eq!(known(|code| Reason::from_code(code).is_some()), 2);
        assert_eq!(known(|code| ReviewStatus::from_code(code).is_some()), 3);
    }
}
