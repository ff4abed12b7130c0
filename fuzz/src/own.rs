//! Schemes that use what no row of the catalogue uses, as applications may.

use hookproof::scheme::{Encoding, IdSource, Mac, Part, Scheme, SecretFormat, Slot, Unit};

/// All of them.
pub const ALL: &[&Scheme] = &[&MANY, &TARGET, &AMBIGUOUS];

const SIGNATURE: Slot = Slot::header("X-Own-Signature").list(b',');
const FACTS: Slot = Slot::header("X-Own-Facts").list(b';').prefix("id=");

/// Signatures in several headers, and an id among text that nobody signed.
const MANY: Scheme = Scheme::new("own-many", Mac::HmacSha512)
    .signature(SIGNATURE.prefix("v1="), Encoding::Base64Url)
    .more_signatures(&[
        Slot::header("X-Own-Second"),
        Slot::header("X-Own-Third").list(b' ').prefix("v1:"),
    ])
    .timestamp(SIGNATURE.prefix("t="), Unit::Millis)
    .content(&[
        Part::Header(FACTS),
        Part::Text("\n"),
        Part::Timestamp,
        Part::Text("."),
        Part::Body,
    ])
    .id(IdSource::Header("X-Own-Facts"))
    .secret(SecretFormat::Hex);

/// Method, time and URL, but no body.
const TARGET: Scheme = Scheme::new("own-target", Mac::HmacSha1)
    .signature(Slot::header("X-Own-Signature"), Encoding::Base64)
    .timestamp(Slot::header("X-Own-Time"), Unit::Rfc3339)
    .content(&[
        Part::Method,
        Part::Text("\n"),
        Part::Timestamp,
        Part::Text("\n"),
        Part::Url,
    ])
    .id(IdSource::Json("/id"));

/// An id and a body with nothing between them.
const AMBIGUOUS: Scheme = Scheme::new("own-ambiguous", Mac::HmacSha256)
    .signature(Slot::header("X-Own-Signature"), Encoding::Hex)
    .content(&[Part::Header(Slot::header("X-Own-Id")), Part::Body])
    .id(IdSource::Header("X-Own-Id"))
    .ambiguous_boundary("to see what becomes of the id");
