//! Requests to every row, for the target `anywhere`.

use hookproof::scheme::{ALL, Scheme};
use hookproof_fuzz::{
    anywhere::{SIGN, seed, seed_of_ready},
    meaning::Message,
    oracle, vectors,
};

use crate::{MAX_BODY, Seeds};

/// Each row's ready request, and for the rows that only this target looks at what providers sent:
/// as it is, which nobody signed with the target's key, and to be signed anew.
pub fn all() -> Seeds {
    let mut seeds = Seeds::new();
    for scheme in ALL {
        let name = scheme.name();
        seeds.insert(
            format!("ready.{name}"),
            seed_of_ready(name, 0, &[(0, 1, 1, b"x")]),
        );
        if oracle::knows(scheme) {
            continue;
        }
        for which in 1..6 {
            let seed = seed_of_ready(name, which, &[(1, 40, 0, b"?x")]);
            seeds.insert(format!("ready.{name}.{which}"), seed);
        }
        let valid = |vector: &vectors::Vector| vector.expect == "valid";
        let vectors = vectors::of_provider(scheme).into_iter().filter(valid);
        let small = |vector: &vectors::Vector| vector.message().body.len() <= 2 * MAX_BODY;
        for vector in vectors.filter(small).take(3) {
            let mut message = vector.message();
            message
                .headers
                .retain(|(_, value)| value.len() <= 2 * MAX_BODY);
            let seed_with = |flags, message: &Message| seed(name, flags, message);
            seeds.insert(
                format!("sent.{name}.{}", vector.name),
                seed_with(0, &message),
            );
            message
                .headers
                .retain(|(header, _)| !is_signature(scheme, header));
            seeds.insert(
                format!("signed.{name}.{}", vector.name),
                seed_with(SIGN, &message),
            );
        }
    }
    seeds
}

fn is_signature(scheme: &Scheme, header: &str) -> bool {
    let slot = scheme.signature_slot();
    let own = slot.is_some_and(|slot| slot.name().eq_ignore_ascii_case(header));
    own || header.to_ascii_lowercase().starts_with("signature")
}
