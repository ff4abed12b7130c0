//! A MAC over the body alone: providers from U to X.

use super::{DAY, over_body};
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source};

catalog! {
    /// Uber.
    pub const UBER: Scheme = over_body(
        "uber",
        Mac::HmacSha256,
        Slot::header("X-Uber-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/event_id"))
    .event_type(Source::Json("/event_type"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&["`X-Environment` is unsigned: have different secrets for sandbox and production."]);

    /// Upollo.
    pub const UPOLLO: Scheme = over_body(
        "upollo",
        Mac::HmacSha512,
        Slot::header("Upollo-Signature").list(b',').prefix("s0:"),
        Encoding::Hex,
    )
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The time in the header is unsigned and is not read.",
        "The service is said to be offline.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Vapi.
    pub const VAPI: Scheme = over_body(
        "vapi",
        Mac::HmacSha256,
        Slot::header("X-Vapi-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/message/type"))
    .docs(
        "https://www.npmjs.com/package/@trigger.dev/core",
        Evidence::ThirdParty,
    )
    .notes(&[
        "By default a plain token is sent instead; the signature and its header are a \
         setting of the server.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Vercel.
    #[cfg(feature = "sha1")]
    pub const VERCEL: Scheme = over_body(
        "vercel",
        Mac::HmacSha1,
        Slot::header("x-vercel-signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .retry_horizon(DAY)
    .docs(
        "https://vercel.com/docs/webhooks/webhooks-api",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "For integrations the key is the client secret; for accounts it is shown once.",
        "Retried for up to 24 hours (unverified).",
    ]);

    /// Vercel log drains.
    #[cfg(feature = "sha1")]
    pub const VERCEL_LOG_DRAINS: Scheme = over_body(
        "vercel-log-drains",
        Mac::HmacSha1,
        Slot::header("x-vercel-signature"),
        Encoding::Hex,
    )
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "Bodies are JSON arrays or JSON by the line.",
        "Each drain has a secret of its own.",
        "The scheme is that of Vercel's webhooks, from memory of the documentation \
         (unverified).",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Veriff.
    pub const VERIFF: Scheme = over_body(
        "veriff",
        Mac::HmacSha256,
        Slot::header("X-HMAC-SIGNATURE"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/action"))
    .docs(
        "https://devdocs.veriff.com/docs/hmac-authentication-and-endpoint-security",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "There is no event id; `/attemptId` and `/action`, or `/verification/attemptId` in \
         decisions, is what to choose.",
        "`X-AUTH-CLIENT` is unsigned.",
        "Some products use headers of other names.",
    ]);

    /// Webex.
    #[cfg(feature = "sha1")]
    pub const WEBEX: Scheme = over_body(
        "webex",
        Mac::HmacSha1,
        Slot::header("X-Spark-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`/id` names the webhook and `/data/id` the resource.",
        "Nothing is signed unless a secret was given.",
    ]);

    /// WooCommerce.
    pub const WOOCOMMERCE: Scheme = over_body(
        "woocommerce",
        Mac::HmacSha256,
        Slot::header("X-WC-Webhook-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Header("X-WC-Webhook-Topic"))
    .delivery_id("X-WC-Webhook-Delivery-ID")
    .docs(
        "https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The ping at activation is an unsigned form.",
        "The delivery id header is new for every delivery and unsigned; it is kept for logs.",
        "The shop stores `&`, `<`, `>` and quotes of the secret escaped, but signs with the \
         text as it was entered.",
        "A failed delivery is not tried again; five in a row disable the webhook \
         (unverified).",
    ]);

    /// Worldline (Online Payments).
    pub const WORLDLINE: Scheme = over_body(
        "worldline",
        Mac::HmacSha256,
        Slot::header("X-GCS-Signature"),
        Encoding::Base64,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .key_id("X-GCS-KeyId")
    .docs(
        "https://pypi.org/project/onlinepayments-sdk-python3/",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "`X-GCS-KeyId` names the key in use: give it as the secret's key id.",
        "An endpoint is first checked with a GET that has to be answered with the value of \
         a header.",
    ]);

    /// X (Twitter).
    pub const X_TWITTER: Scheme = over_body(
        "x-twitter",
        Mac::HmacSha256,
        Slot::header("x-twitter-webhooks-signature").prefix("sha256="),
        Encoding::Base64,
    )
    .more_signatures(&[Slot::header("X-Twitter-Webhooks-Signature-OAuth2").prefix("sha256=")])
    .docs(
        "https://docs.x.com/x-api/webhooks/introduction",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Base64, not hex, follows `sha256=`.",
        "The first header is keyed with the consumer secret, the newer one with the OAuth \
         2.0 client secret: either is enough, and both may be in the ring.",
        "Ids are inside each event, at places that differ by kind.",
        "Missed events can be replayed for 24 hours (unverified).",
    ]);

    /// Xero.
    pub const XERO: Scheme = over_body(
        "xero",
        Mac::HmacSha256,
        Slot::header("x-xero-signature"),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .retry_horizon(DAY)
    .docs(
        "https://gist.github.com/rjaus/2dd34906cfa6fac9c5a0181404d14850",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The signing key looks like base64 but is used as text.",
        "Answer the wrongly signed probes of an intent to receive with 401 and an empty body.",
        "One request holds several events without ids; sequence numbers and entropy in the \
         body tell requests apart.",
        "Retried for up to 24 hours (unverified).",
    ]);
}
