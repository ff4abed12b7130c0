//! HTTP message signatures (RFC 9421), judged by a scheme's rule.
//!
//! What the sender says it signed is read and held against the rule before anything is hashed; the
//! algorithm is the scheme's and never the sender's choice. A label that fails in any way is not
//! counted, so what another party signed along the way does no harm. Once a signature matches, the
//! body is held against its digest, and the age is judged last, as for every scheme.

mod base;
pub(crate) mod fields;

use sfv::BareItemFromInput;
use time::OffsetDateTime;

use crate::{
    content_digest::{self, DigestError},
    event::KeyError,
    scheme::{CONTENT_DIGEST, HttpSignature, MAX_LABELS, SIGNATURE, SIGNATURE_INPUT, Scheme, Unit},
    secrets::{Freshness, Key, Secrets},
};

use self::{
    base::{Component, Target},
    fields::{Item, Member, Value},
};
use super::{
    Invalid, Malformed, Reader, Rejection, StaleDelivery, Verified,
    ring::{self, Tried},
    stamp,
};

/// The field's name in rejections.
const DIGEST_FIELD: &str = "Content-Digest";

pub(super) fn verify<'a>(
    reader: Reader<'a>,
    rule: &HttpSignature,
    body: &'a [u8],
    secrets: &'a Secrets,
    now: OffsetDateTime,
) -> Result<Verified<'a>, Rejection> {
    let inputs = dictionary(&reader, SIGNATURE_INPUT)?;
    let signatures = dictionary(&reader, SIGNATURE)?;

    let mut refused = Refused(None);
    let mut labels = Vec::new();
    for input in &inputs {
        if rule.only_label().is_none_or(|only| only == input.key()) {
            let label = Label::read(input, &signatures, reader.scheme, rule);
            labels.extend(label.map_err(|why| refused.note(why)));
        }
    }
    if labels.len() > MAX_LABELS {
        return Err(Malformed::TooManySignatures(SIGNATURE_INPUT).into());
    }

    let target = Target::read(&reader);
    let mut digest = None;
    let mut stale = None;
    for label in &labels {
        let base = base::base(&reader, &target, &label.components, label.text);
        let matched = base.and_then(|base| matching_key(secrets, label, &base, now));
        let checked = matched.and_then(|key| {
            if label.components.iter().any(Component::is_digest) {
                digest
                    .get_or_insert_with(|| check_body(&reader, body))
                    .map_err(|why| why.rejection())?;
            }
            Ok(key)
        });
        match checked {
            Ok((index, key)) => {
                let key = (index, key.id.as_deref());
                let stamp = Some(label.created);
                let verified = Verified::new(reader, body, stamp, now, key, secrets.window());
                if label.is_fresh(now, secrets.freshness()) {
                    return Ok(verified);
                }
                stale.get_or_insert_with(|| Box::new(StaleDelivery::keep(&verified)));
            }
            Err(why) => refused.note(why),
        }
    }
    Err(match stale {
        Some(stale) => Rejection::Stale(stale),
        None => refused.reason(),
    })
}

fn dictionary<'a>(reader: &Reader<'a>, name: &'static str) -> Result<Vec<Member<'a>>, Malformed> {
    fields::canonical(reader.one(name)?).map_err(|_| Malformed::HeaderValue(name))
}

/// One signature of the request that is all that the rule asks for, if it is one.
struct Label<'m> {
    components: Vec<Component<'m>>,
    /// The sender's text of the components and parameters, which is signed as it is.
    text: &'m [u8],
    signature: &'m [u8],
    created: i128,
    expires: Option<i128>,
    keyid: Option<&'m str>,
}

impl<'m> Label<'m> {
    fn read(
        input: &'m Member<'_>,
        signatures: &'m [Member<'_>],
        scheme: &Scheme,
        rule: &HttpSignature,
    ) -> Result<Self, Rejection> {
        const BAD_INPUT: Malformed = Malformed::HeaderValue(SIGNATURE_INPUT);
        let Value::List(items, parameters) = &input.value else {
            return Err(BAD_INPUT.into());
        };
        let parameter = |name: &str| {
            let mut known = parameters.iter();
            known.find_map(|(key, value)| (key.as_str() == name).then_some(value))
        };
        let text = |name: &str| match parameter(name) {
            None => Ok(None),
            Some(BareItemFromInput::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(BAD_INPUT),
        };
        let second = |name: &str| match parameter(name) {
            None => Ok(None),
            Some(BareItemFromInput::Integer(number)) => u64::try_from(i64::from(*number))
                .ok()
                .and_then(|number| stamp::from_number(number, Unit::Seconds))
                .ok_or(Malformed::Timestamp)
                .map(Some),
            Some(_) => Err(Malformed::Timestamp),
        };
        let created = second("created")?.ok_or(Malformed::Timestamp)?;
        let expires = second("expires")?;
        let (alg, keyid, tag) = (text("alg")?, text("keyid")?, text("tag")?);
        text("nonce")?;

        let mut components = Vec::with_capacity(items.len());
        for item in items {
            let component = Component::read(item)?;
            // Twice the same would be ambiguous (RFC 9421 §2).
            if components.contains(&component) {
                return Err(Malformed::Component.into());
            }
            components.push(component);
        }
        let covered = |name: &&str| Component::cover(&components, name);
        let digest = rule.covers_body().then_some(CONTENT_DIGEST);
        let mut needed = rule.needed_parameters().iter();
        if !rule.components().iter().chain(&digest).all(covered)
            || !needed.all(|name| parameter(name).is_some())
            || rule.needed_tag().is_some_and(|needed| tag != Some(needed))
        {
            return Err(Invalid::Coverage.into());
        }
        if alg.is_some() && alg != scheme.mac().http_signature_name() {
            return Err(Invalid::Algorithm.into());
        }
        let signature = signatures
            .iter()
            .find(|signature| signature.key() == input.key())
            .and_then(bytes)
            .filter(|bytes| scheme.mac().tag_len().is_none_or(|len| len == bytes.len()))
            .ok_or(Malformed::NoSignature(SIGNATURE))?;
        Ok(Self {
            components,
            text: input.text,
            signature,
            created,
            expires,
            keyid,
        })
    }

    fn is_fresh(&self, now: OffsetDateTime, allowed: Freshness) -> bool {
        // The same whole second that `created` is held against; the edge is inside.
        let second = u64::try_from(now.unix_timestamp()).unwrap_or_default();
        let second = stamp::from_number(second, Unit::Seconds).unwrap_or(i128::MAX);
        let expired = self.expires.is_some_and(|expires| expires < second);
        stamp::is_fresh(self.created, Unit::Seconds, now, allowed)
            && (!expired || allowed == Freshness::Any)
    }
}

fn bytes<'m>(member: &'m Member<'_>) -> Option<&'m [u8]> {
    match &member.value {
        Value::Item(Item {
            value: BareItemFromInput::ByteSequence(bytes),
            ..
        }) => Some(bytes),
        _ => None,
    }
}

/// The key that a signature is of. `keyid` is signed, but by whoever chose it: it narrows the
/// choice among keys with ids, and keys without one stay candidates.
fn matching_key<'s>(
    secrets: &'s Secrets,
    label: &Label<'_>,
    base: &str,
    now: OffsetDateTime,
) -> Result<(usize, &'s Key), Rejection> {
    let named = label.keyid.map(str::as_bytes);
    ring::matching(secrets, named, now, SIGNATURE, |key| {
        Ok(
            match key.mac.verifies(&[base.as_bytes()], label.signature) {
                true => Tried::Matched,
                false => Tried::Unlike,
            },
        )
    })
}

/// Whether the body is the one that was signed.
fn check_body(reader: &Reader<'_>, body: &[u8]) -> Result<(), DigestFault> {
    let field = reader.one(DIGEST_FIELD).map_err(DigestFault::Field)?;
    match content_digest::recompute(body, field) {
        Ok(_) => Ok(()),
        Err(DigestError::Mismatch) => Err(DigestFault::Body),
        Err(_) => Err(DigestFault::Field(Malformed::HeaderValue(DIGEST_FIELD))),
    }
}

#[derive(Clone, Copy)]
enum DigestFault {
    Field(Malformed),
    Body,
}

impl DigestFault {
    fn rejection(self) -> Rejection {
        match self {
            DigestFault::Field(what) => what.into(),
            DigestFault::Body => Invalid::Digest.into(),
        }
    }
}

/// Of several labels' faults, the one worth telling: a key that can be fetched, then the label
/// that came furthest, then the first.
struct Refused(Option<Rejection>);

impl Refused {
    fn note(&mut self, why: Rejection) {
        let rank = |why: &Rejection| match why {
            Rejection::KeyNeeded(_) => 4,
            Rejection::Invalid(Invalid::Digest) => 3,
            Rejection::Invalid(Invalid::Signature) => 2,
            _ => 1,
        };
        if self.0.as_ref().is_none_or(|known| rank(known) < rank(&why)) {
            self.0 = Some(why);
        }
    }

    fn reason(self) -> Rejection {
        let none = || Malformed::NoSignature(SIGNATURE).into();
        self.0.unwrap_or_else(none)
    }
}

/// Feeds what of the request is the same over all attempts of an event, and signed: the required
/// components but for the digest, which is one of several spellings of the body, and the date.
pub(super) fn feed_content(
    delivery: &Verified<'_>,
    mut feed: impl FnMut(&[u8]),
) -> Result<(), KeyError> {
    let reader = &delivery.reader;
    for &name in reader.scheme.http_signature_components() {
        match name {
            CONTENT_DIGEST | "date" => {}
            "@method" => feed(reader.method().unwrap_or_default().as_bytes()),
            _ if name.starts_with('@') => feed(reader.url().unwrap_or_default().as_bytes()),
            _ => {
                let value = reader.one(name).map_err(|_| KeyError::BadId)?;
                feed(value.trim_ascii());
            }
        }
    }
    Ok(())
}

/// Label and base of the first signature of a request that is being signed.
#[cfg(feature = "testing")]
pub(crate) fn base_to_sign(reader: &Reader<'_>) -> Option<(String, String)> {
    let inputs = dictionary(reader, SIGNATURE_INPUT).ok()?;
    let input = inputs.first()?;
    let Value::List(items, _) = &input.value else {
        return None;
    };
    let components: Option<Vec<_>> = items
        .iter()
        .map(|item| Component::read(item).ok())
        .collect();
    let target = Target::read(reader);
    let base = base::base(reader, &target, &components?, input.text).ok()?;
    Some((input.key().to_owned(), base))
}

#[cfg(all(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::{scheme, testing::Signer, verify::mac::COMPUTED};

    /// However many labels a stranger lists, no more are tried than `MAX_LABELS`, each under the
    /// keys in force; and what the rule does not want costs none.
    #[test]
    fn macs_computed_are_at_most_the_labels_times_the_keys() {
        const KEYS: [&str; 3] = [
            "QUFBQUFBQUFBQUFBQUFBQQ==",
            "QkJCQkJCQkJCQkJCQkJCQg==",
            "Q0NDQ0NDQ0NDQ0NDQ0NDQw==",
        ];
        let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let row = &scheme::RFC9421_HMAC_SHA256;
        let secrets = Secrets::new(row, KEYS).unwrap();
        let signed = Signer::new(row, "RERERERERERERERERERERA==").at(now);
        let signed = signed.sign(b"{}").unwrap();
        let computed = |labels: usize, from: &str, to: &str| {
            let mut request = signed.clone();
            for (name, value) in &mut request.headers {
                if name.starts_with("Signature") {
                    let one = value.replace(from, to);
                    let list = (0..labels).map(|n| one.replacen("sig1", &format!("s{n}"), 1));
                    *value = list.collect::<Vec<_>>().join(", ");
                }
            }
            COMPUTED.set(0);
            assert!(crate::verify(b"{}", &request, &secrets, now).is_err());
            COMPUTED.get()
        };
        assert_eq!(computed(1, "", ""), 3);
        assert_eq!(computed(MAX_LABELS, "", ""), 3 * MAX_LABELS);
        assert_eq!(computed(MAX_LABELS + 1, "", ""), 0);
        assert_eq!(computed(16, "", ""), 0);
        assert_eq!(computed(1, "hmac-sha256", "ed25519"), 0);
        assert_eq!(computed(1, " \"content-digest\"", ""), 0);
        assert_eq!(computed(1, "content-digest", "x-none"), 0);
        assert_eq!(computed(1, "=:", "=:AAAA"), 0);
    }
}
