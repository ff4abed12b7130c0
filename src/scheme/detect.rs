//! Which rows of the catalogue a request looks like.

use std::{borrow::Cow, cmp::Reverse};

use super::{Condition, MAX_HEADER_BYTES, Part, Scheme, Slot, Source, Stamp, catalog};
use crate::headers::{Headers, Lookup};

/// Proposes the catalogue's rows that a request's headers look like, the most specific first.
///
/// **It only proposes.** Every header here was written by the sender, and nothing is verified: go
/// through the proposals and [`verify`](crate::verify()) with the secrets that *you* have configured
/// for that provider and endpoint; where you have none, there is nothing to try. The order is a
/// hint for that and for error messages such as "this looks like Stripe, but the endpoint is for
/// GitHub", never a reason to trust.
///
/// A row is proposed if one of its signature headers is there, once, with the row's fixed prefix,
/// in either of its header families, and no other header that it signs or asks for is missing. Rows with more
/// of their headers present (time, id, event type, key id) come first, then those with the longer
/// prefix, then in the order of [`ALL`](super::ALL). Providers that sign alike are proposed
/// together; rows whose signature is elsewhere than in a header are not proposed at all.
///
/// The work is bounded by the catalogue: each of its headers is looked up a few times, and values
/// over [`MAX_HEADER_BYTES`] are not looked at.
///
/// ```
/// use hookproof::{Secrets, scheme};
/// use time::macros::datetime;
///
/// // One endpoint for two providers: only secrets that are configured are ever tried.
/// let configured = [
///     Secrets::new(&scheme::GITHUB, ["made-up-secret"])?,
///     Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?,
/// ];
/// let now = datetime!(2027-01-15 08:00 UTC);
/// let body = br#"{"id":"evt_lib_lambda"}"#;
/// let headers = [(
///     "Stripe-Signature",
///     "t=1800000000,v1=047cdc5376e973546d359a472bac3648a16e17841be25527da2e7616f527fa82",
/// )];
///
/// let delivery = scheme::detect(&headers)
///     .into_iter()
///     .filter_map(|row| configured.iter().find(|own| own.scheme().name() == row.name()))
///     .find_map(|secrets| hookproof::verify(body, &headers, secrets, now).ok())
///     .expect("authentic");
/// assert_eq!(delivery.scheme().provider(), "stripe");
/// # Ok::<(), hookproof::SecretsError>(())
/// ```
pub fn detect(headers: &impl Headers) -> Vec<&'static Scheme> {
    detect_any(headers)
}

fn detect_any(headers: &dyn Headers) -> Vec<&'static Scheme> {
    let mut proposed: Vec<_> = catalog::ALL
        .iter()
        .filter_map(|row| Some((*row, likeness(row, headers)?)))
        .collect();
    proposed.sort_by_key(|(_, likeness)| Reverse(*likeness));
    proposed.into_iter().map(|(row, _)| row).collect()
}

/// How many of the row's headers are there, and how long the prefix is that was met. `None` if the
/// request cannot be the row's.
fn likeness(row: &Scheme, headers: &dyn Headers) -> Option<(usize, usize)> {
    let first = likeness_in(row, headers, None);
    let other = row.header_families();
    first.or_else(|| likeness_in(row, headers, Some(other?)))
}

fn likeness_in(
    row: &Scheme,
    headers: &dyn Headers,
    family: Option<(&str, &str)>,
) -> Option<(usize, usize)> {
    let find = |name: &str| headers.lookup(&rename(name, family));
    let signatures: Vec<Slot> = row
        .signature_slot()
        .into_iter()
        .chain(row.more_signature_slots().iter().copied())
        .filter(|slot| slot.is_header() && carries(slot, find(slot.name())))
        .collect();
    let prefix = signatures
        .iter()
        .map(|slot| slot.fixed_prefix().len())
        .max()?;

    let time = match row.timestamp_source() {
        Some((Stamp::Slot(slot), _)) => slot.header_name(),
        _ => None,
    };
    let there = |name: &str| find(name) != Lookup::Absent;
    let meets = |part: &Part| match part {
        Part::Header(slot) | Part::Value(slot) if slot.is_header() => there(slot.name()),
        Part::Require(Condition::Equals(slot, wanted)) if slot.is_header() => {
            match find(slot.name()) {
                Lookup::One(value) => slot.items(value).any(|item| item == wanted.as_bytes()),
                _ => false,
            }
        }
        _ => true,
    };
    let met = row.contents().find(|parts| parts.iter().all(meets))?;
    let needed = met.iter().filter_map(|part| match part {
        Part::Header(slot) | Part::Value(slot) | Part::Require(Condition::Equals(slot, _)) => {
            slot.header_name()
        }
        _ => None,
    });
    let needed: Vec<&str> = needed.chain(time).collect();
    if !needed.iter().all(|name| there(name)) {
        return None;
    }
    let kind = match row.event_type_source() {
        Some(Source::Header(name)) => Some(name),
        _ => None,
    };
    let hints = [row.delivery_id_header(), row.key_id_header(), kind];
    let hints = hints.into_iter().flatten().filter(|name| there(name));

    let mut names: Vec<String> = signatures
        .iter()
        .map(Slot::name)
        .chain(needed.iter().copied())
        .chain(hints)
        .map(str::to_ascii_lowercase)
        .collect();
    names.sort_unstable();
    names.dedup();
    Some((names.len(), prefix))
}

/// Whether a header occurs once and holds something behind the slot's prefix.
fn carries(slot: &Slot, found: Lookup<'_>) -> bool {
    match found {
        Lookup::One(value) if value.len() <= MAX_HEADER_BYTES => {
            slot.items(value).any(|item| !item.is_empty())
        }
        _ => false,
    }
}

fn rename<'n>(name: &'n str, family: Option<(&str, &str)>) -> Cow<'n, str> {
    match family {
        Some((prefix, other)) => match name.split_at_checked(prefix.len()) {
            Some((head, tail)) if head.eq_ignore_ascii_case(prefix) => {
                Cow::Owned(format!("{other}{tail}"))
            }
            _ => Cow::Borrowed(name),
        },
        None => Cow::Borrowed(name),
    }
}
