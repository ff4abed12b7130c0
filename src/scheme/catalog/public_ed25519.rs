//! Ed25519: the sender signs with a private key, and here is only the public one.

use std::time::Duration;

use super::STANDARD_WEBHOOKS;
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, SecretFormat, Shape, Slot, Source, Transform,
    Unit,
};

/// A row of Standard Webhooks with its asymmetric signatures (`v1a`) in place of `v1`.
const fn v1a(name: &'static str, row: Scheme, slot: Slot) -> Scheme {
    let provider = row.provider;
    Scheme {
        mac: Mac::Ed25519,
        ..row
    }
    .named(name)
    .provider_name(provider)
    .signature(slot.list(b' ').prefix("v1a,"), Encoding::Base64)
    .secret(SecretFormat::PublicKey)
}

catalog! {
    /// Standard Webhooks, asymmetric signatures (`v1a`).
    pub const STANDARD_WEBHOOKS_ED25519: Scheme =
        v1a("standard-webhooks-ed25519", STANDARD_WEBHOOKS, Slot::header("webhook-signature"))
            .docs(
                "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
                Evidence::OfficialDocs,
            )
            .notes(&[
                "The key is shown as `whpk_` and base64; `whsk_` is the private one.",
                "The signed bytes are ambiguous if the id may hold a full stop; such ids are refused here.",
                "Entries that cannot be read, and other versions such as v1, are skipped: a MAC made \
                 with the public key proves nothing.",
                "The libraries of the specification know v1 only.",
            ]);

    /// Discord: interactions and Webhook Events.
    pub const DISCORD: Scheme = Scheme::new("discord", Mac::Ed25519)
        .signature(Slot::header("X-Signature-Ed25519"), Encoding::Hex)
        .timestamp(Slot::header("X-Signature-Timestamp"), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Body])
        .ambiguous_boundary(
            "the body is a JSON object, so the digits end at its brace; a time cut short lies \
             decades in the past, so the age must be judged",
        )
        .id(IdSource::JsonOrContent("/id"))
        .event_type(Source::Json("/type"))
        .retry_horizon(Duration::from_secs(10 * 60))
        .docs(
            "https://discord.com/developers/docs/interactions/overview",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Discord sends requests with bad signatures on purpose, when the address is saved and \
             later: answer 401.",
            "A PING must be answered: with `{\"type\":1}` to interactions, with 204 to Webhook \
             Events. All of them are one event by content, so answer before you claim.",
            "Webhook Events have no id and are named by their content; their type is `/event/type`.",
            "Neither the documentation nor the SDK judges the time; 5 minutes is ours.",
            "Interactions want an answer within 3 seconds and are not retried; Webhook Events are, \
             for up to 10 minutes (unverified).",
        ]);

    /// fal.ai.
    pub const FAL: Scheme = Scheme::new("fal", Mac::Ed25519)
        .signature(Slot::header("X-Fal-Webhook-Signature"), Encoding::Hex)
        .timestamp(Slot::header("X-Fal-Webhook-Timestamp"), Unit::Seconds)
        .content(&[
            Part::Header(Slot::header("X-Fal-Webhook-Request-Id").shape(Shape::Token)),
            Part::Text("\n"),
            Part::Header(Slot::header("X-Fal-Webhook-User-Id")),
            Part::Text("\n"),
            Part::Timestamp,
            Part::Text("\n"),
            Part::Of(Transform::Sha256(Encoding::LowerHex), &[Part::Body]),
        ])
        .id(IdSource::Header("X-Fal-Webhook-Request-Id"))
        .event_type(Source::Json("/status"))
        .retry_horizon(Duration::from_secs(2 * 60 * 60))
        .docs("https://docs.fal.ai/model-endpoints/webhooks", Evidence::ThirdParty)
        .notes(&[
            "The keys are in a JWKS, and a request does not say which one it is signed with: give every \
             JWK of the set as a secret of its own, and read the set anew at least once a day.",
            "The body is signed by its SHA-256 in hexadecimal.",
            "A request has one result, so its id names the event; after an internal retry \
             `/gateway_request_id` differs from it.",
            "10 attempts within 2 hours (unverified).",
        ]);

    /// Telnyx.
    pub const TELNYX: Scheme = Scheme::new("telnyx", Mac::Ed25519)
        .signature(Slot::header("telnyx-signature-ed25519"), Encoding::Base64)
        .timestamp(Slot::header("telnyx-timestamp"), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("|"), Part::Body])
        .id(IdSource::Json("/data/id"))
        .event_type(Source::Json("/data/event_type"))
        .docs("https://www.npmjs.com/package/telnyx", Evidence::OfficialSdk)
        .notes(&["The key is the account's, shown as base64 of its 32 bytes."]);

    /// Token.io.
    pub const TOKEN_IO: Scheme = Scheme::new("token-io", Mac::Ed25519)
        .signature(Slot::header("token-signature"), Encoding::Base64Url)
        .content(&[Part::Body])
        .event_type(Source::Header("token-event"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "No time is signed: a captured request verifies for ever.",
            "Key and signature are URL-safe base64 without padding.",
            "The event type is in an unsigned header.",
            "No id of the event is known, and two events may have equal bodies.",
        ]);
}
