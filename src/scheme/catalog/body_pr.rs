//! A MAC over the body alone: providers from P to R.

use std::time::Duration;

use super::{DAY, over_body};
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Unit};

catalog! {
    /// PagerDuty (v3 webhooks).
    pub const PAGERDUTY: Scheme = over_body(
        "pagerduty",
        Mac::HmacSha256,
        Slot::header("X-PagerDuty-Signature")
            .list(b',')
            .prefix("v1="),
        Encoding::Hex,
    )
    .id(IdSource::Json("/event/id"))
    .event_type(Source::Json("/event/event_type"))
    .delivery_id("X-Webhook-Id")
    .retry_horizon(DAY.saturating_mul(2))
    .docs(
        "https://github.com/PagerDuty/developer-docs/blob/main/docs/webhooks/04-Signatures.md",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "One `v1=` for each active secret; other versions are skipped.",
        "Their documentation deduplicates by the unsigned `X-Webhook-Id`; the id in the \
         body is as stable, and signed.",
        "Retried for up to 48 hours; a 4xx other than 429 is dropped at once, and three \
         drops in a row disable the webhook for a day.",
    ]);

    /// Paystack.
    pub const PAYSTACK: Scheme = over_body(
        "paystack",
        Mac::HmacSha512,
        Slot::header("x-paystack-signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "The key is the account's API key: a new API key is a new webhook key.",
        "There is no event id; for payments `/event` together with `/data/id` is what to \
         choose.",
        "Test and live mode have different keys.",
    ]);

    /// Picqer.
    pub const PICQER: Scheme = over_body(
        "picqer",
        Mac::HmacSha256,
        Slot::header("X-Picqer-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/event"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`/idhook` names the hook, not the event.",
        "Nothing is signed unless a secret is set.",
    ]);

    /// Pusher Channels.
    pub const PUSHER: Scheme = over_body(
        "pusher",
        Mac::HmacSha256,
        Slot::header("X-Pusher-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/events/0/name"))
    .key_id("X-Pusher-Key")
    .body_timestamp("/time_ms", Unit::Millis)
    .retry_horizon(Duration::from_secs(5 * 60))
    .docs(
        "https://pusher.com/docs/channels/server_api/webhooks/",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "`X-Pusher-Key` names the key and secret in use: give it as the secret's key id.",
        "The window is that of the Python SDK; the Node SDK has none.",
        "One request holds several events without ids. Only the time tells a channel that \
         was occupied twice apart, and a content key leaves the time out: hash the body for \
         a key.",
        "Retried for 5 minutes.",
    ]);

    /// Razorpay.
    pub const RAZORPAY: Scheme = over_body(
        "razorpay",
        Mac::HmacSha256,
        Slot::header("X-Razorpay-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Header("x-razorpay-event-id"))
    .event_type(Source::Json("/event"))
    .retry_horizon(DAY)
    .docs(
        "https://www.npmjs.com/package/razorpay",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The signed body holds the event, its time and the object, which tells events apart.",
        "Checkout callbacks are signed in another way, with the API key's secret.",
        "Retries of older deliveries may still use the old secret after a change \
         (unverified).",
        "Retried for up to 24 hours (unverified).",
    ]);

    /// Rutter.
    pub const RUTTER: Scheme = over_body(
        "rutter",
        Mac::HmacSha256,
        Slot::header("X-Rutter-Signature").prefix("sha256="),
        Encoding::Base64,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.rutter.com/implementation-guides/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Base64, not hex, follows `sha256=`.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);
}
