//! What became of one delivery, what to answer, and what to log.

use std::{fmt, time::Duration};

use crate::{
    event::{EventKey, KeyError},
    headers::{Headers, Lookup},
    store::{Conflict, Receipt, StoreError},
    verify::{Rejection, Verified, printable},
};

#[cfg(feature = "inbox")]
use super::review::NotKept;
use super::{Answers, DEFAULT_RETRY_AFTER, HandlerError};
#[cfg(feature = "inbox")]
use crate::review::Kept;

/// Most characters of a sender's text in a log line.
const LOG_CHARS: usize = 128;

/// What a [`Gate`](super::Gate) decided about one delivery.
#[derive(Debug)]
#[non_exhaustive]
pub enum Decision {
    /// Not accepted. [`Rejection::into_stale`] has a late delivery for review.
    Rejected(Rejection),
    /// The body is over the limit; nothing was looked at.
    TooLarge,
    /// Authentic, but nothing names the event; nothing was done.
    Unkeyed(KeyError),
    /// Acted on now, and that is written.
    Processed(Receipt),
    /// Stored in the inbox now; a worker will act on it.
    #[cfg(feature = "inbox")]
    Accepted(Receipt),
    /// Stored in the inbox, now or earlier, and not done.
    #[cfg(feature = "inbox")]
    Pending(Receipt),
    /// Acted on earlier.
    Duplicate(Receipt),
    /// Somebody else is acting on it, or a failed attempt must wait.
    InProgress {
        /// When to come again.
        retry_after: Duration,
    },
    /// A known id with other content; nothing was done. Look at it.
    Conflict(Conflict),
    /// The same, and it could not be kept for review ([`Outcome::review`] says why), so that the
    /// sender is asked to repeat it.
    #[cfg(feature = "inbox")]
    Unkept(Conflict),
    /// The handler failed; the event may be tried again.
    Failed {
        /// What was written.
        receipt: Receipt,
        /// The handler's error, if it returned one.
        error: Option<HandlerError>,
    },
    /// The handler refused the event for good, or failed for the last time. Wake a human.
    Buried {
        /// What was written.
        receipt: Receipt,
        /// The handler's error, if it returned one.
        error: Option<HandlerError>,
    },
    /// Given up earlier. Wake a human.
    Dead(Receipt),
    /// The handler ran longer than its lease, and somebody else has claimed the event since: what
    /// it did may be done twice.
    LeaseLost,
    /// The store could not be asked; the handler did not run.
    Unavailable(StoreError),
    /// The handler ran, but its verdict could not be written: it may run again.
    Unsettled(StoreError),
}

impl Decision {
    /// A short label for logs and metrics.
    pub const fn label(&self) -> &'static str {
        match self {
            Decision::Rejected(Rejection::Malformed(_)) => "malformed",
            Decision::Rejected(Rejection::Invalid(_)) => "invalid",
            Decision::Rejected(Rejection::Stale(_)) => "stale",
            Decision::Rejected(Rejection::KeyNeeded(_)) => "key_needed",
            Decision::TooLarge => "too_large",
            Decision::Unkeyed(_) => "unkeyed",
            Decision::Processed(_) => "processed",
            #[cfg(feature = "inbox")]
            Decision::Accepted(_) => "accepted",
            #[cfg(feature = "inbox")]
            Decision::Pending(_) => "pending",
            Decision::Duplicate(_) => "duplicate",
            Decision::InProgress { .. } => "in_progress",
            Decision::Conflict(_) => "conflict",
            #[cfg(feature = "inbox")]
            Decision::Unkept(_) => "unkept",
            Decision::Failed { .. } => "failed",
            Decision::Buried { .. } => "buried",
            Decision::Dead(_) => "dead",
            Decision::LeaseLost => "lease_lost",
            Decision::Unavailable(_) => "unavailable",
            Decision::Unsettled(_) => "unsettled",
        }
    }

    /// Whether somebody should look: stale, conflict, buried, dead, a lost lease or a failed store.
    pub const fn wants_attention(&self) -> bool {
        #[cfg(feature = "inbox")]
        if matches!(self, Decision::Unkept(_)) {
            return true;
        }
        matches!(
            self,
            Decision::Rejected(Rejection::Stale(_))
                | Decision::Conflict(_)
                | Decision::Buried { .. }
                | Decision::Dead(_)
                | Decision::LeaseLost
                | Decision::Unavailable(_)
                | Decision::Unsettled(_)
        )
    }
}

/// The answer to one delivery, with the facts to log beside it.
///
/// `Display` is one log line; whatever the sender wrote is escaped in it and cut.
#[derive(Debug)]
#[must_use = "the sender waits for an answer"]
pub struct Outcome {
    decision: Decision,
    status: u16,
    facts: Facts,
}

/// Correlation fields, gathered as they become known, and what was kept for review.
#[derive(Debug, Default)]
pub(super) struct Facts {
    provider: &'static str,
    tenant: Box<str>,
    request_id: Option<String>,
    delivery_id: Option<String>,
    event_id: Option<String>,
    event_type: Option<String>,
    key_id: Option<String>,
    #[cfg(feature = "inbox")]
    review: Option<Result<Kept, NotKept>>,
}

impl Facts {
    pub(super) fn new(
        provider: &'static str,
        tenant: &str,
        headers: &impl Headers,
        request_id: &str,
    ) -> Self {
        let request_id = match headers.lookup(request_id) {
            Lookup::One(value) => Some(printable(value)),
            _ => None,
        };
        Self {
            provider,
            tenant: tenant.into(),
            request_id,
            ..Self::default()
        }
    }

    pub(super) fn delivery(&mut self, delivery: &Verified<'_>) {
        self.delivery_id = delivery.delivery_id();
        self.event_type = delivery.event_type();
        self.key_id = delivery.key_id().map(Into::into);
    }

    pub(super) fn event(&mut self, key: &EventKey) {
        self.event_id = Some(key.id().into());
    }

    #[cfg(feature = "inbox")]
    pub(super) fn review(&mut self, review: Result<Kept, NotKept>) {
        self.review = Some(review);
    }

    pub(super) fn decide(self, decision: Decision, answers: &Answers) -> Outcome {
        let status = match &decision {
            Decision::Rejected(_) => 401,
            Decision::TooLarge => 413,
            Decision::Unkeyed(_) => answers.unkeyed,
            Decision::Processed(_) | Decision::Duplicate(_) => 200,
            #[cfg(feature = "inbox")]
            Decision::Accepted(_) | Decision::Pending(_) => 200,
            Decision::InProgress { .. } | Decision::LeaseLost => answers.in_progress,
            Decision::Conflict(_) => answers.conflict,
            Decision::Failed { .. } => 500,
            Decision::Buried { .. } | Decision::Dead(_) => answers.dead,
            Decision::Unavailable(_) | Decision::Unsettled(_) => 503,
            #[cfg(feature = "inbox")]
            Decision::Unkept(_) => 503,
        };
        Outcome {
            decision,
            status,
            facts: self,
        }
    }
}

impl Outcome {
    /// The HTTP status to answer with.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The `Retry-After` header to send, in whole seconds and at least 1, if one is due.
    pub fn retry_after(&self) -> Option<u64> {
        let wait = match &self.decision {
            Decision::InProgress { retry_after } => *retry_after,
            Decision::Failed { receipt, .. } => receipt
                .remaining(receipt.changed_at)
                .max(DEFAULT_RETRY_AFTER),
            Decision::LeaseLost | Decision::Unavailable(_) | Decision::Unsettled(_) => {
                DEFAULT_RETRY_AFTER
            }
            #[cfg(feature = "inbox")]
            Decision::Unkept(_) => DEFAULT_RETRY_AFTER,
            _ => return None,
        };
        let whole = Duration::from_secs(wait.as_secs());
        let seconds = if wait > whole {
            whole.as_secs().saturating_add(1)
        } else {
            whole.as_secs()
        };
        Some(seconds.max(1))
    }

    /// The body to answer with: the result of a processed event, the same for its duplicates; a
    /// fixed text otherwise.
    pub fn body(&self) -> &[u8] {
        match &self.decision {
            Decision::Processed(receipt) | Decision::Duplicate(receipt) => &receipt.result,
            Decision::Rejected(_) => Rejection::WIRE_TEXT.as_bytes(),
            Decision::TooLarge => b"body too large",
            Decision::Unkeyed(_) => b"no event id",
            Decision::InProgress { .. } | Decision::LeaseLost => b"in progress",
            Decision::Conflict(_) | Decision::Buried { .. } | Decision::Dead(_) => b"received",
            #[cfg(feature = "inbox")]
            Decision::Accepted(_) | Decision::Pending(_) => b"received",
            Decision::Failed { .. } => b"failed",
            Decision::Unavailable(_) | Decision::Unsettled(_) => b"unavailable",
            #[cfg(feature = "inbox")]
            Decision::Unkept(_) => b"unavailable",
        }
    }

    /// What was decided.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// What was decided, with what is to be kept of it.
    pub fn into_decision(self) -> Decision {
        self.decision
    }

    /// What was kept of it for [review](crate::review), or why it was not; nothing if it was not to
    /// be kept.
    #[cfg(feature = "inbox")]
    pub fn review(&self) -> Option<Result<&Kept, &NotKept>> {
        self.facts.review.as_ref().map(Result::as_ref)
    }

    /// The provider whose scheme the gate is for.
    pub fn provider(&self) -> &'static str {
        self.facts.provider
    }

    /// The tenant.
    pub fn tenant(&self) -> &str {
        &self.facts.tenant
    }

    /// The request id header's value, made printable. Written by the sender.
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// The provider's id header, made printable. For logs: it may be unsigned.
    pub fn delivery_id(&self) -> Option<&str> {
        self.facts.delivery_id.as_deref()
    }

    /// The event's id, once it is known.
    pub fn event_id(&self) -> Option<&str> {
        self.facts.event_id.as_deref()
    }

    /// The event type. Not escaped.
    pub fn event_type(&self) -> Option<&str> {
        self.facts.event_type.as_deref()
    }

    /// The id of the key that matched.
    pub fn key_id(&self) -> Option<&str> {
        self.facts.key_id.as_deref()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} provider={}",
            self.decision.label(),
            self.status,
            self.facts.provider
        )?;
        let fields = [
            (
                "tenant",
                (!self.facts.tenant.is_empty()).then_some(&*self.facts.tenant),
            ),
            ("event", self.event_id()),
            ("type", self.event_type()),
            ("delivery", self.delivery_id()),
            ("request", self.request_id()),
            ("key", self.key_id()),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                let cut: String = value.chars().take(LOG_CHARS).collect();
                write!(f, " {name}={cut:?}")?;
            }
        }
        #[cfg(feature = "inbox")]
        match self.review() {
            Some(Ok(Kept::New(review))) => write!(f, " review={} new", review.id)?,
            Some(Ok(Kept::Known(review))) => {
                write!(f, " review={} {:?}", review.id, review.status)?
            }
            Some(Err(NotKept::Store(why))) => write!(f, " not_kept={:?}", why.to_string())?,
            Some(Err(NotKept::Unkeyed(why))) => write!(f, " not_kept={:?}", why.to_string())?,
            None => {}
        }
        match &self.decision {
            Decision::Rejected(rejection) => {
                write!(f, " reason={:?}", rejection.kind().to_string())
            }
            Decision::Unkeyed(error) => write!(f, " reason={:?}", error.to_string()),
            Decision::Unavailable(error) | Decision::Unsettled(error) => {
                write!(f, " reason={:?}", error.to_string())
            }
            Decision::Processed(receipt) => write!(f, " attempt={}", receipt.attempts),
            Decision::Failed { receipt, .. } | Decision::Buried { receipt, .. } => {
                write!(f, " attempt={}", receipt.attempts)
            }
            Decision::Conflict(conflict) => write!(
                f,
                " stored={:?} presented={:?}",
                conflict.receipt.fingerprint, conflict.presented
            ),
            #[cfg(feature = "inbox")]
            Decision::Unkept(conflict) => write!(
                f,
                " stored={:?} presented={:?}",
                conflict.receipt.fingerprint, conflict.presented
            ),
            _ => Ok(()),
        }
    }
}
