//! A MAC over the body alone: providers from H to L.

use std::time::Duration;

use super::over_body;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source};

catalog! {
    /// Hookdeck Event Gateway.
    pub const HOOKDECK: Scheme = over_body(
        "hookdeck",
        Mac::HmacSha256,
        Slot::header("x-hookdeck-signature"),
        Encoding::Base64,
    )
    .more_signatures(&[Slot::header("x-hookdeck-signature-2")])
    .delivery_id("x-hookdeck-eventid")
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "After the project's secret is rolled, the second header holds the second signature.",
        "`x-hookdeck-verified` is unsigned; what Hookdeck forwards is a body of someone else.",
        "`x-hookdeck-eventid` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
    ]);

    /// Intercom.
    #[cfg(feature = "sha1")]
    pub const INTERCOM: Scheme = over_body(
        "intercom",
        Mac::HmacSha1,
        Slot::header("X-Hub-Signature").prefix("sha1="),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/topic"))
    // Named in full, as no other row here needs the import without SHA-1.
    .stability(crate::scheme::Stability::JsonExcept(&["/delivery_attempts"]))
    .docs(
        "https://developers.intercom.com/docs/references/webhooks/webhook-models",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "`X-Hub-Signature` holds SHA-1 here, and SHA-256 at Bitbucket and Jira.",
        "The attempt counter in the body grows, so each attempt has another signature; it \
         is left out of the fingerprint.",
        "Canvas Kit requests are signed in another header.",
        "One retry after a minute (unverified).",
    ]);

    /// Intuit QuickBooks.
    pub const INTUIT_QUICKBOOKS: Scheme = over_body(
        "intuit-quickbooks",
        Mac::HmacSha256,
        Slot::header("intuit-signature"),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .docs(
        "https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The body is changing from an object to an array of CloudEvents: read both.",
        "One request holds several changes, each with a time; only CloudEvents have ids.",
    ]);

    /// Jira Cloud.
    pub const JIRA: Scheme = over_body(
        "jira",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .id(IdSource::Header("X-Atlassian-Webhook-Identifier"))
    .event_type(Source::Json("/webhookEvent"))
    .retry_horizon(Duration::from_secs(75 * 60))
    .docs(
        "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Only webhooks with a secret are signed like this; those of Connect and OAuth 2.0 \
         apps carry a JWT.",
        "The time of the event in the body tells equal events apart.",
        "Up to five retries, 5 to 15 minutes apart (unverified).",
    ]);

    /// LaunchDarkly.
    pub const LAUNCHDARKLY: Scheme = over_body(
        "launchdarkly",
        Mac::HmacSha256,
        Slot::header("X-LD-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/_id"))
    .event_type(Source::Json("/kind"))
    .docs(
        "https://launchdarkly.com/docs/home/infrastructure/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Nothing is signed unless signing is switched on.",
        "Deliveries may come out of order: go by `/date`.",
        "One retry (unverified).",
    ]);

    /// Lemon Squeezy.
    pub const LEMONSQUEEZY: Scheme = over_body(
        "lemonsqueezy",
        Mac::HmacSha256,
        Slot::header("X-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/meta/event_name"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`X-Event-Name` is unsigned; the name in the body is not.",
        "`/meta/webhook_id` is not known to stay the same over retries, so nothing names \
         the event.",
        "Up to three retries (unverified).",
    ]);

    /// LINE Messaging API.
    pub const LINE: Scheme = over_body(
        "line",
        Mac::HmacSha256,
        Slot::header("X-Line-Signature"),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/events/0/type"))
    .docs(
        "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The channel secret is 32 hex digits, but used as text.",
        "One request holds several events, or none from the verify button; each has a \
         `webhookEventId` of its own.",
        "A redelivery says so in its body and is another request to this key: deduplicate \
         by `webhookEventId` where it matters.",
    ]);
}
