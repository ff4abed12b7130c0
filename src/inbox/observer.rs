//! Who is told what a worker meets.

use std::{error::Error, fmt, io::Write as _};

use crate::{
    event::EventKey,
    store::{Fence, Receipt, Stderr, StoreError},
};

/// Told of what a worker meets. Must not block for long and must not panic.
pub trait Observer: Send + Sync {
    /// Takes notice.
    fn notice(&self, notice: &Notice<'_>);
}

impl<F: Fn(&Notice<'_>) + Send + Sync> Observer for F {
    fn notice(&self, notice: &Notice<'_>) {
        self(notice);
    }
}

/// Something that a worker met.
///
/// `Display` is one log line. What a handler's error says is escaped in it and cut, and what stands
/// behind that error is not repeated.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// An event was given up. Wake a human.
    Dead {
        /// What is stored.
        receipt: &'a Receipt,
        /// The last attempt's error, if it returned one.
        error: Option<&'a (dyn Error + Send + Sync)>,
    },
    /// An attempt failed, and there will be another.
    Failed {
        /// What is stored; `until` is when.
        receipt: &'a Receipt,
        /// The handler's error, if it returned one.
        error: Option<&'a (dyn Error + Send + Sync)>,
    },
    /// Somebody else has the event since: a lease was too short, or not renewed in time. What the
    /// handler did may be done twice. If it was still at it, it was stopped.
    LeaseLost {
        /// The event.
        key: &'a EventKey,
        /// The lost lease's fencing token.
        fence: Fence,
        /// Which attempt it was.
        attempt: u32,
    },
    /// The store could not be asked, or did not answer. It is asked again.
    Store {
        /// For what.
        task: Task,
        /// Why not.
        error: &'a StoreError,
    },
}

/// What a worker asks of its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// Leasing events that are due.
    Lease,
    /// Extending a lease while its handler runs.
    Renew,
    /// Writing a verdict. If it stays unwritten, the event is acted on again.
    Settle,
    /// Giving back what was leased and not begun.
    Release,
}

/// Most characters of a handler's error in a log line.
const LOG_CHARS: usize = 256;

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Dead { receipt, error } => {
                let Receipt { key, attempts, .. } = receipt;
                write!(f, "dead {key:?} attempts={attempts}")?;
                reason(f, *error)
            }
            Notice::Failed { receipt, error } => {
                let Receipt { key, attempts, .. } = receipt;
                write!(f, "failed {key:?} attempt={attempts}")?;
                reason(f, *error)
            }
            Notice::LeaseLost {
                key,
                fence,
                attempt,
            } => write!(f, "lease lost {key:?} attempt={attempt} fence={fence}"),
            Notice::Store { task, error } => write!(f, "store {task:?}: {error}"),
        }
    }
}

fn reason(f: &mut fmt::Formatter<'_>, error: Option<&(dyn Error + Send + Sync)>) -> fmt::Result {
    let Some(error) = error else { return Ok(()) };
    let cut: String = error.to_string().chars().take(LOG_CHARS).collect();
    write!(f, " reason={cut:?}")
}

/// One line on standard error.
impl Observer for Stderr {
    fn notice(&self, notice: &Notice<'_>) {
        // Not `eprintln!`, which panics if standard error is closed.
        let _ = writeln!(std::io::stderr(), "hookproof: {notice}");
    }
}
