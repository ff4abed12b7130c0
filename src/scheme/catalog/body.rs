//! A MAC over the body alone.

use std::time::Duration;

use super::DAY;
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, Slot, Source, Stability, Unit,
};

catalog! {
    /// GitHub.
    pub const GITHUB: Scheme = Scheme::new("github", Mac::HmacSha256)
        .signature(
            Slot::header("X-Hub-Signature-256").prefix("sha256="),
            Encoding::Hex,
        )
        .content(&[Part::Body])
        .id(IdSource::Header("X-GitHub-Delivery"))
        .event_type(Source::Header("X-GitHub-Event"))
        .retry_horizon(DAY.saturating_mul(3))
        .docs(
            "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "No timestamp is signed: a captured request stays good until the secret changes, and only \
             a kept receipt stands against it.",
            "Delivery id and event type headers are unsigned; events are named by their content.",
            "No retries of its own; redelivery by hand for 3 days (unverified).",
        ]);

    /// GitHub's legacy signature, for servers that send no other.
    #[cfg(feature = "sha1")]
    pub const GITHUB_SHA1: Scheme = Scheme {
        mac: Mac::HmacSha1,
        ..GITHUB
    }
    .named("github-sha1")
    .provider_name("github")
    .signature(
        Slot::header("X-Hub-Signature").prefix("sha1="),
        Encoding::Hex,
    );

    /// Shopify.
    pub const SHOPIFY: Scheme = Scheme::new("shopify", Mac::HmacSha256)
        .signature(Slot::header("X-Shopify-Hmac-Sha256"), Encoding::Base64)
        .content(&[Part::Body])
        .id(IdSource::Header("X-Shopify-Webhook-Id"))
        .event_type(Source::Header("X-Shopify-Topic"))
        .header_family("X-Shopify-", "shopify-")
        .retry_horizon(DAY)
        .docs(
            "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Id, topic, shop domain and time are unsigned headers; events are named by their content.",
            "The newer Events deliveries use the same headers without `X-`.",
            "After the client secret is rotated, deliveries may use the old one for a while.",
            "Eight retries over 4 hours (unverified).",
        ]);

    /// Linear.
    pub const LINEAR: Scheme = Scheme::new("linear", Mac::HmacSha256)
        .signature(Slot::header("Linear-Signature"), Encoding::Hex)
        .content(&[Part::Body])
        .body_timestamp("/webhookTimestamp", Unit::Millis)
        .tolerance(Duration::from_secs(60))
        .id(IdSource::Header("Linear-Delivery"))
        .event_type(Source::Json("/type"))
        .stability(Stability::JsonExcept(&["/webhookTimestamp"]))
        .retry_horizon(DAY)
        .docs(
            "https://linear.app/developers/webhooks",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The time that counts is in the signed body; the Linear-Timestamp header repeats it \
             unsigned and is not read.",
            "`webhookId` names the webhook, not the event.",
            "The tolerance is 60 s.",
            "Retries after 1 minute, 1 hour and 6 hours (unverified).",
        ]);

    /// Dropbox.
    pub const DROPBOX: Scheme = Scheme::new("dropbox", Mac::HmacSha256)
        .signature(Slot::header("X-Dropbox-Signature"), Encoding::Hex)
        .content(&[Part::Body])
        .id(IdSource::None)
        .stability(Stability::None)
        .retry_horizon(DAY)
        .docs(
            "https://www.dropbox.com/developers/reference/webhooks",
            Evidence::ThirdParty,
        )
        .notes(&[
            "A notification lists accounts and nothing else: there is no id and no time, and two \
             changes look alike. Fetch what changed; do not deduplicate by content.",
        ]);
}
