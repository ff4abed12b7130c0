//! What a store does at each point where it could do wrong.

use std::time::Duration;

use hookproof::{
    Claim, Claiming, EventKey, Lease, Receipt, State, StoreError, Verdict,
    store::{Abandoned, Ruling, SettleError},
};
use time::OffsetDateTime;

use crate::own_store::{Table, later};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Insert,
    TakeOver,
    Settle,
    Renew,
    Release,
    Purge,
}

/// One rule per field, each a function that a mutant may replace.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// What the row of a key is found by.
    pub(crate) digest: fn(&EventKey) -> [u8; 16],
    /// Whether a claim takes notice of a row.
    pub(crate) is_known: fn(&Receipt, OffsetDateTime) -> bool,
    pub(crate) ruling: fn(&Receipt, &Claiming, OffsetDateTime) -> Ruling,
    /// Changes the row of a won claim, given the one before it.
    pub(crate) won: fn(&mut Receipt, Option<&Receipt>, OffsetDateTime),
    /// Changes the row that a claim found but did not win.
    pub(crate) seen: fn(&mut Receipt, &Claiming, OffsetDateTime),
    /// What is found when a receipt is asked for.
    pub(crate) found: fn(Option<Receipt>, &EventKey, OffsetDateTime) -> Option<Receipt>,
    pub(crate) answer: fn(Claim) -> Result<Claim, StoreError>,
    /// How often races are run.
    pub(crate) rounds: usize,
    /// Which verb looks in one step and writes in another.
    pub(crate) looks_first: Option<Verb>,
    pub(crate) may_write: fn(Verb, &Receipt, &Lease, OffsetDateTime) -> bool,
    /// The row that a holder writes into when there is none.
    pub(crate) revived: fn(&Lease, OffsetDateTime) -> Option<Receipt>,
    pub(crate) lost: fn(Lease) -> SettleError,
    pub(crate) verdict: fn(Verdict) -> Verdict,
    pub(crate) fits: fn(&Verdict) -> bool,
    pub(crate) too_long: fn(Lease) -> SettleError,
    /// How many attempts a lease allows.
    pub(crate) most: fn(&Lease) -> u32,
    pub(crate) renewed: fn(&mut Receipt, Duration, OffsetDateTime),
    pub(crate) released: fn(&mut Receipt, &Lease),
    /// Whether the row stays after a release.
    pub(crate) stays: bool,
    pub(crate) dropped: fn(&mut Table, &Abandoned<'_>, OffsetDateTime),
    /// How often a dropped lease is reported.
    pub(crate) reports: usize,
    pub(crate) is_purgeable: fn(&Receipt, OffsetDateTime) -> bool,
    pub(crate) batch: fn(usize) -> Result<usize, StoreError>,
    pub(crate) purged: fn(usize) -> usize,
    pub(crate) forgotten: fn(&mut Table, &[u8; 16]) -> Option<Receipt>,
}

/// Every rule kept.
pub(crate) const KEPT: Rules = Rules {
    digest: |key| *key.digest(),
    is_known: |_, _| true,
    ruling: |row, claiming, now| row.ruling(claiming, now),
    won: |_, _, _| {},
    seen: |_, _, _| {},
    found: |row, _, _| row,
    answer: Ok,
    rounds: 8,
    looks_first: None,
    may_write: |_, row, lease, _| row.stands(lease.fence()),
    revived: |_, _| None,
    lost: SettleError::lost,
    verdict: |verdict| verdict,
    fits: Verdict::fits,
    too_long: SettleError::too_long,
    most: Lease::max_attempts,
    renewed: |row, length, now| row.until = Some(later(now, length)),
    released: |row, _| (row.state, row.until) = (State::Failed, None),
    stays: true,
    dropped: |_, _, _| {},
    reports: 1,
    is_purgeable: Receipt::is_purgeable,
    batch: Ok,
    purged: |rows| rows,
    forgotten: |table, digest| table.remove(digest),
};
