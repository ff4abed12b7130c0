//! Whole requests, against a second opinion.

use hookproof::{
    EventKey, Fingerprint, KeyError, MAX_ID_BYTES, Rejection, Verified, headers::RequestTarget,
    scheme::IdSource,
};
use time::OffsetDateTime;

use crate::{
    endorse::endorse,
    input::{ALL_KEYS, ENDORSE, Request},
    oracle::{self, Answer},
};

/// Target: `verify` over any request, with the fixed keys of every catalogue scheme.
pub fn verify(data: &[u8]) {
    if let Ok(request) = Request::read(data) {
        judge(&request);
    }
}

/// Verifies a request, and says what it came to once the oracle has agreed.
pub fn judge(request: &Request) -> Answer {
    let sender = request.sender();
    let ring = sender.ring(request.flags & ALL_KEYS != 0);
    let (body, now) = (&request.body[..], request.now);
    let mut fields = request.named_headers();
    if request.flags & ENDORSE != 0 {
        endorse(request, &mut fields);
    }
    let target = RequestTarget::new(&fields, oracle::METHOD, oracle::URL);
    let found = match hookproof::verify(body, &target, &ring.secrets, now) {
        Ok(delivery) => {
            examine(&delivery, body);
            Answer::Accepted
        }
        Err(rejection) => match reject(rejection) {
            None => Answer::Refused,
            Some(late) => {
                let any_age = hookproof::verify(body, &target, &ring.any_age, now);
                let any_age = any_age.expect("authentic, and of any age");
                assert_eq!(late.body(), body);
                assert_eq!(Facts::of(&late.danger_accept_late()), Facts::of(&any_age));
                examine(&any_age, body);
                Answer::Stale
            }
        },
    };
    let keys = &sender.keys[..ring.keys];
    let expected = oracle::judge(sender.scheme, keys, &fields, body, now);
    assert_eq!(
        found,
        expected,
        "{} at {now}: {fields:?}",
        sender.scheme.name()
    );
    found
}

/// What a delivery says of itself, to compare two.
#[derive(Debug, PartialEq, Eq)]
pub struct Facts {
    pub(crate) event: Result<EventKey, KeyError>,
    pub(crate) content: Result<EventKey, KeyError>,
    pub(crate) fingerprint: Fingerprint,
    unsigned: Result<EventKey, KeyError>,
    event_type: Option<String>,
    delivery_id: Option<String>,
    sent: Option<OffsetDateTime>,
    key: (usize, Option<String>),
}

impl Facts {
    /// Asks a delivery everything.
    pub fn of(delivery: &Verified<'_>) -> Self {
        Self {
            event: delivery.event_key("tenant"),
            content: delivery.content_key("tenant"),
            fingerprint: delivery.fingerprint(),
            unsigned: delivery.danger_unsigned_event_key("tenant"),
            event_type: delivery.event_type(),
            delivery_id: delivery.delivery_id(),
            sent: delivery.timestamp(),
            key: (delivery.key_index(), delivery.key_id().map(Into::into)),
        }
    }
}

/// Looks at what a delivery says of itself.
pub(crate) fn examine(delivery: &Verified<'_>, body: &[u8]) {
    assert!(
        std::ptr::eq(delivery.body(), body),
        "not the bytes that were verified"
    );
    let facts = Facts::of(delivery);
    assert_eq!(Facts::of(&delivery.to_buf().as_verified()), facts);
    for key in [&facts.event, &facts.content, &facts.unsigned]
        .into_iter()
        .flatten()
    {
        assert!((1..=MAX_ID_BYTES).contains(&key.id().len()));
        assert!(!key.id().chars().any(char::is_control));
    }
    // These go into logs as they are.
    let id = facts.delivery_id.unwrap_or_default();
    assert!(id.len() <= 255 && id.bytes().all(|byte| byte.is_ascii_graphic()));
    assert!(
        format!("{delivery:?}").len() < 200,
        "a body has no place in logs"
    );
    let coverage = delivery.coverage();
    assert!(coverage.body || facts.content == Err(KeyError::NotCovered));
    let by_header = matches!(delivery.scheme().id_source(), IdSource::Header(_));
    if by_header && coverage.body && !coverage.id {
        assert_eq!(facts.event, facts.content, "an id that nobody signed");
    }
    if let (Some(age), Some(window)) = (delivery.age(), delivery.window()) {
        // `now` is cut down to the unit first, which is a second at most.
        assert!(age.unsigned_abs() <= window + std::time::Duration::from_secs(1));
    }
}

/// Looks at what is said of a rejection, and gives a stale delivery back.
fn reject(rejection: Rejection) -> Option<hookproof::StaleDelivery> {
    assert_eq!(rejection.to_string(), Rejection::WIRE_TEXT);
    let log = format!("{} {rejection:?}", rejection.kind());
    assert!(
        log.len() < 300
            && log
                .bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_graphic())
    );
    rejection.into_stale()
}
