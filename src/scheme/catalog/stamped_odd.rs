//! A signed time that is written or joined in an unusual way, or a digest in the body's place.

use super::over_body;
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, SecretFormat, Slot, Source, Transform, Unit,
};

const SANITY_HEADER: Slot = Slot::header("sanity-webhook-signature").list(b',');
const RECURLY_HEADER: Slot = Slot::header("recurly-signature").list(b',');
const HYGRAPH_HEADER: Slot = Slot::header("gcms-signature").list(b',');
const BODY_DIGEST: Part = Part::Of(Transform::Sha256(Encoding::LowerHex), &[Part::Body]);

catalog! {
    /// Sanity.
    pub const SANITY: Scheme = Scheme::new("sanity", Mac::HmacSha256)
        .signature(SANITY_HEADER.prefix("v1="), Encoding::Base64Url)
        .timestamp(SANITY_HEADER.prefix("t="), Unit::Millis)
        .earliest(1_609_459_200)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body])
        .delivery_id("idempotency-key")
        .event_type(Source::Header("sanity-operation"))
        .docs("https://www.npmjs.com/package/@sanity/webhook", Evidence::OfficialSdk)
        .notes(&[
            "The time is in milliseconds; as in the SDK, one before 2021 is no time, so that seconds \
             are told apart.",
            "The SDK does not judge the age; 5 minutes is ours.",
            "`idempotency-key` and `sanity-operation` are unsigned, and a projection of your own \
             decides what the body holds: two events may have equal bodies.",
            "Retried for about half an hour (unverified).",
        ]);

    /// Orb.
    pub const ORB: Scheme = Scheme::new("orb", Mac::HmacSha256)
        .signature(
            Slot::header("X-Orb-Signature").list(b' ').prefix("v1="),
            Encoding::Hex,
        )
        .timestamp(Slot::header("X-Orb-Timestamp"), Unit::DateTimeUtc)
        .content(&[
            Part::Text("v1:"),
            Part::Timestamp,
            Part::Text(":"),
            Part::Body,
        ])
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/type"))
        .docs("https://www.npmjs.com/package/orb-billing", Evidence::OfficialSdk)
        .notes(&[
            "The time has no zone and is UTC; its text is signed as it is.",
            "Several `v1=` while a secret is changed.",
            "The Python SDK knows Standard Webhooks as well, which is another scheme.",
        ]);

    /// Recurly (JSON webhooks).
    pub const RECURLY: Scheme = Scheme::new("recurly", Mac::HmacSha256)
        .signature(RECURLY_HEADER, Encoding::Hex)
        .timestamp(RECURLY_HEADER.first(), Unit::Millis)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body])
        .event_type(Source::Json("/event_type"))
        .docs(
            "https://docs.recurly.com/recurly-subscriptions/docs/signature-verification",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The first item of the header is the time in milliseconds, all others are signatures; a \
             full stop joins time and body in what is signed.",
            "The key is the text of 64 hexadecimal digits, not decoded.",
            "XML webhooks are not signed.",
            "`/id` names the object, and no event is named. Together with `/event_type`, \
             `/object_type` is what happened to what.",
        ]);

    /// Hygraph.
    pub const HYGRAPH: Scheme = Scheme::new("hygraph", Mac::HmacSha256)
        .signature(HYGRAPH_HEADER.prefix("sign="), Encoding::Base64)
        .timestamp(HYGRAPH_HEADER.prefix("t="), Unit::Millis)
        .content(&[
            Part::Text("{\"Body\":"),
            Part::Of(Transform::JsonString, &[Part::Body]),
            Part::Text(",\"EnvironmentName\":"),
            Part::Of(
                Transform::JsonString,
                &[Part::Value(HYGRAPH_HEADER.prefix("env="))],
            ),
            Part::Text(",\"TimeStamp\":"),
            Part::Timestamp,
            Part::Text("}"),
        ])
        .event_type(Source::Json("/operation"))
        .docs("https://www.npmjs.com/package/@hygraph/utils", Evidence::OfficialSdk)
        .notes(&[
            "What is signed is a JSON text that holds the body as a string: the body must be UTF-8.",
            "The SDK does not judge the age; 5 minutes is ours.",
            "`/data/id` names the entry, not the event.",
        ]);

    /// Ripple Collections.
    pub const RIPPLE_COLLECTIONS: Scheme = Scheme::new("ripple-collections", Mac::HmacSha256)
        .signature(Slot::header("X-Webhook-Signature"), Encoding::Hex)
        .timestamp(Slot::header("X-Webhook-Timestamp"), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("."), BODY_DIGEST])
        .secret(SecretFormat::Base64 { prefix: "" })
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "The body is signed by its SHA-256; that its hexadecimal digits are in lower case is assumed \
             (unverified).",
            "No window is documented; 5 minutes is ours.",
            "Neither an id nor a type of the event is known.",
        ]);

    /// Walmart Marketplace (performance webhooks).
    pub const WALMART: Scheme = Scheme::new("walmart", Mac::HmacSha256)
        .signature(Slot::header("WM_SEC.SIGNATURE"), Encoding::Base64)
        .timestamp(Slot::header("WM_SEC.TIMESTAMP"), Unit::Seconds)
        .content(&[
            Part::Method,
            Part::Text("\n"),
            Part::PathAndQuery,
            Part::Text("\n"),
            Part::Timestamp,
            Part::Text("\n"),
            BODY_DIGEST,
        ])
        .key_id("WM_SEC.KEY_ID")
        .event_type(Source::Json("/eventType"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "Method, path and query are signed: give the public address, not the one behind a proxy.",
            "The header names hold a full stop, and some proxies drop such headers.",
            "`WM_SEC.KEY_ID` is unsigned and narrows the choice of keys, nothing more.",
            "No id of the event is known, and two events may have equal bodies.",
        ]);

    /// Tebex.
    pub const TEBEX: Scheme = over_body(
        "tebex",
        Mac::HmacSha256,
        Slot::header("X-Signature"),
        Encoding::Hex,
    )
    .content(&[BODY_DIGEST])
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
    .notes(&[
        "The MAC is over the hexadecimal text of the body's SHA-256.",
        "A `validation.webhook` must be answered by 200 with its id: `{\"id\":\"…\"}`.",
        "No time is signed: a captured request verifies for ever.",
    ]);
}
