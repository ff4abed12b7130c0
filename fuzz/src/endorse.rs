//! The right signature for a request as it stands, whether or not it is a good request: so that a
//! fuzzer, which cannot guess a MAC, gets behind it.

use crate::{
    input::{IN_FRONT, LAST_HEADER, Request},
    oracle::{self, Fields},
};

/// Puts the signature into the request's headers, into its list of signatures if there is one.
/// Does nothing where there is nothing to sign.
pub fn endorse(request: &Request, fields: &mut Fields) -> Option<()> {
    let scheme = request.sender().scheme;
    let more = scheme.more_signature_slots().last().copied();
    let more = more.filter(|_| request.flags & LAST_HEADER != 0);
    let slot = more.or(scheme.signature_slot())?;
    let second = scheme.header_families().and_then(|(first, second)| {
        let tail = slot.name().strip_prefix(first)?;
        Some(format!("{second}{tail}"))
    });
    let place = [Some(slot.name().to_owned()), second]
        .into_iter()
        .flatten()
        .find_map(|name| {
            fields
                .iter()
                .position(|(known, _)| known.eq_ignore_ascii_case(&name))
        });
    let place = place.unwrap_or_else(|| {
        fields.push((slot.name().to_owned(), Vec::new()));
        fields.len() - 1
    });
    let family = oracle::one_family(scheme, fields);
    let content = oracle::content(scheme, request.key(), &family, &request.body, false)?.concat();
    let signature = request.change(oracle::signature(scheme, request.key(), &content));
    let item = [slot.fixed_prefix().as_bytes(), &signature].concat();
    let value = &mut fields[place].1;
    *value = match slot.separator() {
        Some(separator) if !value.is_empty() => {
            let in_front = request.flags & 7 << 5 == IN_FRONT;
            let old = std::mem::take(value);
            let items = if in_front { [item, old] } else { [old, item] };
            items.join(&separator)
        }
        _ => [slot.list_prefix().as_bytes(), &item].concat(),
    };
    Some(())
}
