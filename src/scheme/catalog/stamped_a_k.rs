//! More providers that sign a time with the body, from A to K.

use std::time::Duration;

use super::DAY;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Part, Scheme, Slot, Source, Unit};

pub(super) const OUR_WINDOW: &str = "No tolerance is documented; 5 minutes is ours.";
pub(super) const THEIRS: &str =
    "The 5 minutes are what receivers use; no document of the provider was read.";
pub(super) const NO_ID: &str = "There is no id of the event: choose what names it.";
pub(super) const UNKNOWN_ID: &str = "What names the event is not known: choose it.";
pub(super) const TYPE: &str = "Where the event type is, is from memory (unverified).";

/// `{time}.{body}`
pub(super) const DOT: &[Part] = &[Part::Timestamp, Part::Text("."), Part::Body];
/// `{time}:{body}`
pub(super) const COLON: &[Part] = &[Part::Timestamp, Part::Text(":"), Part::Body];
const V0: &[Part] = &[
    Part::Text("v0:"),
    Part::Timestamp,
    Part::Text(":"),
    Part::Body,
];
const V1: &[Part] = &[
    Part::Text("v1:"),
    Part::Timestamp,
    Part::Text(":"),
    Part::Body,
];

const AKENEO_TIME: Slot = Slot::header("x-akeneo-request-timestamp");
const BUILDKITE_HEADER: Slot = Slot::header("X-Buildkite-Signature").list(b',');
const GHOST_HEADER: Slot = Slot::header("X-Ghost-Signature").list(b',');
const KNOCK_HEADER: Slot = Slot::header("x-knock-signature").list(b',');

/// The time in one header, the signature in hex in another; [`DOT`] unless another content is set.
pub(super) const fn two(name: &'static str, signature: Slot, time: Slot) -> Scheme {
    Scheme::new(name, Mac::HmacSha256)
        .signature(signature, Encoding::Hex)
        .timestamp(time, Unit::Seconds)
        .content(DOT)
}

/// As Stripe does it: a list with the time and signatures in hex, over [`DOT`].
pub(super) const fn list(
    name: &'static str,
    header: &'static str,
    time: &'static str,
    signature: &'static str,
) -> Scheme {
    let items = Slot::header(header).list(b',');
    two(name, items.prefix(signature), items.prefix(time))
}

catalog! {
    /// Airship.
    pub const AIRSHIP: Scheme =
        two("airship", Slot::header("X-UA-SIGNATURE"), Slot::header("X-UA-TIMESTAMP"))
            .content(COLON)
            .docs("", Evidence::ThirdParty)
            .notes(&[UNKNOWN_ID, THEIRS, "There is a mode with Basic credentials too, which is not read here."]);

    /// Airwallex.
    pub const AIRWALLEX: Scheme =
        two("airwallex", Slot::header("x-signature"), Slot::header("x-timestamp"))
            .timestamp(Slot::header("x-timestamp"), Unit::Millis)
            .content(&[Part::Timestamp, Part::Body])
            .ambiguous_boundary(
                "the body is a JSON object, so the digits end at its brace; a time cut short lies \
                 decades in the past, so the age must be judged",
            )
            .id(IdSource::Json("/id"))
            .event_type(Source::Json("/name"))
            .retry_horizon(DAY.saturating_mul(3))
            .docs(
                "https://www.airwallex.com/docs/developer-tools__listen-for-webhook-events__code-examples",
                Evidence::OfficialDocs,
            )
            .notes(&[
                "The secret is text even if it begins with `whsec_`.",
                "Only status 200 counts as delivered.",
                "Retries over about three days.",
            ]);

    /// Akeneo.
    pub const AKENEO: Scheme =
        two("akeneo", Slot::header("x-akeneo-request-signature"), AKENEO_TIME)
            .event_type(Source::Json("/events/0/action"))
            .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
            .notes(&[
                "One delivery may hold several events; the type is the first one's (unverified).",
                UNKNOWN_ID,
                THEIRS,
            ]);

    /// BambooHR.
    pub const BAMBOOHR: Scheme = two(
        "bamboohr",
        Slot::header("X-BambooHR-Signature"),
        Slot::header("X-BambooHR-Timestamp"),
    )
    .content(&[Part::Body, Part::Timestamp])
    .ambiguous_boundary(
        "the body is a JSON object, so the digits begin behind its brace; a time cut short lies \
         decades in the past, so the age must be judged",
    )
    .event_type(Source::Json("/employees/0/action"))
    .docs("https://documentation.bamboohr.com/docs/webhooks", Evidence::ThirdParty)
    .notes(&[
        "The time stands behind the body, with nothing between them.",
        "One delivery tells of several employees; the type is the first one's.",
        NO_ID,
    ]);

    /// Buildkite (see [`BUILDKITE_TOKEN`](super::BUILDKITE_TOKEN) for its other mode).
    pub const BUILDKITE: Scheme = two(
        "buildkite",
        BUILDKITE_HEADER.prefix("signature="),
        BUILDKITE_HEADER.prefix("timestamp="),
    )
    .delivery_id("X-Buildkite-Request")
    .event_type(Source::Json("/event"))
    .docs(
        "https://github.com/buildkite/docs/blob/main/pages/apis/webhooks/_webhook_signature.md",
        Evidence::OfficialDocs,
    )
    .notes(&["The request's id is in an unsigned header.", NO_ID, OUR_WINDOW]);

    /// Calendly.
    pub const CALENDLY: Scheme = list("calendly", "Calendly-Webhook-Signature", "t=", "v1=")
        .tolerance(Duration::from_secs(180))
        .event_type(Source::Json("/event"))
        .retry_horizon(DAY)
        .docs("https://developer.calendly.com/api-docs/webhook-signatures", Evidence::ThirdParty)
        .notes(&[
            "Without a signing key of the subscription no signature is sent.",
            "The tolerance is 180 s.",
            NO_ID,
            "Retries for up to 24 hours (unverified).",
        ]);

    /// Cloudflare Stream.
    pub const CLOUDFLARE_STREAM: Scheme =
        list("cloudflare-stream", "Webhook-Signature", "time=", "sig1=")
            .event_type(Source::Json("/status/state"))
            .docs("", Evidence::ThirdParty)
            .notes(&["`uid` names the video and not the event.", NO_ID, OUR_WINDOW]);

    /// Customer.io.
    pub const CUSTOMER_IO: Scheme =
        two("customer-io", Slot::header("X-CIO-Signature"), Slot::header("X-CIO-Timestamp"))
            .content(V0)
            .id(IdSource::Json("/event_id"))
            .event_type(Source::Json("/metric"))
            .docs("https://docs.customer.io/journeys/webhooks/", Evidence::ThirdParty)
            .notes(&[
                "`v0:` is signed but does not stand in the header.",
                "What the metric is of, is at `/object_type`.",
                OUR_WINDOW,
            ]);

    /// ElevenLabs.
    pub const ELEVENLABS: Scheme = list("elevenlabs", "ElevenLabs-Signature", "t=", "v0=")
        .tolerance(Duration::from_secs(30 * 60))
        .event_type(Source::Json("/type"))
        .docs(
            "https://elevenlabs.io/docs/product-guides/administration/webhooks",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The secret is the whole text with its `wsec_`.",
            "The tolerance is 30 minutes; the SDKs take times from the future, here the window has two sides.",
            "There is no id of the event; a conversation's id and the type together may serve: choose.",
        ]);

    /// Faundit.
    pub const FAUNDIT: Scheme = two(
        "faundit",
        Slot::header("X-Faundit-Signature-Next"),
        Slot::header("X-Faundit-Timestamp"),
    )
    .content(V1)
    .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
    .notes(&[
        "The unit of the time is not known; seconds are assumed (unverified).",
        UNKNOWN_ID,
        OUR_WINDOW,
    ]);

    /// Fintoc.
    pub const FINTOC: Scheme = list("fintoc", "Fintoc-Signature", "t=", "v1=")
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/type"))
        .docs("", Evidence::ThirdParty);

    /// Frame.io.
    pub const FRAME_IO: Scheme = two(
        "frame-io",
        Slot::header("X-Frameio-Signature").prefix("v0="),
        Slot::header("X-Frameio-Request-Timestamp"),
    )
    .content(V0)
    .event_type(Source::Json("/type"))
    .docs("", Evidence::ThirdParty)
    .notes(&[NO_ID, "The tolerance is from memory (unverified)."]);

    /// Ghost.
    pub const GHOST: Scheme =
        two("ghost", GHOST_HEADER.prefix("sha256="), GHOST_HEADER.prefix("t="))
            .timestamp(GHOST_HEADER.prefix("t="), Unit::Millis)
            .content(&[Part::Body, Part::Timestamp])
            .ambiguous_boundary(
                "the body is a JSON object, so the digits begin behind its brace; a time cut short \
                 lies decades in the past, so the age must be judged",
            )
            .event_type(Source::Json("/event"))
            .docs(
                "https://github.com/TryGhost/Ghost/blob/2cd588cccdcdfbad4365ddd811123e083c728553/ghost/core/core/server/services/webhooks/WebhookTrigger.js",
                Evidence::OfficialDocs,
            )
            .notes(&[
                "The time stands behind the body; older versions signed the body alone and are refused.",
                "A webhook without a secret sends no signature.",
                "Only newer versions send the event's type.",
                NO_ID,
            ]);

    /// Go1.
    pub const GO1: Scheme = list("go1", "Go1-Signature", "t=", "v1=")
        .tolerance(Duration::from_secs(60))
        .docs("https://github.com/go1com/webhook-verifier-js", Evidence::OfficialSdk)
        .notes(&[
            "The tolerance is 60 s; the SDK takes any time from the future, here the window has two sides.",
            UNKNOWN_ID,
        ]);

    /// HostedHooks.
    pub const HOSTEDHOOKS: Scheme = list("hostedhooks", "HOSTEDHOOKS-SIGNATURE", "t=", "s=")
        .event_type(Source::Json("/event_type"))
        .docs(
            "https://docs.hostedhooks.com/security/security-features/webhook-signatures",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The documented name HTTP_HOSTEDHOOKS_SIGNATURE is how Rack spells this header.",
            "`event_id` in the body may name the event, which is from memory: choose it if it does.",
            TYPE,
            OUR_WINDOW,
        ]);

    /// Knock.
    pub const KNOCK: Scheme = Scheme::new("knock", Mac::HmacSha256)
        .signature(KNOCK_HEADER.prefix("s="), Encoding::Base64)
        .timestamp(KNOCK_HEADER.prefix("t="), Unit::Millis)
        .content(DOT)
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/type"))
        .docs(
            "https://docs.knock.app/developer-tools/outbound-webhooks/overview",
            Evidence::ThirdParty,
        )
        .notes(&["Much like Stripe's, but in milliseconds, base64, and under the name `s`."]);
}
