//! The composition: verify → claim → dispatch → settle, and one answer to send.

mod answers;
mod event;
#[cfg(feature = "inbox")]
mod inbox;
mod outcome;
#[cfg(feature = "inbox")]
mod review;

use std::{error::Error, fmt, time::Duration};

use time::OffsetDateTime;

pub use answers::{Answers, BadAnswer};
pub use event::Event;
pub use outcome::{Decision, Outcome};
#[cfg(feature = "inbox")]
pub use review::{NotKept, Reviewing};

use crate::{
    event::{EventKey, Fingerprint, KeyError},
    headers::Headers,
    secrets::Secrets,
    store::{
        Claim, Claiming, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, IdempotencyStore, Lease,
        MAX_RESULT_BYTES, Retention, SettleFault, State, StoreError, StoreErrorKind, Verdict,
    },
    verify::{Verified, verify},
};
use outcome::Facts;

/// Largest body that is accepted unless the application says otherwise: 1 MiB.
pub const DEFAULT_BODY_LIMIT: usize = 1024 * 1024;

/// What a failed or unavailable answer asks the sender to wait unless something better is known.
pub const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(30);

/// What a handler may fail with: any error, so that `?` works in it.
pub type HandlerError = Box<dyn Error + Send + Sync>;

type KeyBy = Box<dyn Fn(&Verified<'_>, &str) -> Result<EventKey, KeyError> + Send + Sync>;
type FingerprintBy = Box<dyn Fn(&Verified<'_>) -> Fingerprint + Send + Sync>;

/// Takes deliveries of one scheme: the four steps in their order, and the answer.
///
/// Make one per scheme and tenant when the service starts; several can share a store through an
/// [`Arc`](std::sync::Arc). It runs on any executor, in any framework.
///
/// ```
/// # use hookproof::testing;
/// use hookproof::{Gate, MemoryStore, Secrets, Verdict, scheme};
/// use time::macros::datetime;
///
/// let secrets = Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?;
/// let gate = Gate::new(secrets, MemoryStore::new()).tenant("acme");
///
/// # let now = datetime!(2027-01-15 08:00 UTC);
/// # let signed = testing::sign(&scheme::STRIPE, "whsec_T3st0nlyAlphaKey4711xyz", br#"{"id":"evt_1"}"#, now)?;
/// # let (raw_body, headers) = (&signed.body, &signed.headers);
/// # testing::block_on(async {
/// let outcome = gate
///     .handle(raw_body, headers, now, async |event| {
///         let id = event.key().id(); // "evt_1"; do the work here
///         Ok(Verdict::done(format!("created an invoice for {id}")))
///     })
///     .await;
/// assert_eq!((outcome.status(), outcome.body()), (200, &b"created an invoice for evt_1"[..]));
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Gate<S> {
    secrets: Secrets,
    store: S,
    tenant: Box<str>,
    body_limit: usize,
    lease: Duration,
    retention: Option<Duration>,
    retention_policy: Retention,
    max_attempts: u32,
    retry_wait: Duration,
    request_id: &'static str,
    key_by: KeyBy,
    fingerprint_by: Option<FingerprintBy>,
    answers: Answers,
    #[cfg(feature = "inbox")]
    kept_headers: Vec<Box<str>>,
    #[cfg(feature = "inbox")]
    desk: review::Desk<S>,
}

impl<S: IdempotencyStore> Gate<S> {
    /// A gate for one scheme's deliveries.
    pub fn new(secrets: Secrets, store: S) -> Self {
        Self {
            secrets,
            store,
            tenant: "".into(),
            body_limit: DEFAULT_BODY_LIMIT,
            lease: DEFAULT_LEASE,
            retention: None,
            retention_policy: Retention::new(),
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            retry_wait: Duration::ZERO,
            request_id: "X-Request-Id",
            key_by: Box::new(|delivery, tenant| delivery.event_key(tenant)),
            fingerprint_by: None,
            answers: Answers::default(),
            #[cfg(feature = "inbox")]
            kept_headers: Vec::new(),
            #[cfg(feature = "inbox")]
            desk: review::Desk::new(),
        }
    }

    /// Whose events these are; part of every event key. `""` if not set.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<Box<str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// Largest body in bytes; a larger one is answered 413 before anything is hashed. Your server
    /// must have a limit of its own as well, or it reads the body into memory first.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// How long an event is its handler's; see [`Claiming::lease`].
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long receipts are kept; see [`Claiming::retention`].
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Some(retention);
        self
    }

    /// How long receipts are kept, by provider and tenant; refused when it was made if that is too
    /// short. [`Gate::retention`] goes before it.
    #[must_use]
    pub fn retention_policy(mut self, policy: Retention) -> Self {
        self.retention_policy = policy;
        self
    }

    /// See [`Claiming::max_attempts`].
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// How long an event whose handler failed may not be tried again. Zero if not set: the
    /// sender's own schedule decides.
    #[must_use]
    pub fn retry_wait(mut self, wait: Duration) -> Self {
        self.retry_wait = wait;
        self
    }

    /// The header that carries a request id for logs; `X-Request-Id` if not set.
    #[must_use]
    pub fn request_id_header(mut self, name: &'static str) -> Self {
        self.request_id = name;
        self
    }

    /// Names events by a function of the verified delivery instead of
    /// [`Verified::event_key`]. An error is answered 422 and nothing is done.
    #[must_use]
    pub fn key_by<F>(mut self, key: F) -> Self
    where
        F: Fn(&Verified<'_>, &str) -> Result<EventKey, KeyError> + Send + Sync + 'static,
    {
        self.key_by = Box::new(key);
        self
    }

    /// Compares other content than the scheme says to tell a duplicate from a conflict.
    #[must_use]
    pub fn fingerprint_by<F>(mut self, fingerprint: F) -> Self
    where
        F: Fn(&Verified<'_>) -> Fingerprint + Send + Sync + 'static,
    {
        self.fingerprint_by = Some(Box::new(fingerprint));
        self
    }

    /// Replaces the statuses that may be chosen.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The secrets and their scheme.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Takes one delivery to its end and says what to answer.
    ///
    /// The handler runs only for an authentic event that nobody else has claimed. What it returns
    /// is written before the answer is made: `Ok` with a [`Verdict`], or an error, which counts as
    /// a failed attempt that may be repeated. A handler that panics, or a future that is dropped
    /// (the client hung up), leaves the event claimable again and never done. A result longer than
    /// [`MAX_RESULT_BYTES`] is cut, since its action has happened.
    ///
    /// Effects outside the store's own transactions are at-least-once: a crash between the effect
    /// and its verdict repeats it. Give [`Event::effect_key`] to the other side.
    pub async fn handle<F>(
        &self,
        raw_body: &[u8],
        headers: &impl Headers,
        now: OffsetDateTime,
        handler: F,
    ) -> Outcome
    where
        F: AsyncFnOnce(Event) -> Result<Verdict, HandlerError>,
    {
        let mut facts = self.facts(headers);
        let (delivery, key) = match self.admit(raw_body, headers, now, &mut facts) {
            Ok(admitted) => admitted,
            Err(decision) => {
                let decision = *decision;
                #[cfg(feature = "inbox")]
                let decision = self
                    .keep_stale(self.desk.chosen(), decision, headers, &mut facts)
                    .await;
                return facts.decide(decision, &self.answers);
            }
        };
        let decision = match self
            .store
            .claim(self.claiming(&delivery, key.clone()))
            .await
        {
            Err(error) => Decision::Unavailable(error),
            Ok(Claim::Duplicate(receipt)) => Decision::Duplicate(receipt),
            #[cfg(not(feature = "inbox"))]
            Ok(Claim::Conflict(conflict)) => Decision::Conflict(conflict),
            #[cfg(feature = "inbox")]
            Ok(Claim::Conflict(conflict)) => {
                let chosen = self.desk.chosen();
                self.keep_conflict(chosen, &delivery, conflict, headers, &mut facts)
                    .await
            }
            Ok(Claim::Dead(receipt)) => Decision::Dead(receipt),
            Ok(Claim::InProgress { retry_after, .. }) => Decision::InProgress { retry_after },
            Ok(Claim::New(lease)) => {
                let event = Event::new(&delivery, key, &lease);
                let result = handler(event).await;
                self.settle(lease, result).await
            }
        };
        facts.decide(decision, &self.answers)
    }

    fn facts(&self, headers: &impl Headers) -> Facts {
        let provider = self.secrets.scheme().provider();
        Facts::new(provider, &self.tenant, headers, self.request_id)
    }

    /// The first step: an authentic delivery, and the event that it tells of.
    fn admit<'a>(
        &'a self,
        raw_body: &'a [u8],
        headers: &'a impl Headers,
        now: OffsetDateTime,
        facts: &mut Facts,
    ) -> Result<(Verified<'a>, EventKey), Box<Decision>> {
        if raw_body.len() > self.body_limit {
            return Err(Decision::TooLarge.into());
        }
        let delivery = verify(raw_body, headers, &self.secrets, now)
            .map_err(|rejection| Box::new(Decision::Rejected(rejection)))?;
        facts.delivery(&delivery);
        let key = (self.key_by)(&delivery, &self.tenant)
            .map_err(|error| Box::new(Decision::Unkeyed(error)))?;
        facts.event(&key);
        Ok((delivery, key))
    }

    fn claiming(&self, delivery: &Verified<'_>, key: EventKey) -> Claiming {
        let mut claiming = Claiming::new(delivery, key)
            .lease(self.lease)
            .max_attempts(self.max_attempts)
            .retention_policy(&self.retention_policy);
        if let Some(retention) = self.retention {
            claiming = claiming.retention(retention);
        }
        if let Some(fingerprint) = &self.fingerprint_by {
            claiming = claiming.fingerprint(fingerprint(delivery));
        }
        claiming
    }

    /// Writes the handler's result, and reads the decision off what was written.
    async fn settle(&self, lease: Lease, result: Result<Verdict, HandlerError>) -> Decision {
        let (verdict, error) = match result {
            Ok(Verdict::Done(mut result)) => {
                result.truncate(MAX_RESULT_BYTES);
                (Verdict::Done(result), None)
            }
            Ok(Verdict::Dead(mut reason)) => {
                reason.truncate(MAX_RESULT_BYTES);
                (Verdict::Dead(reason), None)
            }
            Ok(retry @ Verdict::Retry { .. }) => (retry, None),
            Err(error) => (Verdict::retry(self.retry_wait), Some(error)),
        };
        match self.store.settle(lease, verdict).await {
            Ok(receipt) => match receipt.state {
                State::Processed => Decision::Processed(receipt),
                State::Dead => Decision::Buried { receipt, error },
                State::Failed | State::Received | State::InProgress => {
                    Decision::Failed { receipt, error }
                }
            },
            Err(failure) => match failure.fault {
                SettleFault::LeaseLost => Decision::LeaseLost,
                SettleFault::Store(error) => Decision::Unsettled(error),
                // Cut above, so not seen; if it ever were, the action would still be unsettled.
                SettleFault::ResultTooLong => {
                    Decision::Unsettled(StoreError::new(StoreErrorKind::Misuse))
                }
            },
        }
    }
}

impl<S> fmt::Debug for Gate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("secrets", &self.secrets)
            .field("tenant", &self.tenant)
            .field("body_limit", &self.body_limit)
            .finish_non_exhaustive()
    }
}
