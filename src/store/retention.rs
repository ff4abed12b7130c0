//! How long receipts are kept, as a policy.

use std::{collections::BTreeMap, time::Duration};

use crate::{event::EventKey, secrets::Secrets};

/// How long receipts are kept, by provider and by tenant. What is not set keeps the default of
/// [`Claiming::new`](super::Claiming::new): 30 days or twice the provider's retry horizon,
/// whichever is longer.
///
/// A time too short is refused here, at start-up, where
/// [`Claiming::retention`](super::Claiming::retention) can only raise it.
///
/// ```
/// use std::time::Duration;
/// use hookproof::{Gate, MemoryStore, Secrets, scheme, store::Retention};
///
/// const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// let secrets = Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?;
/// let retention = Retention::new()
///     .provider(&secrets, 60 * DAY)?
///     .tenant(&secrets, "acme", 365 * DAY)?;
/// let gate = Gate::new(secrets, MemoryStore::new()).tenant("acme").retention_policy(retention);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a policy has no effect until a claim or a gate is given it"]
pub struct Retention(BTreeMap<Box<str>, Provider>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Provider {
    all: Option<Duration>,
    tenants: BTreeMap<Box<str>, Duration>,
}

/// A retention that is shorter than a captured delivery stays fresh, which would let it act again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a retention of {asked:?} is shorter than the {least:?} for which a delivery passes as fresh"
)]
pub struct RetentionTooShort {
    /// What was asked for.
    pub asked: Duration,
    /// The least that is safe: twice the window of the secrets, since a delivery may be dated as
    /// far ahead as behind.
    pub least: Duration,
}

impl Retention {
    /// The default for every provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long receipts of these secrets' provider are kept.
    ///
    /// # Errors
    ///
    /// [`RetentionTooShort`]
    pub fn provider(
        mut self,
        secrets: &Secrets,
        keep: Duration,
    ) -> Result<Self, RetentionTooShort> {
        let keep = long_enough(secrets, keep)?;
        self.of(secrets).all = Some(keep);
        Ok(self)
    }

    /// The same for one tenant's receipts, whatever is set for the provider.
    ///
    /// # Errors
    ///
    /// [`RetentionTooShort`]
    pub fn tenant(
        mut self,
        secrets: &Secrets,
        tenant: impl Into<Box<str>>,
        keep: Duration,
    ) -> Result<Self, RetentionTooShort> {
        let keep = long_enough(secrets, keep)?;
        self.of(secrets).tenants.insert(tenant.into(), keep);
        Ok(self)
    }

    fn of(&mut self, secrets: &Secrets) -> &mut Provider {
        let name = secrets.scheme().provider();
        self.0.entry(name.into()).or_default()
    }

    /// What is set for the provider and tenant of an event; nothing if the default holds.
    pub fn for_event(&self, key: &EventKey) -> Option<Duration> {
        let provider = self.0.get(key.provider())?;
        provider.tenants.get(key.tenant()).copied().or(provider.all)
    }
}

fn long_enough(secrets: &Secrets, asked: Duration) -> Result<Duration, RetentionTooShort> {
    let least = secrets.window().unwrap_or_default().saturating_mul(2);
    if asked < least {
        return Err(RetentionTooShort { asked, least });
    }
    Ok(asked)
}
