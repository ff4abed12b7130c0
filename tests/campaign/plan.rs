//! What a campaign is made of.
// Each store has some of it.
#![allow(dead_code)]

use std::time::Duration;

/// How deliveries are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Claim, effect and settlement are one transaction of the caller's.
    Transaction,
    /// A claim on the pool, the effect in a transaction of its own, a settlement on the pool.
    Pool,
    /// Accepted into the inbox, and acted on by a worker beside it.
    #[cfg(feature = "inbox")]
    Inbox,
}

/// Where a handler is when a fault happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// The deliveries are here.
    Taken,
    /// The caller's transaction has begun.
    Begun,
    /// Events are claimed.
    Claimed,
    /// The effects are written and not committed.
    Acted,
    /// The effects are committed. In the caller's transaction that is the end, but for the answer.
    Committed,
    /// The leases are settled. In the caller's transaction they are not committed.
    Settled,
}

impl Point {
    const ALL: [Self; 6] = [
        Self::Taken,
        Self::Begun,
        Self::Claimed,
        Self::Acted,
        Self::Committed,
        Self::Settled,
    ];

    pub(crate) fn number(self) -> usize {
        Self::ALL.iter().position(|&point| point == self).unwrap()
    }

    pub(crate) fn of_number(number: usize) -> Self {
        Self::ALL[number]
    }
}

pub(crate) const IN_TRANSACTIONS: &[Point] = &[
    Point::Begun,
    Point::Claimed,
    Point::Acted,
    Point::Settled,
    Point::Committed,
];

pub(crate) const ON_THE_POOL: &[Point] = &[
    Point::Taken,
    Point::Claimed,
    Point::Acted,
    Point::Committed,
    Point::Settled,
];

/// Where the inbox's handler is.
pub(crate) const IN_AN_INBOX: &[Point] = &[Point::Claimed, Point::Acted, Point::Committed];

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// SIGKILL to the worker process.
    WorkerKilled,
    /// SIGKILL to the database server, which is then started on the same data.
    ServerKilled,
    /// Every session of every worker is ended by the server.
    Cut,
    /// One handler has all connections (of SQLite: the lock) until others have gone without.
    Exhausted,
    /// No page can be added to the database, or no file written, until some have failed by that.
    DiskFull,
    /// The store's clock goes back by 90 s.
    ClockBack,
}

impl Fault {
    /// Whether it lasts until others have failed by it.
    pub(crate) fn is_want(self) -> bool {
        matches!(self, Self::Exhausted | Self::DiskFull)
    }
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) way: Way,
    pub(crate) fault: Fault,
    /// How often; fewer in a small campaign.
    pub(crate) faults: usize,
    /// Where, in turn.
    pub(crate) points: &'static [Point],
    pub(crate) workers: usize,
    /// Senders to each worker, and its handlers.
    pub(crate) hands: usize,
    /// Connections in a worker's pool.
    pub(crate) connections: u32,
    /// How long it waits for one, or for SQLite's lock.
    pub(crate) wait: Duration,
}

/// How far clocks are apart, in seconds.
pub(crate) const APART: i64 = 90;

/// Deliveries of each event.
pub(crate) const COPIES: usize = 5;

/// Deliveries that are handled at once.
pub(crate) const BATCH: usize = 10;

/// How long a claim is somebody's whom nobody hears of again.
pub(crate) const LEASE: Duration = Duration::from_secs(1);

/// Nobody gives up: an event that is unlucky often enough would be dead after the usual 20 attempts.
pub(crate) const MAX_ATTEMPTS: u32 = 10_000;

/// One in so many events fails at its first attempt.
pub(crate) const FAILS: usize = 16;

/// When a campaign counts as stuck. The longest takes a minute.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The number of events, if it is not the usual one.
const EVENTS: &str = "HOOKPROOF_CAMPAIGN_EVENTS";

impl Plan {
    pub(crate) const fn new(
        way: Way,
        fault: Fault,
        faults: usize,
        points: &'static [Point],
    ) -> Self {
        Self {
            way,
            fault,
            faults,
            points,
            workers: 2,
            hands: 4,
            connections: 6,
            wait: Duration::from_secs(60),
        }
    }

    /// With fewer workers.
    pub(crate) const fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// With few connections and little patience.
    pub(crate) const fn starved(self) -> Self {
        Self {
            connections: 2,
            wait: Duration::from_millis(100),
            ..self
        }
    }

    /// More if faults do not meet anybody with something to do.
    pub(crate) fn events() -> usize {
        std::env::var(EVENTS).map_or(2_000, |number| number.parse().unwrap())
    }

    pub(crate) fn number_of_faults(&self) -> usize {
        self.faults.min(Self::events() / 50)
    }

    /// Deliveries are signed requests, verified by a `now` that is off.
    pub(crate) fn is_signed(&self) -> bool {
        #[cfg(feature = "inbox")]
        if self.way == Way::Inbox {
            return true;
        }
        self.fault == Fault::ClockBack
    }

    /// How far the clock of a worker's host is off.
    pub(crate) fn skew(&self, worker: usize) -> i64 {
        match self.fault {
            Fault::ClockBack if worker == 0 => APART,
            _ => 0,
        }
    }
}
