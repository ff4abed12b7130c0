//! A MAC over the body alone: providers from A to B.

use super::{DAY, over_body};
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, SecretFormat, Slot, Source};

catalog! {
    /// Adyen: banking, platform and management webhooks.
    pub const ADYEN_PLATFORM: Scheme = over_body(
        "adyen-platform",
        Mac::HmacSha256,
        Slot::header("HmacSignature"),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/type"))
    .secret(SecretFormat::Hex)
    .docs(
        "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "Classic payment notifications are signed in another way and do not verify here.",
        "`/data/id` names the resource; the event is told from others by the signed time in \
         its body.",
    ]);

    /// AfterShip.
    pub const AFTERSHIP: Scheme = over_body(
        "aftership",
        Mac::HmacSha256,
        Slot::header("aftership-hmac-sha256"),
        Encoding::Base64,
    )
    .id(IdSource::Json("/event_id"))
    .event_type(Source::Json("/event"))
    .docs(
        "https://www.aftership.com/docs/tracking/webhook/webhook-signature",
        Evidence::ThirdParty,
    )
    .notes(&["`/ts` is when the event happened; retries may come much later, so it is no window."]);

    /// AiPrise.
    pub const AIPRISE: Scheme = over_body(
        "aiprise",
        Mac::HmacSha256,
        Slot::header("X-HMAC-SIGNATURE"),
        Encoding::Hex,
    )
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The key is the API private key; there is no secret for webhooks alone.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Airtable.
    pub const AIRTABLE: Scheme = over_body(
        "airtable",
        Mac::HmacSha256,
        Slot::header("X-Airtable-Content-MAC").prefix("hmac-sha256="),
        Encoding::Hex,
    )
    .id(IdSource::Content)
    .secret(SecretFormat::Base64 { prefix: "" })
    .docs(
        "https://airtable.com/developers/web/api/webhooks-overview",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The prefix is `hmac-sha256=`, and the secret is base64.",
        "A notification names the base and the webhook only; fetch what changed with the \
         cursor.",
        "A webhook expires after 7 days unless it is refreshed.",
        "Retried with growing delays, then notifications are switched off (unverified).",
    ]);

    /// Alchemy Notify.
    pub const ALCHEMY: Scheme = over_body(
        "alchemy",
        Mac::HmacSha256,
        Slot::header("X-Alchemy-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://www.alchemy.com/docs/reference/notify-api-quickstart",
        Evidence::ThirdParty,
    )
    .notes(&["The signing key is the whole `whsec_` text, not base64 as in Standard Webhooks."]);

    /// Asana.
    pub const ASANA: Scheme = over_body(
        "asana",
        Mac::HmacSha256,
        Slot::header("X-Hook-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/events/0/action"))
    .retry_horizon(DAY)
    .docs(
        "https://developers.asana.com/docs/webhooks-guide.md",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Every webhook has a secret of its own, sent once in the unsigned handshake \
         `X-Hook-Secret`.",
        "A request holds several events, or none when it is a heartbeat; tell events apart \
         by resource, time and action.",
        "Deliveries are retried for up to 24 hours, then the webhook is deleted.",
        "Asana may lose events: reconcile now and then.",
    ]);

    /// Ashby.
    pub const ASHBY: Scheme = over_body(
        "ashby",
        Mac::HmacSha256,
        Slot::header("Ashby-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/action"))
    .docs("", Evidence::ThirdParty)
    .notes(&["No id of the event is known, and two events may have equal bodies."]);

    /// Autodesk Platform Services.
    #[cfg(feature = "sha1")]
    pub const AUTODESK: Scheme = over_body(
        "autodesk",
        Mac::HmacSha1,
        Slot::header("x-adsk-signature").prefix("sha1hash="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/hook/event"))
    .docs(
        "https://aps.autodesk.com/en/docs/webhooks/v1/tutorials/how-to-verify-payload-signature/",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The secret is the token registered for webhooks, not the OAuth client secret.",
        "Nothing is signed until a token is set.",
        "`/hook/hookId` names the hook, not the event.",
    ]);

    /// Bitbucket Cloud.
    pub const BITBUCKET: Scheme = over_body(
        "bitbucket",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Header("X-Event-Key"))
    .delivery_id("X-Request-UUID")
    .docs(
        "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "`X-Hub-Signature` holds SHA-256 here, and SHA-1 at other providers.",
        "`X-Request-UUID` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
        "A webhook without a secret is not signed.",
        "Up to two retries (unverified).",
    ]);

    /// Bitbucket Server and Data Center.
    pub const BITBUCKET_SERVER: Scheme = over_body(
        "bitbucket-server",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Header("X-Event-Key"))
    .delivery_id("X-Request-Id")
    .docs(
        "https://github.com/go-playground/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`X-Hub-Signature` holds SHA-256 here, and SHA-1 at other providers.",
        "`X-Request-Id` is unsigned and is kept for logs; two events may have equal bodies, \
         so nothing names the event.",
    ]);

    /// Bolt.
    pub const BOLT: Scheme = over_body(
        "bolt",
        Mac::HmacSha256,
        Slot::header("X-Bolt-Hmac-Sha256"),
        Encoding::Base64,
    )
    .more_signatures(&[Slot::header("X-Bolt-Hmac-Sha256-Pending")])
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "While a key is replaced, the second header is signed with the new one: have both \
         in the ring.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Bridge (open banking, bridgeapi.io).
    pub const BRIDGE_API: Scheme = over_body(
        "bridge-api",
        Mac::HmacSha256,
        Slot::header("BridgeApi-Signature").list(b',').prefix("v1="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "One `v1=` for each living secret, in upper case.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);
}
