//! Signed requests with something changed.

use hookproof::{
    headers::RequestTarget,
    scheme::{Part, Slot, Stamp},
};

use crate::{
    oracle::{self, Fields},
    sign_then_verify::{Case, accept, refuse},
    verify::Facts,
};

/// One bit of the body, or of a header that counts.
pub(crate) fn flip(case: &Case<'_>, fields: &Fields) {
    let scheme = case.sender.scheme;
    let (mut fields, mut body) = (fields.clone(), case.body.clone());
    let before = fields.clone();
    let mut bytes: Vec<&mut u8> = fields.iter_mut().flat_map(|(_, value)| value).collect();
    if scheme.coverage().body {
        bytes.extend(&mut body);
    }
    let bit = case.bit % (bytes.len() * 8);
    *bytes[bit / 8] ^= 1 << (bit % 8);
    let key = &case.sender.keys[case.key];
    let read = |fields: &Fields, body: &[u8]| {
        let slot = scheme.signature_slot().expect("a sound scheme");
        let (_, value) = fields
            .iter()
            .find(|(name, _)| name == slot.name())
            .expect("was signed");
        let signatures: Vec<Vec<u8>> = oracle::cut(slot, value)
            .into_iter()
            .map(<[u8]>::to_vec)
            .collect();
        let content = oracle::content(scheme, key, fields, body, false);
        (content.map(|parts| parts.concat()), signatures)
    };
    let ((old, signed), (new, sent)) = (read(&before, &case.body), read(&fields, &body));
    let same = |(old, new): (&Vec<u8>, &Vec<u8>)| oracle::same(scheme.encoding(), old, new);
    // Hex digits, and words in front of a signature, have two cases; some text is not looked at.
    let spelling = old == new && signed.len() == sent.len() && signed.iter().zip(&sent).all(same);
    if !spelling {
        refuse(case, &fields, &body, "a bit was flipped");
    }
}

/// A second line of a header that counts, even of the same value; unless it may be a list of lines.
pub(crate) fn repeat(case: &Case<'_>, fields: &Fields) {
    let mut fields = fields.clone();
    let again = fields[case.cut % fields.len()].clone();
    let scheme = case.sender.scheme;
    let first = scheme.signature_slot();
    let mut slots = first.iter().chain(scheme.more_signature_slots());
    if slots.any(|slot| slot.may_repeat() && slot.name() == again.0) {
        fields.push(again);
        accept(case, &fields);
    } else {
        fields.push(again);
        refuse(case, &fields, &case.body, "a header twice");
    }
}

/// The same signed bytes, cut into parts at other places.
pub(crate) fn recut(case: &Case<'_>, fields: &Fields, before: &Facts) {
    let scheme = case.sender.scheme;
    let sent = oracle::content(
        scheme,
        &case.sender.keys[case.key],
        fields,
        &case.body,
        true,
    )
    .expect("is sound");
    let bytes = sent.concat();
    for cut in cuts(scheme.parts(), &bytes, Some(case.cut)) {
        let changed = |part: &Part| {
            let places = scheme.parts().iter().zip(cut.iter().zip(&sent));
            let mut places = places.filter(|(known, _)| *known == part);
            places.any(|(_, (new, old))| *new != &**old)
        };
        // Method and URL are the same in every request here, and the secret is.
        let fixed = [Part::Method, Part::Url, Part::Secret];
        if fixed.iter().any(changed) || !scheme.parts().iter().any(changed) {
            continue;
        }
        let (mut fields, mut body) = (fields.clone(), &case.body[..]);
        for (part, text) in scheme.parts().iter().zip(cut) {
            match (part, scheme.timestamp_source()) {
                (Part::Header(slot), _) => put(&mut fields, *slot, text),
                (Part::Timestamp, Some((Stamp::Slot(slot), _))) => put(&mut fields, slot, text),
                (Part::Body, _) => body = text,
                _ => {}
            }
        }
        if scheme.ambiguity().is_none() {
            refuse(case, &fields, body, "cut at another place");
        } else if let Some(after) = facts(case, &fields, body) {
            assert_eq!(
                after.event, before.event,
                "cut at another place: {fields:?}"
            );
        }
    }
}

fn facts(case: &Case<'_>, fields: &Fields, body: &[u8]) -> Option<Facts> {
    let request = RequestTarget::new(fields, oracle::METHOD, oracle::URL);
    let secrets = &case.sender.ring(true).secrets;
    let delivery = hookproof::verify(body, &request, secrets, case.now).ok()?;
    Some(Facts::of(&delivery))
}

/// The ways to cut bytes into parts. The first cut is at one place that `choice` picks, the others
/// at each of the first places.
fn cuts<'b>(parts: &[Part], bytes: &'b [u8], choice: Option<usize>) -> Vec<Vec<&'b [u8]>> {
    let rest = match parts {
        [] => {
            return if bytes.is_empty() {
                vec![vec![]]
            } else {
                vec![]
            };
        }
        [Part::Text(text), rest @ ..] => {
            let Some(tail) = bytes.strip_prefix(text.as_bytes()) else {
                return vec![];
            };
            let head = &bytes[..text.len()];
            return prepend(head, cuts(rest, tail, choice));
        }
        [_] => return vec![vec![bytes]],
        [_, rest @ ..] => rest,
    };
    let fits = |end: &usize| match rest {
        [Part::Text(text), ..] => bytes[*end..].starts_with(text.as_bytes()),
        _ => true,
    };
    let mut ends: Vec<usize> = (0..=bytes.len()).filter(fits).take(128).collect();
    if let (Some(choice), false) = (choice, ends.is_empty()) {
        ends = vec![ends[choice % ends.len()]];
    }
    let cut = |end: usize| prepend(&bytes[..end], cuts(rest, &bytes[end..], None));
    ends.into_iter().flat_map(cut).collect()
}

fn prepend<'b>(head: &'b [u8], tails: Vec<Vec<&'b [u8]>>) -> Vec<Vec<&'b [u8]>> {
    tails
        .into_iter()
        .map(|tail| [&[head][..], &tail].concat())
        .collect()
}

/// Writes a value into its slot.
fn put(fields: &mut Fields, slot: Slot, text: &[u8]) {
    let field = fields
        .iter_mut()
        .find(|(name, _)| name.eq_ignore_ascii_case(slot.name()));
    let value = &mut field.expect("was signed").1;
    let prefix = slot.fixed_prefix().as_bytes();
    let item = [prefix, text].concat();
    *value = match slot.separator() {
        None => item,
        Some(separator) => {
            let items = value.split(|&byte| byte == separator);
            let items = items.map(|old| if old.starts_with(prefix) { &item } else { old });
            items.collect::<Vec<_>>().join(&separator)
        }
    };
}
