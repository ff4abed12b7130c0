//! Schemes that use what no row of the catalogue uses, as applications may.

use hookproof::scheme::{
    ClaimRule, Encoding, HttpSignature, IdSource, Jwt, Mac, Part, Scheme, SecretFormat, Slot,
    Source, Stability, Transform, Unit,
};

/// Those that the oracle knows.
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

/// Of the target `form`.
pub const FORMS: [&Scheme; 3] = [&FIELDS, &PARAM, &SORTED];

const SIGNED: Slot = Slot::header("X-Own-Signature");

const FIELDS: Scheme = Scheme::new("own-fields", Mac::HmacSha256)
    .signature(SIGNED, Encoding::Hex)
    .content(&[
        Part::Value(Slot::form("a")),
        Part::Text("\n"),
        Part::Value(Slot::query("q")),
    ])
    .ambiguous_boundary("any text is a value here");

const PARAM: Scheme = Scheme::new("own-param", Mac::HmacSha256)
    .signature(SIGNED, Encoding::Hex)
    .content(&[Part::Value(Slot::param("p"))]);

const SORTED: Scheme = Scheme::new("own-sorted", Mac::HmacSha256)
    .signature(SIGNED, Encoding::Hex)
    .content(&[Part::SortedForm, Part::Text("\n"), Part::SortedQuery])
    .ambiguous_boundary("names and values are joined");

/// Of the target `json`.
pub const JSON: [&Scheme; 3] = [&POINTERS, &ESCAPED, &REWRITTEN];

const POINTERS: Scheme = Scheme::new("own-pointers", Mac::HmacSha256)
    .signature(SIGNED, Encoding::Hex)
    .content(&[
        Part::Value(Slot::json("/a/b")),
        Part::Text("\n"),
        Part::IfPresent(&[Part::Value(Slot::json("/list/1/~0x~1y"))]),
        Part::Text("\n"),
        Part::JsonText("/raw"),
    ])
    .ambiguous_boundary("any text is a value here")
    .id(IdSource::Json("/a/b"))
    .event_type(Source::Json("/list/1/~0x~1y"))
    .stability(Stability::JsonExcept(&["/raw", "/list/0"]));

const ESCAPED: Scheme = Scheme::new("own-escaped", Mac::HmacSha256)
    .signature(SIGNED, Encoding::Hex)
    .content(&[
        Part::Of(Transform::JsonString, &[Part::Value(Slot::json("/text"))]),
        Part::Text("\n"),
        Part::Of(Transform::PhpEscapes, &[Part::JsonText("/raw")]),
    ])
    .ambiguous_boundary("any text is a value here");

const REWRITTEN: Scheme = Scheme::new("own-rewritten", Mac::HmacSha256)
    .signature(Slot::header("X-Own-Token"), Encoding::Base64Url)
    .jwt(&Jwt::new().claims(&[ClaimRule::RequestJson("request_hash")]))
    .content(&[Part::Url, Part::Method, Part::Body]);

/// Of the target `token`: some claims of each kind.
pub const TOKEN: Scheme = Scheme::new("own-token", Mac::HmacSha256)
    .signature(Slot::header("X-Own-Token"), Encoding::Base64Url)
    .jwt(&TOKEN_RULES)
    .content(&[Part::Body])
    .claim_timestamp("iat")
    .event_type(Source::Claims(&["/jti"]));

const TOKEN_RULES: Jwt = Jwt::new()
    .also(&[Mac::HmacSha384])
    .critical(&["x"])
    .claims(&[
        ClaimRule::BodyHash("body_hash", Encoding::Hex),
        ClaimRule::OneOf("iss", &["a", "b"]),
        ClaimRule::AnyText("jti"),
        ClaimRule::True("ok"),
    ])
    .expires();

/// Of the target `http_signature`.
pub const HTTP: Scheme = Scheme::new("own-http", Mac::HmacSha256)
    .http_signature(
        &HttpSignature::new(&["@method", "@authority", "@path", "@query", "x-own-id"])
            .parameters(&["keyid"]),
    )
    .id(IdSource::Header("x-own-id"));
