//! The body first, and behind it a time or a number, with nothing between them.

use std::time::Duration;

use crate::scheme::{
    Condition, Encoding, Evidence, IdSource, Mac, Part, Scheme, SecretFormat, Shape, Slot, Source,
    Transform, Unit,
};

const DIGITS_LAST: &str = "the body is a JSON object or list, so the digits begin behind its bracket; a time cut short \
     lies decades in the past, so the age must be judged";

const INNGEST_HEADER: Slot = Slot::header("X-Inngest-Signature").list(b'&');
const CHECKBOOK_HEADER: Slot = Slot::header("Signature").list(b',');
const CHECKBOOK_NONCE: Slot = CHECKBOOK_HEADER.prefix("nonce=").shape(Shape::Token);
const BOX_VERSION: Part = Part::Require(Condition::Equals(
    Slot::header("Box-Signature-Version"),
    "1",
));
const BOX_ALGORITHM: Part = Part::Require(Condition::Equals(
    Slot::header("Box-Signature-Algorithm"),
    "HmacSHA256",
));

/// A time in digits behind the body.
const fn body_then_digits(name: &'static str, time: &'static str, unit: Unit) -> Scheme {
    Scheme::new(name, Mac::HmacSha256)
        .timestamp(Slot::header(time), unit)
        .content(&[Part::Body, Part::Timestamp])
        .ambiguous_boundary(DIGITS_LAST)
}

catalog! {
    /// Inngest, which calls functions by signed requests.
    pub const INNGEST: Scheme = Scheme::new("inngest", Mac::HmacSha256)
        .signature(INNGEST_HEADER.prefix("s="), Encoding::Hex)
        .timestamp(INNGEST_HEADER.prefix("t="), Unit::Seconds)
        .content(&[Part::Body, Part::Timestamp])
        .ambiguous_boundary(DIGITS_LAST)
        .secret(SecretFormat::TextWithout(&["signkey-*-"]))
        .event_type(Source::Json("/event/name"))
        .docs("https://www.npmjs.com/package/inngest", Evidence::OfficialSdk)
        .notes(&[
            "The key is the hexadecimal text behind `signkey-…-`, as text and not decoded; give the \
             whole of it, and the beginning is cut off.",
            "A request runs one step of a function: `/ctx/run_id` names the run and not the request.",
            "The SDK brings a body that was parsed already into canonical form; here the raw bytes count.",
        ]);

    /// Klaviyo system webhooks.
    pub const KLAVIYO: Scheme = body_then_digits("klaviyo", "Klaviyo-Timestamp", Unit::Seconds)
        .signature(Slot::header("Klaviyo-Signature"), Encoding::Hex)
        .event_type(Source::Json("/data/0/topic"))
        .docs(
            "https://developers.klaviyo.com/en/docs/working_with_system_webhooks",
            Evidence::ThirdParty,
        )
        .notes(&[
            "That the time is in seconds is assumed (unverified); anything else is refused as stale or \
             unreadable.",
            "Webhooks of flows are unsigned, and there is no `X-Klaviyo-Signature`.",
            "`Klaviyo-Webhook-Id` names the webhook and not the delivery. The body is a list of \
             events; the type is the first one's.",
        ]);

    /// Zero Hash.
    pub const ZEROHASH: Scheme = body_then_digits("zerohash", "x-zh-hook-timestamp", Unit::Millis)
        .signature(Slot::header("x-zh-hook-signature"), Encoding::Hex)
        .delivery_id("x-zh-hook-notification-id")
        .event_type(Source::Header("x-zh-hook-payload-type"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "That the time is in milliseconds is disputed between two revisions of the source \
             (unverified).",
            "The older `x-zh-hook-signature-256` signs the body alone, and an RSA mode exists; neither \
             is read here.",
            "Id and type are in unsigned headers, the type's name from memory (unverified).",
        ]);

    /// Checkbook.
    pub const CHECKBOOK: Scheme = Scheme::new("checkbook", Mac::HmacSha256)
        .signature(CHECKBOOK_HEADER.prefix("signature="), Encoding::Hex)
        .content(&[Part::Body, Part::Header(CHECKBOOK_NONCE)])
        .ambiguous_boundary(
            "the body is a JSON object and the nonce holds no brace, so a body that parses ends \
             where it did",
        )
        .event_type(Source::Json("/status"))
        .docs("https://docs.checkbook.io/docs/webhooks", Evidence::OfficialDocs)
        .notes(&[
            "The key is the text of 32 hexadecimal digits, not decoded.",
            "The nonce is no time: a captured request verifies for ever.",
            "`/id` names the check, not the event.",
        ]);

    /// Box, version 2 of its webhooks.
    pub const BOX: Scheme = Scheme::new("box", Mac::HmacSha256)
        .signature(Slot::header("Box-Signature-Primary"), Encoding::Base64)
        .more_signatures(&[Slot::header("Box-Signature-Secondary")])
        .timestamp(Slot::header("Box-Delivery-Timestamp"), Unit::Rfc3339)
        .tolerance(Duration::from_secs(600))
        .content(&[BOX_VERSION, BOX_ALGORITHM, Part::Body, Part::Timestamp])
        .or_content(&[&[
            BOX_VERSION,
            BOX_ALGORITHM,
            Part::Of(Transform::PhpEscapes, &[Part::Body]),
            Part::Timestamp,
        ]])
        .id(IdSource::Json("/id"))
        .delivery_id("Box-Delivery-Id")
        .event_type(Source::Json("/trigger"))
        .docs("https://www.npmjs.com/package/box-typescript-sdk-gen", Evidence::OfficialSdk)
        .notes(&[
            "There are two keys, each with a header of its own; here either key may match either header.",
            "As in one of the SDKs, a signature may be over the body with slashes and all but ASCII \
             escaped as PHP does it, which means the same JSON.",
            "Version and algorithm are compared and never chosen by the request.",
            "The SDKs take no time from the future; here the window has two sides.",
            "`Box-Delivery-Id` is unsigned and new with every attempt; `/id` is the event's.",
            "10 retries, the first after about 5 minutes (unverified).",
        ]);
}
