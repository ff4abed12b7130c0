//! A MAC over the body alone: providers from S to T.

use std::time::Duration;

use super::over_body;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source};

catalog! {
    /// Scrapfly.
    pub const SCRAPFLY: Scheme = over_body(
        "scrapfly",
        Mac::HmacSha256,
        Slot::header("X-Scrapfly-Webhook-Signature"),
        Encoding::Hex,
    )
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The hex is in upper case; a lower-case copy is in a second header and not read.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Segment webhooks.
    #[cfg(feature = "sha1")]
    pub const SEGMENT: Scheme = over_body(
        "segment",
        Mac::HmacSha1,
        Slot::header("X-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/messageId"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://segment.com/docs/connections/destinations/catalog/actions-webhook/",
        Evidence::ThirdParty,
    )
    .notes(&[
        "With batching only the first event of a request is signed: such requests do not \
         verify here. Switch batching off.",
        "Nothing is signed unless a shared secret is set.",
    ]);

    /// Sentry integrations.
    pub const SENTRY: Scheme = over_body(
        "sentry",
        Mac::HmacSha256,
        Slot::header("Sentry-Hook-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Header("Sentry-Hook-Resource"))
    .delivery_id("Request-ID")
    .docs(
        "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "`Sentry-Hook-Timestamp` is unsigned and is not read.",
        "`Request-ID` is unsigned and is kept for logs; two events may have equal bodies, \
         so nothing names the event.",
        "Most hooks are not retried; answer within a second (unverified).",
    ]);

    /// ShipHero.
    pub const SHIPHERO: Scheme = over_body(
        "shiphero",
        Mac::HmacSha256,
        Slot::header("x-shiphero-hmac-sha256"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/webhook_type"))
    .delivery_id("x-shiphero-message-id")
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`x-shiphero-message-id` is unsigned and is kept for logs; two events may have \
         equal bodies, so nothing names the event.",
    ]);

    /// Shopline.
    pub const SHOPLINE: Scheme = over_body(
        "shopline",
        Mac::HmacSha256,
        Slot::header("X-Shopline-Hmac-Sha256"),
        Encoding::Base64,
    )
    .event_type(Source::Header("X-Shopline-Topic"))
    .delivery_id("X-Shopline-Webhook-Id")
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Sources disagree: most say base64, one says hex, which does not verify here.",
        "`X-Shopline-Webhook-Id` is unsigned and is kept for logs; two events may have \
         equal bodies, so nothing names the event.",
    ]);

    /// Signal Sciences (Fastly Next-Gen WAF).
    pub const SIGNAL_SCIENCES: Scheme = over_body(
        "signal-sciences",
        Mac::HmacSha256,
        Slot::header("X-SigSci-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.fastly.com/signalsciences/integrations/generic-webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "When the key is rotated the old one ends at once.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Smartcar.
    pub const SMARTCAR: Scheme = over_body(
        "smartcar",
        Mac::HmacSha256,
        Slot::header("SC-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/eventType"))
    .docs("https://pypi.org/project/smartcar/", Evidence::OfficialSdk)
    .notes(&[
        "The key is the application management token.",
        "A `VERIFY` request has to be answered with the HMAC of its challenge.",
        "In the second version the type is in `/eventName`.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Smile (payroll data API).
    pub const SMILE: Scheme = over_body(
        "smile",
        Mac::HmacSha512,
        Slot::header("Smile-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Neither Smile.io nor Smile ID.",
        "Whether `/id` names the event is not known.",
    ]);

    /// Sonatype Nexus Repository.
    #[cfg(feature = "sha1")]
    pub const SONATYPE_NEXUS: Scheme = over_body(
        "sonatype-nexus",
        Mac::HmacSha1,
        Slot::header("X-Nexus-Webhook-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Header("X-Nexus-Webhook-Id"))
    .delivery_id("X-Nexus-Webhook-Delivery")
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`X-Nexus-Webhook-Id` is the kind of event, not an id.",
        "`X-Nexus-Webhook-Delivery` is unsigned and is kept for logs; two events may have \
         equal bodies, so nothing names the event.",
    ]);

    /// Sumsub with SHA-1.
    #[cfg(feature = "sha1")]
    pub const SUMSUB_SHA1: Scheme = over_body(
        "sumsub-sha1",
        Mac::HmacSha1,
        Slot::header("X-Payload-Digest"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.sumsub.com/docs/webhook-manager",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`X-Payload-Digest-Alg` is unsigned and is not read: this row is for webhooks set \
         to `HMAC_SHA1_HEX`.",
        "`/correlationId` names a request, not the event.",
    ]);

    /// Sumsub with SHA-512.
    pub const SUMSUB_SHA512: Scheme = over_body(
        "sumsub-sha512",
        Mac::HmacSha512,
        Slot::header("X-Payload-Digest"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.sumsub.com/docs/webhook-manager",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`X-Payload-Digest-Alg` is unsigned and is not read: this row is for webhooks set \
         to `HMAC_SHA512_HEX`.",
        "`/correlationId` names a request, not the event.",
    ]);

    /// HCP Terraform and Terraform Enterprise notifications.
    pub const TERRAFORM_CLOUD: Scheme = over_body(
        "terraform-cloud",
        Mac::HmacSha512,
        Slot::header("X-TFE-Notification-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/notifications/0/trigger"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "Nothing is signed unless a token is set.",
        "Run tasks use another header.",
        "There is no event id, and a run may meet the same trigger again.",
    ]);

    /// Trend Micro Cloud One Conformity.
    pub const TREND_MICRO_CONFORMITY: Scheme = over_body(
        "trend-micro-conformity",
        Mac::HmacSha256,
        Slot::header("X-Conformity-Signature"),
        Encoding::Hex,
    )
    .more_signatures(&[Slot::header("X-TrendMicro-Signature")])
    .docs(
        "https://cloudone.trendmicro.com/docs/conformity/webhook-communication/",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The newer documentation calls the header `X-TrendMicro-Signature`: either is read.",
        "Nothing is signed unless a token is set.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Trigger.dev alerts.
    pub const TRIGGER_DEV: Scheme = over_body(
        "trigger-dev",
        Mac::HmacSha256,
        Slot::header("x-trigger-signature-hmacsha256"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://trigger.dev/docs/troubleshooting-alerts",
        Evidence::OfficialSdk,
    )
    .notes(&["Whether `/id` names the event or the webhook is not documented."]);

    /// Typeform.
    pub const TYPEFORM: Scheme = over_body(
        "typeform",
        Mac::HmacSha256,
        Slot::header("Typeform-Signature").prefix("sha256="),
        Encoding::Base64,
    )
    .id(IdSource::Json("/event_id"))
    .event_type(Source::Json("/event_type"))
    .retry_horizon(Duration::from_secs(10 * 60 * 60))
    .docs(
        "https://developers.typeform.com/webhooks/secure-your-webhooks/",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Base64, not hex, follows `sha256=`.",
        "Nothing is signed unless a secret is set.",
        "Retried for up to 10 hours (unverified).",
    ]);
}
