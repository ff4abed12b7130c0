//! Deliveries that own what they hold.

use std::{fmt, time::Duration};

use time::OffsetDateTime;

use crate::{
    event::{EventKey, KeyError},
    headers::{Headers, Lookup},
    scheme::{HeaderList, Part, Scheme, Source, walk},
};

use super::{Reader, Verified, compose::listed_names, stamp};

/// A [`Verified`] delivery that owns what it holds, for work that outlives the request. As
/// `PathBuf` is to `Path`; made by [`Verified::to_buf`].
pub struct VerifiedBuf {
    scheme: &'static Scheme,
    headers: KeptHeaders,
    body: Vec<u8>,
    stamp: Option<i128>,
    now: OffsetDateTime,
    key_index: usize,
    key_id: Option<Box<str>>,
    window: Option<Duration>,
    content: usize,
}

impl VerifiedBuf {
    pub(super) fn keep(delivery: &Verified<'_>) -> Self {
        let reader = &delivery.reader;
        Self {
            scheme: reader.scheme,
            headers: KeptHeaders::keep(reader),
            body: delivery.body.to_vec(),
            stamp: delivery.stamp,
            now: delivery.now,
            key_index: delivery.key_index,
            key_id: delivery.key_id.map(Into::into),
            window: delivery.window,
            content: delivery.content,
        }
    }

    /// The same delivery, borrowed.
    pub fn as_verified(&self) -> Verified<'_> {
        let reader = Reader::new(self.scheme, &self.headers);
        let key = (self.key_index, self.key_id.as_deref());
        Verified::new(reader, &self.body, self.stamp, self.now, key, self.window)
            .over_content(self.content)
    }

    /// The raw body, byte for byte what was verified.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

impl fmt::Debug for VerifiedBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_verified().fmt(f)
    }
}

/// An authentic delivery outside the allowed age, owned, for review.
///
/// It is not a [`Verified`], so nothing acts on it by accident. See
/// [`Rejection::into_stale`](crate::Rejection::into_stale).
pub struct StaleDelivery(VerifiedBuf);

impl StaleDelivery {
    pub(super) fn keep(delivery: &Verified<'_>) -> Self {
        Self(VerifiedBuf::keep(delivery))
    }

    /// The provider's scheme.
    pub fn scheme(&self) -> &'static Scheme {
        self.0.scheme
    }

    /// The raw body.
    pub fn body(&self) -> &[u8] {
        &self.0.body
    }

    /// How old it was when it came; negative if the timestamp lies ahead.
    pub fn age(&self) -> time::Duration {
        stamp::age(self.0.stamp.unwrap_or_default(), self.0.now)
    }

    /// When it came.
    pub fn received_at(&self) -> OffsetDateTime {
        self.0.now
    }

    /// The event that it tells of, from signed content only: to keep it for review under. As
    /// [`Verified::event_key`].
    ///
    /// # Errors
    ///
    /// As [`Verified::event_key`].
    pub fn event_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        self.0.as_verified().event_key(tenant)
    }

    /// For what keeps it, and does not act on it.
    #[cfg(feature = "inbox")]
    pub(crate) fn authentic(&self) -> Verified<'_> {
        self.0.as_verified()
    }

    /// Treats the delivery as fresh: the way out for an operator who has looked at it, or for a
    /// sender known to have been down. Claim it as usual, so that a replay is still a duplicate.
    pub fn danger_accept_late(&self) -> Verified<'_> {
        self.0.as_verified()
    }
}

impl fmt::Debug for StaleDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaleDelivery")
            .field("scheme", &self.scheme().name())
            .field("body_bytes", &self.body().len())
            .field("age", &self.age())
            .finish_non_exhaustive()
    }
}

/// The headers that identity is read from, under the scheme's own names.
struct KeptHeaders {
    pairs: Vec<(String, Vec<u8>)>,
    method: Option<String>,
    url: Option<String>,
}

impl KeptHeaders {
    fn keep(reader: &Reader<'_>) -> Self {
        let scheme = reader.scheme;
        let type_header = match scheme.event_type_source() {
            Some(Source::Header(name)) => Some(name),
            _ => None,
        };
        let mut pairs: Vec<(String, Vec<u8>)> = Vec::new();
        // The signature's name too: it decides which header family the request is read as.
        let names = scheme
            .header_names()
            .into_iter()
            .chain(type_header)
            .chain(scheme.delivery_id_header())
            .chain(scheme.http_signature_components().iter().copied());
        for name in names {
            let known = pairs
                .iter()
                .any(|(kept, _)| kept.eq_ignore_ascii_case(name));
            if let (false, Ok(Some(value))) = (known, reader.optional(name)) {
                pairs.push((name.to_owned(), value.to_vec()));
            }
        }
        for (name, value) in listed(reader) {
            if pairs.lookup(&name) == Lookup::Absent {
                pairs.push((name, value));
            }
        }
        Self {
            pairs,
            method: reader.method().map(Into::into),
            url: reader.url().map(Into::into),
        }
    }
}

/// The headers that the request itself says are signed.
fn listed(reader: &Reader<'_>) -> Vec<(String, Vec<u8>)> {
    let mut lists: Vec<&HeaderList> = Vec::new();
    for parts in reader.scheme.contents() {
        walk(parts, &mut |part| {
            if let Part::HeaderList(list) = part {
                lists.push(list);
            }
        });
    }
    // Read as when they were verified, or the copy would be another event.
    let names = lists.iter().flat_map(|list| {
        let value = reader.optional(list.names.name()).ok().flatten();
        value
            .map(|value| listed_names(&list.names, value))
            .into_iter()
            .flatten()
    });
    let keep = |name: &[u8]| {
        let name = std::str::from_utf8(name).ok()?.trim();
        Some((name.to_owned(), reader.named(name)?.to_vec()))
    };
    names.filter_map(keep).collect()
}

impl Headers for KeptHeaders {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.pairs.lookup(name)
    }

    fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}

#[cfg(all(test, feature = "form", feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::{Secrets, scheme::CONTENTFUL, testing::Signer};

    /// Found by fuzzing: a listed header was lost if its name is none that HTTP allows.
    #[test]
    fn a_copy_is_the_same_event_whatever_the_listed_headers_are_called() {
        const SECRET: &str = "a-secret-of-sufficient-length";
        let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        for name in ["x-usual", "x-a=b", "x;a", "x a"] {
            let signer = Signer::new(&CONTENTFUL, SECRET).at(now).header(name, "1");
            let request = signer.sign(b"{}").unwrap();
            let secrets = Secrets::new(&CONTENTFUL, [SECRET]).unwrap();
            let delivery = crate::verify(&request.body, &request, &secrets, now).unwrap();
            let copy = delivery.to_buf();
            let key = delivery.content_key("").unwrap();
            assert_eq!(copy.as_verified().content_key(""), Ok(key), "{name}");
        }
    }
}
