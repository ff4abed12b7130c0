//! A signed timestamp in front of the body.

use std::time::Duration;

use super::DAY;
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, Shape, Slot, Source, Stability, Unit,
};

const PADDLE_HEADER: Slot = Slot::header("Paddle-Signature").list(b';');
const STRIPE_HEADER: Slot = Slot::header("Stripe-Signature").list(b',');
const TWITCH_ID: Slot = Slot::header("Twitch-Eventsub-Message-Id").shape(Shape::Token);

catalog! {
    /// The plain contract of this project: what to choose when sender and receiver are both yours and
    /// Standard Webhooks is more than you want.
    pub const PLAIN: Scheme = Scheme::new("plain", Mac::HmacSha256)
        .signature(Slot::header("X-Webhook-Signature"), Encoding::Hex)
        .timestamp(Slot::header("X-Webhook-Timestamp"), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body])
        .key_id("X-Webhook-Key-Id")
        .id(IdSource::Header("X-Webhook-Id"))
        .event_type(Source::Json("/type"))
        .notes(&[
            "X-Webhook-Id is not signed: it is kept for logs, and events are named by their content.",
        ]);

    /// Stripe.
    pub const STRIPE: Scheme = Scheme::new("stripe", Mac::HmacSha256)
        .signature(STRIPE_HEADER.prefix("v1="), Encoding::Hex)
        .timestamp(STRIPE_HEADER.prefix("t="), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body])
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/type"))
        .stability(Stability::JsonExcept(&["/pending_webhooks"]))
        .retry_horizon(DAY.saturating_mul(3))
        .docs(
            "https://docs.stripe.com/webhooks/signature",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The secret is the whole `whsec_` text, not base64 as in Standard Webhooks.",
            "Only v1 counts; v0 is ignored. While a secret is rolled there are several v1.",
            "The official SDKs take timestamps from the future; here the window has two sides.",
            "`pending_webhooks` counts down between attempts and is left out of the fingerprint.",
        ]);

    /// Slack: Events API, slash commands and interactivity.
    pub const SLACK: Scheme = Scheme::new("slack", Mac::HmacSha256)
        .signature(
            Slot::header("X-Slack-Signature").prefix("v0="),
            Encoding::Hex,
        )
        .timestamp(Slot::header("X-Slack-Request-Timestamp"), Unit::Seconds)
        .content(&[
            Part::Text("v0:"),
            Part::Timestamp,
            Part::Text(":"),
            Part::Body,
        ])
        .id(IdSource::JsonOrContent("/event_id"))
        .event_type(Source::Json("/event/type"))
        .retry_horizon(Duration::from_secs(60 * 60))
        .docs(
            "https://docs.slack.dev/authentication/verifying-requests-from-slack",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Slash commands and interactivity are forms without an event id; they are named by their \
             content, which holds a trigger id of its own.",
            "X-Slack-Retry-Num and X-Slack-Retry-Reason are unsigned and decide nothing.",
            "The version text is compared with v0 and never fed into the MAC from the header.",
            "Three retries within about 5 minutes (unverified).",
        ]);

    /// Paddle Billing.
    pub const PADDLE: Scheme = Scheme::new("paddle", Mac::HmacSha256)
        .signature(PADDLE_HEADER.prefix("h1="), Encoding::Hex)
        .timestamp(PADDLE_HEADER.prefix("ts="), Unit::Seconds)
        .tolerance(Duration::from_secs(5))
        .content(&[Part::Timestamp, Part::Text(":"), Part::Body])
        .id(IdSource::Json("/event_id"))
        .event_type(Source::Json("/event_type"))
        .retry_horizon(DAY.saturating_mul(3))
        .docs(
            "https://developer.paddle.com/webhooks/signature-verification",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The documented tolerance is 5 seconds: a clock that is off refuses everything.",
            "During a rotation there are several h1; the Node SDK keeps only the last.",
            "The retry horizon is assumed, not looked up (unverified).",
        ]);

    /// Twitch EventSub.
    pub const TWITCH: Scheme = Scheme::new("twitch", Mac::HmacSha256)
        .signature(
            Slot::header("Twitch-Eventsub-Message-Signature").prefix("sha256="),
            Encoding::Hex,
        )
        .timestamp(
            Slot::header("Twitch-Eventsub-Message-Timestamp"),
            Unit::Rfc3339,
        )
        .tolerance(Duration::from_secs(600))
        .content(&[Part::Header(TWITCH_ID), Part::Timestamp, Part::Body])
        .id(IdSource::Header("Twitch-Eventsub-Message-Id"))
        .event_type(Source::Json("/subscription/type"))
        .docs(
            "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "Id, time and body are joined without separators; an id of letters, digits and `+/=_-` \
             and a time that is RFC 3339 leave one way to cut them.",
            "The message type header is unsigned: tell a challenge by the body.",
        ]);

    /// Zoom.
    pub const ZOOM: Scheme = Scheme::new("zoom", Mac::HmacSha256)
        .signature(Slot::header("x-zm-signature").prefix("v0="), Encoding::Hex)
        .timestamp(Slot::header("x-zm-request-timestamp"), Unit::Seconds)
        .content(&[
            Part::Text("v0:"),
            Part::Timestamp,
            Part::Text(":"),
            Part::Body,
        ])
        .id(IdSource::Content)
        .delivery_id("x-zm-trackingid")
        .event_type(Source::Json("/event"))
        .retry_horizon(Duration::from_secs(2 * 60 * 60))
        .docs(
            "https://developers.zoom.us/docs/api/webhooks/",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "There is no event id; `event_ts` in the body tells equal events apart.",
            "No tolerance is documented; 5 minutes is ours.",
            "Three retries within about 85 minutes (unverified).",
        ]);
}
