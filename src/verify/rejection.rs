//! Why a delivery was not accepted: a kind for logs, one text for the wire.

use std::fmt;

use super::StaleDelivery;

/// A delivery that [`verify`](crate::verify) did not accept.
///
/// `Display` is the same text whatever the reason ([`Rejection::WIRE_TEXT`]), so that an answer
/// built from it tells a stranger nothing. The reason is in [`Rejection::kind`], for logs and
/// metrics. Neither holds a secret, an expected signature or a body.
///
/// The four variants are all there will ever be:
///
/// * `Malformed`: cannot be read as the scheme says.
/// * `Invalid`: readable, but does not verify under any key in force.
/// * `Stale`: **authentic**, but outside the allowed age. A replay, a sender that was down for
///   long, or a bad clock; worth an alert, and available for review.
/// * `KeyNeeded`: names a key that the ring does not hold yet. Nothing has been verified.
pub enum Rejection {
    /// Cannot be read as the scheme says.
    Malformed(Malformed),
    /// Readable, but does not verify.
    Invalid(Invalid),
    /// Authentic, but too old or too far ahead.
    Stale(Box<StaleDelivery>),
    /// Signed by a key that must be fetched first, or so it says.
    KeyNeeded(KeyNeeded),
}

/// Which key to fetch, in the words of a request **that nobody has verified**.
///
/// This crate fetches nothing. The application may look the key up at the provider, add it with
/// [`Secrets::add`](crate::Secrets::add) and verify the same delivery again. Anyone can send
/// requests that name keys which do not exist: remember refusals, and bound the look-ups. Answer
/// 401 when there is no such key, as to any other rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyNeeded {
    /// The id of a key (`kid`), at most 255 characters of visible ASCII. Look it up where the
    /// scheme's documentation says ([`Scheme::key_source`](crate::Scheme::key_source)), never at an
    /// address made of it.
    Id(String),
    /// The address of a certificate or key, `https` and on a host that the scheme allows: checked,
    /// so it may be fetched. Do not follow redirects.
    Url(String),
}

/// What could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A header that the scheme needs is not there.
    #[error("header {0} is missing")]
    MissingHeader(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// A header that must occur once occurs more often.
    #[error("header {0} occurs more than once")]
    RepeatedHeader(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// A header is longer than [`MAX_HEADER_BYTES`](crate::scheme::MAX_HEADER_BYTES).
    #[error("header {0} is too long")]
    HeaderTooLong(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// A header's value has bytes or a form that the scheme does not allow there: among them an
    /// id that holds the scheme's separator.
    #[error("header {0} has a value that the scheme does not allow")]
    HeaderValue(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// No signature in the header is written as the scheme says.
    #[error("header {0} holds no readable signature")]
    NoSignature(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// More than [`MAX_SIGNATURES`](crate::scheme::MAX_SIGNATURES) signatures, or than
    /// [`MAX_PUBLIC_KEY_SIGNATURES`](crate::scheme::MAX_PUBLIC_KEY_SIGNATURES) of a scheme with
    /// public keys.
    #[error("header {0} holds too many signatures")]
    TooManySignatures(
        /// The header's name in the scheme.
        &'static str,
    ),
    /// A component that a signature covers (RFC 9421) cannot be read: unknown here, with a
    /// parameter that is not read here, covered twice, on several lines, too long, or not ASCII.
    #[error("a component that the signature covers cannot be read")]
    Component,
    /// The timestamp is missing, occurs twice, or is no timestamp of the scheme's unit.
    #[error("the timestamp cannot be read")]
    Timestamp,
    /// The scheme signs method or URL, and the caller gave none
    /// ([`RequestTarget`](crate::headers::RequestTarget)).
    #[error("the scheme signs the method or URL, which the caller did not supply")]
    NoTarget,
    /// A parameter, form field or member of the body that the scheme needs is not there.
    #[error("value {0} is missing")]
    MissingValue(
        /// Its name or JSON pointer in the scheme.
        &'static str,
    ),
    /// A parameter or form field that must occur once occurs more often.
    #[error("value {0} occurs more than once")]
    RepeatedValue(
        /// Its name in the scheme.
        &'static str,
    ),
    /// A value has bytes or a form that the scheme does not allow there.
    #[error("value {0} is not one that the scheme allows")]
    Value(
        /// Its name or JSON pointer in the scheme.
        &'static str,
    ),
    /// The body or query is not a form, not UTF-8, or has too many fields.
    #[error("the form cannot be read")]
    Form,
    /// The body is not JSON, names something twice on the way to a value, or lacks the array whose
    /// elements are signed.
    #[error("the JSON body cannot be read")]
    Json,
    /// Something that goes into the signature cannot be written as the provider does.
    #[error("a signed value cannot be written as the provider does")]
    Encoding,
    /// The request is of none of the kinds that the scheme signs.
    #[error("the request is of no kind that the scheme signs")]
    Condition,
    /// The method or URL holds the separator that the scheme puts behind it.
    #[error("the method or URL has a value that the scheme does not allow")]
    Target,
    /// The token (feature `jwt`) is not written as the scheme says.
    #[error("the token is not as the scheme says: {0}")]
    Token(
        /// What is wrong with it.
        &'static str,
    ),
    /// A claim of an authentic token is missing, or is no value of its kind.
    #[error("the token's claim {0} is missing or unreadable")]
    Claim(
        /// The claim's name in the scheme.
        &'static str,
    ),
}

/// What did not verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// No signature matches under any key tried.
    #[error("no signature matches")]
    Signature,
    /// The signature does not cover, or does not say, what the scheme requires.
    #[error("the signature does not cover what the scheme requires")]
    Coverage,
    /// The signature covers a component that the request does not have.
    #[error("the signature covers a component that the request does not have")]
    MissingComponent,
    /// The request names another algorithm than the scheme's.
    #[error("the request names another algorithm")]
    Algorithm,
    /// The signature matches, but the body is not the one whose digest it covers.
    #[error("the body does not match its signed digest")]
    Digest,
    /// Every key of the ring is outside its time of validity.
    #[error("no key is in force")]
    NoKeyInForce,
    /// The address of the key is not one that the provider uses.
    #[error("the request names a key at a foreign address")]
    KeyUrl,
    /// The request names a key that the ring does not have.
    #[error("the request names an unknown key")]
    UnknownKey,
    /// A claim of an authentic token says something else than the request or the configuration.
    #[error("the token's claim {0} does not match")]
    Claim(
        /// The claim's name in the scheme.
        &'static str,
    ),
}

/// The kind of a rejection, for logs and metrics. `Display` gives the detail, without any text
/// that the sender wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// See [`Rejection::Malformed`].
    Malformed(Malformed),
    /// See [`Rejection::Invalid`].
    Invalid(Invalid),
    /// See [`Rejection::Stale`]; how old the delivery is, negative if it lies ahead.
    Stale {
        /// `now` less the signed timestamp.
        age: time::Duration,
    },
    /// See [`Rejection::KeyNeeded`].
    KeyNeeded,
}

impl RejectionKind {
    /// A short label for a metric: `malformed`, `invalid`, `stale` or `key-needed`.
    pub const fn label(self) -> &'static str {
        match self {
            RejectionKind::Malformed(_) => "malformed",
            RejectionKind::Invalid(_) => "invalid",
            RejectionKind::Stale { .. } => "stale",
            RejectionKind::KeyNeeded => "key-needed",
        }
    }
}

impl fmt::Display for RejectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RejectionKind::Malformed(what) => write!(f, "malformed: {what}"),
            RejectionKind::Invalid(what) => write!(f, "invalid: {what}"),
            RejectionKind::Stale { age } if age.is_negative() => {
                write!(
                    f,
                    "stale: authentic, but {} s ahead",
                    age.unsigned_abs().as_secs()
                )
            }
            RejectionKind::Stale { age } => {
                write!(f, "stale: authentic, but {} s old", age.whole_seconds())
            }
            RejectionKind::KeyNeeded => f.write_str("key needed: the request names a key to fetch"),
        }
    }
}

impl Rejection {
    /// What to send, with status 401, whatever the reason.
    pub const WIRE_TEXT: &'static str = "webhook not accepted";

    /// The reason, for logs and metrics.
    pub fn kind(&self) -> RejectionKind {
        match self {
            Rejection::Malformed(what) => RejectionKind::Malformed(*what),
            Rejection::Invalid(what) => RejectionKind::Invalid(*what),
            Rejection::Stale(delivery) => RejectionKind::Stale {
                age: delivery.age(),
            },
            Rejection::KeyNeeded(_) => RejectionKind::KeyNeeded,
        }
    }

    /// The authentic but late delivery, to be kept for review; `None` for the other kinds.
    pub fn into_stale(self) -> Option<StaleDelivery> {
        match self {
            Rejection::Stale(delivery) => Some(*delivery),
            _ => None,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WIRE_TEXT)
    }
}

impl fmt::Debug for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rejection").field(&self.kind()).finish()
    }
}

impl std::error::Error for Rejection {}

impl From<Malformed> for Rejection {
    fn from(what: Malformed) -> Self {
        Rejection::Malformed(what)
    }
}

impl From<KeyNeeded> for Rejection {
    fn from(which: KeyNeeded) -> Self {
        Rejection::KeyNeeded(which)
    }
}

impl From<Invalid> for Rejection {
    fn from(what: Invalid) -> Self {
        Rejection::Invalid(what)
    }
}
