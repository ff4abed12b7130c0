//! A MAC over the body alone: providers from E to G.

use super::over_body;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source};

catalog! {
    /// Enode.
    #[cfg(feature = "sha1")]
    pub const ENODE: Scheme = over_body(
        "enode",
        Mac::HmacSha1,
        Slot::header("X-Enode-Signature").prefix("sha1="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/0/event"))
    .delivery_id("X-Enode-Delivery")
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The body is an array of events.",
        "`X-Enode-Delivery` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
    ]);

    /// Expo Application Services.
    #[cfg(feature = "sha1")]
    pub const EXPO: Scheme = over_body(
        "expo",
        Mac::HmacSha1,
        Slot::header("expo-signature").prefix("sha1="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/status"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`/id` is that of the build or submission; whether it may come again with another \
         state is not known.",
    ]);

    /// FastSpring.
    pub const FASTSPRING: Scheme = over_body(
        "fastspring",
        Mac::HmacSha256,
        Slot::header("X-FS-Signature"),
        Encoding::Base64,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/events/0/type"))
    .docs(
        "https://developer.fastspring.com/docs/message-security",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "One request holds several events: the key is that of the request, and each event \
         has an id of its own in `/events`.",
        "Nothing is signed unless a secret is set.",
    ]);

    /// Fireflies (second version).
    pub const FIREFLIES: Scheme = over_body(
        "fireflies",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The first version sends hex without `sha256=` and does not verify here.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Flexport.
    pub const FLEXPORT: Scheme = over_body(
        "flexport",
        Mac::HmacSha256,
        Slot::header("X-Hub-Signature-256").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "A legacy SHA-1 header is sent beside it and not read.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Gitea and Forgejo.
    pub const GITEA: Scheme = over_body(
        "gitea",
        Mac::HmacSha256,
        Slot::header("X-Gitea-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Header("X-Gitea-Event"))
    .delivery_id("X-Gitea-Delivery")
    .docs(
        "https://github.com/go-playground/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "Without a secret the header is empty, which never verifies.",
        "`X-Gitea-Delivery` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
    ]);

    /// GoCardless.
    pub const GOCARDLESS: Scheme = over_body(
        "gocardless",
        Mac::HmacSha256,
        Slot::header("Webhook-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/events/0/resource_type"))
    .docs(
        "https://www.npmjs.com/package/gocardless-nodejs",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "One request holds up to 250 events: the key is that of the request, and each event \
         has an id of its own in `/events`.",
        "Their documentation wants status 498 for a signature that fails.",
        "Eight retries (unverified).",
    ]);

    /// Gogs.
    pub const GOGS: Scheme = over_body(
        "gogs",
        Mac::HmacSha256,
        Slot::header("X-Gogs-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Header("X-Gogs-Event"))
    .delivery_id("X-Gogs-Delivery")
    .docs(
        "https://github.com/go-playground/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`X-Gogs-Delivery` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
    ]);

    /// Greenhouse.
    pub const GREENHOUSE: Scheme = over_body(
        "greenhouse",
        Mac::HmacSha256,
        Slot::header("Signature").prefix("sha256 "),
        Encoding::Hex,
    )
    .event_type(Source::Json("/action"))
    .delivery_id("Greenhouse-Event-ID")
    .docs(
        "https://developers.greenhouse.io/webhooks.html",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The header has the name of the one in RFC 9421, and a blank after `sha256`.",
        "A ping is sent when the webhook is made.",
        "`Greenhouse-Event-ID` is unsigned and is kept for logs; two events may have equal \
         bodies, so nothing names the event.",
    ]);

    /// Gusto.
    pub const GUSTO: Scheme = over_body(
        "gusto",
        Mac::HmacSha256,
        Slot::header("X-Gusto-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/uuid"))
    .event_type(Source::Json("/event_type"))
    .docs(
        "https://docs.gusto.com/embedded-payroll/docs/webhooks",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The key is the `verification_token` of the unsigned first request, which has to be \
         sent back to the API.",
    ]);
}
