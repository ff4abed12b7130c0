//! More providers that sign a time with the body, from L to Z.

use std::time::Duration;

use super::stamped_a_k::{COLON, DOT, NO_ID, OUR_WINDOW, TYPE, UNKNOWN_ID, list, two};
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, Slot, Source, Stability, Unit,
};

const NMI_HEADER: Slot = Slot::header("Webhook-Signature").list(b',');
const NOVU_HEADER: Slot = Slot::header("novu-signature").list(b',');
const PYLON_TIME: Slot = Slot::header("Pylon-Webhook-Timestamp");
const WORKOS_HEADER: Slot = Slot::header("WorkOS-Signature").list(b',');
const ZENDESK_TIME: Slot = Slot::header("X-Zendesk-Webhook-Signature-Timestamp");

catalog! {
    /// Mux.
    pub const MUX: Scheme = list("mux", "Mux-Signature", "t=", "v1=")
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/type"))
        .stability(Stability::JsonExcept(&["/attempts"]))
        .docs("https://www.mux.com/docs/core/verify-webhook-signatures", Evidence::OfficialSdk)
        .notes(&[
            "`attempts` in the body grows with every attempt and is left out of the fingerprint.",
            "The SDK takes any time from the future; here the window has two sides.",
        ]);

    /// NMI.
    pub const NMI: Scheme = Scheme::new("nmi", Mac::HmacSha256)
        .signature(NMI_HEADER.prefix("s="), Encoding::Hex)
        .content(&[Part::Header(NMI_HEADER.prefix("t=")), Part::Text("."), Part::Body])
        .id(IdSource::Json("/event_id"))
        .event_type(Source::Json("/event_type"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&["`t` is a nonce and no time, so an old request cannot be told from a fresh one."]);

    /// Novu's requests to a bridge.
    pub const NOVU_BRIDGE: Scheme =
        two("novu-bridge", NOVU_HEADER.prefix("v1="), NOVU_HEADER.prefix("t="))
            .timestamp(NOVU_HEADER.prefix("t="), Unit::Millis)
            .header_family("novu-", "x-novu-")
            .docs("https://www.npmjs.com/package/@novu/framework", Evidence::OfficialSdk)
            .notes(&[
                "The SDK signs the body as it prints it again; here the raw bytes count.",
                "What is asked for is in the URL, which is not signed, and the answer is waited for.",
                NO_ID,
            ]);

    /// Pinwheel.
    pub const PINWHEEL: Scheme = two(
        "pinwheel",
        Slot::header("X-Pinwheel-Signature").prefix("v2="),
        Slot::header("X-Timestamp"),
    )
    .content(&[Part::Text("v2:"), Part::Timestamp, Part::Text(":"), Part::Body])
    .event_type(Source::Json("/event"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "`event_id` in the body may name the event, which is from memory: choose it if it does.",
        OUR_WINDOW,
    ]);

    /// Port.
    pub const PORT: Scheme = Scheme::new("port", Mac::HmacSha256)
        .signature(Slot::header("x-port-signature").prefix("v1,"), Encoding::Base64)
        .timestamp(Slot::header("x-port-timestamp"), Unit::Seconds)
        .content(DOT)
        .event_type(Source::Json("/payload/action"))
        .docs("", Evidence::OfficialDocs)
        .notes(&[
            "Looks like Standard Webhooks, but no id is signed and the key is the client secret's text.",
            UNKNOWN_ID,
            TYPE,
            OUR_WINDOW,
        ]);

    /// Pylon.
    pub const PYLON: Scheme =
        two("pylon", Slot::header("Pylon-Webhook-Signature").prefix("hs256="), PYLON_TIME)
            .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
            .notes(&[UNKNOWN_ID, OUR_WINDOW]);

    /// Revolut.
    pub const REVOLUT: Scheme = Scheme::new("revolut", Mac::HmacSha256)
        .signature(Slot::header("Revolut-Signature").list(b',').prefix("v1="), Encoding::Hex)
        .timestamp(Slot::header("Revolut-Request-Timestamp"), Unit::Millis)
        .content(&[Part::Text("v1."), Part::Timestamp, Part::Text("."), Part::Body])
        .event_type(Source::Json("/event"))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "The time is in milliseconds, and the window 5 minutes (unverified).",
            UNKNOWN_ID,
        ]);

    /// Shippo.
    pub const SHIPPO: Scheme = list("shippo", "Shippo-Auth-Signature", "t=", "v1=")
        .event_type(Source::Json("/event"))
        .docs("https://docs.goshippo.com/docs/tracking/webhooksecurity/", Evidence::ThirdParty)
        .notes(&[
            "Signatures must be asked for; without them there is only a token of yours in the URL.",
            NO_ID,
        ]);

    /// Synctera.
    pub const SYNCTERA: Scheme = two(
        "synctera",
        Slot::header("Synctera-Signature").list(b'.'),
        Slot::header("Request-Timestamp"),
    )
    .event_type(Source::Json("/type"))
    .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
    .notes(&[
        "While a secret is rolled there are two signatures with a full stop between them.",
        "`id` in the body may name the event, which is from memory: choose it if it does.",
    ]);

    /// Tailscale.
    pub const TAILSCALE: Scheme = list("tailscale", "Tailscale-Webhook-Signature", "t=", "v1=")
        .event_type(Source::Json("/0/type"))
        .docs(
            "https://github.com/tailscale/tailscale/blob/main/docs/webhooks/example.go",
            Evidence::OfficialDocs,
        )
        .notes(&["One delivery is a list of events; the type is the first one's.", NO_ID]);

    /// Terra.
    pub const TERRA: Scheme = list("terra", "terra-signature", "t=", "v1=")
        .delivery_id("terra-reference")
        .event_type(Source::Json("/type"))
        .docs("https://www.npmjs.com/package/terra-api", Evidence::OfficialSdk)
        .notes(&["`terra-reference` is an unsigned header.", NO_ID]);

    /// TikTok (TikTok Shop signs in another way).
    pub const TIKTOK: Scheme = list("tiktok", "TikTok-Signature", "t=", "s=")
        .event_type(Source::Json("/event"))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "There is no id of the event; `client_key`, `event`, `create_time` and `user_openid` \
             together are said to serve: choose.",
        ]);

    /// Webflow.
    pub const WEBFLOW: Scheme = two(
        "webflow",
        Slot::header("x-webflow-signature"),
        Slot::header("x-webflow-timestamp"),
    )
    .timestamp(Slot::header("x-webflow-timestamp"), Unit::Millis)
    .content(COLON)
    .event_type(Source::Json("/triggerType"))
    .docs(
        "https://developers.webflow.com/data/docs/working-with-webhooks",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "Webhooks made in the dashboard are not signed.",
        "The key is the webhook's own, or the OAuth client secret for an app's webhooks.",
        "The SDK does not judge the age.",
        NO_ID,
    ]);

    /// WorkOS.
    pub const WORKOS: Scheme =
        two("workos", WORKOS_HEADER.prefix("v1="), WORKOS_HEADER.prefix("t="))
            .timestamp(WORKOS_HEADER.prefix("t="), Unit::Millis)
            .tolerance(Duration::from_secs(180))
            .id(IdSource::Json("/id"))
            .event_type(Source::Json("/event"))
            .docs("https://workos.com/docs/events/data-syncing/webhooks", Evidence::OfficialSdk)
            .notes(&[
                "The tolerance is 180 s, of a time in milliseconds.",
                "The Node SDK signs the body as it prints it again; here the raw bytes count.",
            ]);

    /// Zendesk.
    pub const ZENDESK: Scheme = Scheme::new("zendesk", Mac::HmacSha256)
        .signature(Slot::header("X-Zendesk-Webhook-Signature"), Encoding::Base64)
        .timestamp(ZENDESK_TIME, Unit::Rfc3339)
        .content(&[Part::Timestamp, Part::Body])
        .delivery_id("X-Zendesk-Webhook-Invocation-Id")
        .event_type(Source::Json("/type"))
        .docs(
            "https://developer.zendesk.com/documentation/webhooks/verifying/",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "`id` names the event in the bodies of event subscriptions only; what a trigger sends is \
             written by its author, so choose what names the event.",
            "The secret is text although it looks like base64.",
            "The invocation's id is an unsigned header.",
            OUR_WINDOW,
        ]);
}
