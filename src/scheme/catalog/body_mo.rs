//! A MAC over the body alone: providers from M to O.

use super::{DAY, over_body};
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Scheme, SecretFormat, Slot, Source, Stability,
};

catalog! {
    /// Maxio Advanced Billing (Chargify).
    pub const MAXIO_CHARGIFY: Scheme = over_body(
        "maxio-chargify",
        Mac::HmacSha256,
        Slot::header("X-Chargify-Webhook-Signature-Hmac-Sha-256"),
        Encoding::Hex,
    )
    .id(IdSource::Header("X-Chargify-Webhook-Id"))
    .docs(
        "https://gist.github.com/moklett/7456242",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The body is a form: take it raw before a form parser does.",
        "The id is in the signed form as well, so equal bodies are one event.",
        "The event type is the form's `event`.",
        "An older MD5 header is not read.",
    ]);

    /// Merge.
    pub const MERGE: Scheme = over_body(
        "merge",
        Mac::HmacSha256,
        Slot::header("X-Merge-Webhook-Signature"),
        Encoding::Base64Url,
    )
    .event_type(Source::Json("/hook/event"))
    .docs(
        "https://docs.merge.dev/basics/webhooks/",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`/hook/id` names the webhook.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Meta: Facebook, Instagram, Messenger and WhatsApp.
    pub const META: Scheme = over_body(
        "meta",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature-256").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/object"))
    .retry_horizon(DAY.saturating_mul(7))
    .docs(
        "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Escapes in the body are signed as they are sent: JSON that was written anew does \
         not verify.",
        "One request holds up to 1000 updates; some kinds have an id inside, such as \
         messages, and others have none.",
        "A legacy SHA-1 header is sent beside it and not read.",
        "Retried for 36 hours, for WhatsApp 7 days (unverified).",
    ]);

    /// Microsoft Teams outgoing webhooks.
    pub const MICROSOFT_TEAMS: Scheme = over_body(
        "microsoft-teams",
        Mac::HmacSha256,
        Slot::header("Authorization").prefix("HMAC "),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/type"))
    .secret(SecretFormat::Base64 { prefix: "" })
    .docs(
        "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The security token is base64.",
        "`/id` names the message; the body has a signed time as well.",
        "There are no retries (unverified).",
    ]);

    /// Modern Treasury.
    pub const MODERN_TREASURY: Scheme = over_body(
        "modern-treasury",
        Mac::HmacSha256,
        Slot::header("X-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .delivery_id("X-Event-Id")
    .docs(
        "https://www.npmjs.com/package/modern-treasury",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "`X-Event-Id` is unsigned and is kept for logs; two events may have equal bodies, \
         so nothing names the event.",
        "`X-Topic` is unsigned.",
    ]);

    /// Mollie (next-generation webhooks).
    pub const MOLLIE: Scheme = over_body(
        "mollie",
        Mac::HmacSha256,
        Slot::header("X-Mollie-Signature")
            .lines()
            .list(b',')
            .optional_word("sha256="),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.mollie.com/reference/webhooks-new.md",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Classic webhooks are forms with an id and no signature: fetch the object instead.",
        "The signature is taken with or without `sha256=`, as the SDK does.",
        "While a secret is rotated the header may be repeated, one signature to a line; a server may \
         have joined the lines with commas.",
    ]);

    /// MongoDB Atlas alerts.
    #[cfg(feature = "sha1")]
    pub const MONGODB_ATLAS: Scheme = over_body(
        "mongodb-atlas",
        Mac::HmacSha1,
        Slot::header("X-MMS-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/eventTypeName"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`/id` names the alert: its opening and its closing have the same one.",
        "`X-MMS-Event` is unsigned.",
        "Nothing is signed unless a secret is set.",
    ]);

    /// Nango.
    pub const NANGO: Scheme = over_body(
        "nango",
        Mac::HmacSha256,
        Slot::header("X-Nango-Hmac-Sha256"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://www.npmjs.com/package/@nangohq/node",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "`X-Nango-Signature`, sent beside it, is a plain hash that can be extended; it is \
         not read.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Notion.
    pub const NOTION: Scheme = over_body(
        "notion",
        Mac::HmacSha256,
        Slot::header("X-Notion-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .stability(Stability::JsonExcept(&["/attempt_number"]))
    .retry_horizon(DAY)
    .docs(
        "https://developers.notion.com/reference/webhooks",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The key is the `verification_token` of the first request, which cannot be verified \
         itself.",
        "`attempt_number` grows, so each attempt has another signature; it is left out of \
         the fingerprint.",
        "Up to 8 attempts over about 24 hours (unverified).",
    ]);

    /// npm hooks.
    pub const NPM_HOOKS: Scheme = over_body(
        "npm-hooks",
        Mac::HmacSha256,
        Slot::header("X-Npm-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/event"))
    .docs(
        "https://docs.npmjs.com/cli/v7/commands/npm-hook",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The public service is retired or unmaintained; compatible registries go on with it.",
        "`/time` in the body tells equal events apart.",
    ]);

    /// Nuvemshop and Tiendanube.
    pub const NUVEMSHOP: Scheme = over_body(
        "nuvemshop",
        Mac::HmacSha256,
        Slot::header("x-linkedstore-hmac-sha256"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "The key is the client secret of the app.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Nylas.
    pub const NYLAS: Scheme = over_body(
        "nylas",
        Mac::HmacSha256,
        Slot::header("X-Nylas-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .stability(Stability::JsonExcept(&["/webhook_delivery_attempt"]))
    .docs(
        "https://developer.nylas.com/docs/v3/notifications/",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`webhook_delivery_attempt` grows, so each attempt has another signature; it is \
         left out of the fingerprint.",
        "In v3 each webhook has a secret of its own; in v2 it is the client secret.",
        "Compressed bodies are said to be signed as they are sent.",
    ]);

    /// Onfido.
    pub const ONFIDO: Scheme = over_body(
        "onfido",
        Mac::HmacSha256,
        Slot::header("X-SHA2-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/payload/action"))
    .docs(
        "https://documentation.onfido.com/api/latest/#webhooks",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "There is no event id, and an object may go through the same action again.",
        "A legacy SHA-1 header is not read.",
    ]);
}
