//! The statuses to answer with.

/// The statuses a [`Gate`](super::Gate) answers with.
///
/// | outcome | status | may be changed | why |
/// |---|---|---|---|
/// | rejected, whatever the reason | 401, fixed body | no | a stranger learns nothing about which step failed |
/// | body over the limit | 413 | no | before hashing |
/// | new, processed | 200 | no | |
/// | accepted into the inbox, or waiting there (`Gate::accept`, feature `inbox`) | 200 | no | durably stored before the answer |
/// | duplicate | 200, the stored result | no | "did you get it?" yes |
/// | in progress, or the lease was lost | 409 + `Retry-After` | to another that is not 2xx | a 2xx loses the event if the other attempt fails |
/// | conflict | 202 + alert | yes | a retry would not help |
/// | conflict that could not be kept for review, where it should be | 503 + `Retry-After` | no | the sender repeats it |
/// | no event key | 422 | yes | authentic, but nothing names the event |
/// | handler failed, retryable | 500 + `Retry-After` | no | |
/// | dead | 200 + alert | yes | stop the sender, wake a human |
/// | store unavailable | 503 + `Retry-After` | no | honest "not accepted" |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    pub(super) in_progress: u16,
    pub(super) conflict: u16,
    pub(super) unkeyed: u16,
    pub(super) dead: u16,
}

/// A status that an outcome must not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{status} cannot answer this outcome")]
pub struct BadAnswer {
    /// The status.
    pub status: u16,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            in_progress: 409,
            conflict: 202,
            unkeyed: 422,
            dead: 200,
        }
    }
}

fn ok_or_error(status: u16, success_allowed: bool) -> Result<u16, BadAnswer> {
    match status {
        200..=299 if success_allowed => Ok(status),
        400..=599 => Ok(status),
        _ => Err(BadAnswer { status }),
    }
}

impl Answers {
    /// For an event that somebody else is acting on. Never 2xx.
    ///
    /// # Errors
    ///
    /// [`BadAnswer`] unless it is 4xx or 5xx.
    pub fn in_progress(self, status: u16) -> Result<Self, BadAnswer> {
        Ok(Self {
            in_progress: ok_or_error(status, false)?,
            ..self
        })
    }

    /// For a known id with other content.
    ///
    /// # Errors
    ///
    /// [`BadAnswer`] unless it is 2xx, 4xx or 5xx.
    pub fn conflict(self, status: u16) -> Result<Self, BadAnswer> {
        Ok(Self {
            conflict: ok_or_error(status, true)?,
            ..self
        })
    }

    /// For an authentic delivery that names no event.
    ///
    /// # Errors
    ///
    /// [`BadAnswer`] unless it is 2xx, 4xx or 5xx.
    pub fn unkeyed(self, status: u16) -> Result<Self, BadAnswer> {
        Ok(Self {
            unkeyed: ok_or_error(status, true)?,
            ..self
        })
    }

    /// For an event that was given up.
    ///
    /// # Errors
    ///
    /// [`BadAnswer`] unless it is 2xx, 4xx or 5xx.
    pub fn dead(self, status: u16) -> Result<Self, BadAnswer> {
        Ok(Self {
            dead: ok_or_error(status, true)?,
            ..self
        })
    }
}
