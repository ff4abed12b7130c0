//! A MAC over the body, or over some values in it, with a peculiarity: where the signature is, how
//! it is written, or what comes before the body.

use super::over_body;
use crate::scheme::{
    Condition, Encoding, Evidence, IdSource, Mac, Part, Scheme, Slot, Source, Stability,
};

catalog! {
    /// LinkedIn.
    pub const LINKEDIN: Scheme = Scheme::new("linkedin", Mac::HmacSha256)
        .signature(Slot::header("X-LI-Signature"), Encoding::Hex)
        .content(&[Part::Text("hmacsha256="), Part::Body])
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "`hmacsha256=` is the beginning of what is signed, not of the header.",
            "The key is the app's client secret.",
            "`GET ?challengeCode=…` is answered with the hexadecimal HMAC-SHA-256 of the code, and \
             asked again from time to time.",
            "Neither an id nor a type of the event is known.",
        ]);

    /// Flutterwave, version 4.
    pub const FLUTTERWAVE: Scheme = over_body(
        "flutterwave",
        Mac::HmacSha256,
        Slot::header("flutterwave-signature"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/type"))
    .docs("https://developer.flutterwave.com/docs/webhooks", Evidence::ThirdParty)
    .notes(&[
        "That the signature is base64 is from memory (unverified).",
        "The key is the text of the secret hash.",
        "Whether `/webhook_id` is the same over retries, and another for every event, is not \
         established; if it is for you, it is what to choose.",
        "`/timestamp` in the body is signed, but no window for it is documented.",
    ]);

    /// Flutterwave, version 3: the secret hash itself, and nothing signed.
    pub const FLUTTERWAVE_V3: Scheme = Scheme::new("flutterwave-v3", Mac::Token)
        .provider_name("flutterwave")
        .signature(Slot::header("verif-hash"), Encoding::Plain)
        .event_type(Source::Json("/event"))
        .stability(Stability::None)
        .docs("https://developer.flutterwave.com/docs/webhooks", Evidence::ThirdParty)
        .notes(&[
            "The secret hash travels in clear text with every request; nothing is signed.",
            "Their documentation has you ask the API for the transaction before you give value.",
        ]);

    /// PandaDoc.
    #[cfg(feature = "form")]
    pub const PANDADOC: Scheme = over_body(
        "pandadoc",
        Mac::HmacSha256,
        Slot::query("signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/0/event"))
    .docs(
        "https://developers.pandadoc.com/docs/webhook-verification.md",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The signature is a parameter of the URL, so it is in access logs: with the body of the same \
         request, which has no signed time, it verifies for ever.",
        "The body is a list of events without ids; the type is the first one's.",
    ]);

    /// Hookdeck Outpost, as it is set up by default.
    pub const HOOKDECK_OUTPOST: Scheme = over_body(
        "hookdeck-outpost",
        Mac::HmacSha256,
        Slot::header("x-outpost-signature")
            .before_list("v0=")
            .list(b','),
        Encoding::Hex,
    )
    .delivery_id("x-outpost-event-id")
    .event_type(Source::Header("x-outpost-topic"))
    .docs("https://github.com/hookdeck/outpost", Evidence::OfficialDocs)
    .notes(&[
        "The key is the whole secret as text, `whsec_` and all: the reverse of Standard Webhooks.",
        "One `v0=`, and behind it a signature for each secret in use.",
        "Whoever runs Outpost may choose another prefix, algorithm or encoding, or Standard Webhooks.",
        "Id, topic and time are in unsigned headers.",
    ]);

    /// Viber bots.
    pub const VIBER: Scheme = over_body(
        "viber",
        Mac::HmacSha256,
        Slot::header("X-Viber-Content-Signature"),
        Encoding::LowerHex,
    )
    .id(IdSource::Content)
    .event_type(Source::Json("/event"))
    .docs(
        "https://developers.viber.com/docs/api/rest-bot-api/#callbacks",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The key is the bot's token. As in the SDKs, hexadecimal digits count in lower case only.",
        "`/message_token` names a message, which may be delivered and then seen: events are named by \
         their content, which holds event, time and token.",
        "`/message_token` is larger than a double can hold exactly: never let it become one.",
        "`sig` in the URL repeats the signature and is not read.",
        "`set_webhook` sends a `webhook` event that must be answered by 200.",
    ]);

    /// Sumsub with SHA-256.
    pub const SUMSUB: Scheme = over_body(
        "sumsub",
        Mac::HmacSha256,
        Slot::header("X-Payload-Digest"),
        Encoding::Hex,
    )
    .content(&[
        Part::Require(Condition::Equals(
            Slot::header("X-Payload-Digest-Alg"),
            "HMAC_SHA256_HEX",
        )),
        Part::Body,
    ])
    .event_type(Source::Json("/type"))
    .docs(
        "https://docs.sumsub.com/docs/webhook-manager",
        Evidence::ThirdParty,
    )
    .notes(&[
        "`X-Payload-Digest-Alg` is unsigned: it is compared with `HMAC_SHA256_HEX` and chooses nothing.",
        "`/correlationId` names a request, not the event.",
    ]);

    /// BitPay.
    pub const BITPAY: Scheme = over_body(
        "bitpay",
        Mac::HmacSha256,
        Slot::header("X-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/event/name"))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "BitPay's page on invoice webhooks knows no signature: this row is from memory (unverified), \
         and refuses what is unsigned. Take a request as a hint, and fetch the invoice.",
        "The key is the text of the API token.",
        "`/data/id` names the invoice, not the event.",
    ]);

    /// USPS.
    #[cfg(feature = "json")]
    pub const USPS: Scheme = Scheme::new("usps", Mac::HmacSha256)
        .signature(Slot::header("X-HMAC"), Encoding::Base64)
        .more_signatures(&[Slot::header("hmac-header")])
        .content(&[
            Part::Value(Slot::json("/timestamp")),
            Part::Value(Slot::json("/payload")),
        ])
        .ambiguous_boundary(
            "the payload is a JSON object, so the time ends at its brace; a payload that does not \
             parse, or a time that is none, must be refused",
        )
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "**Only `/timestamp` and `/payload` are signed**: whoever has seen a request can change all \
             else in it, such as `/subscriptionId`.",
            "`/payload` is JSON inside a JSON string; its decoded text is signed.",
            "No window for the time is documented, and none is applied: compare it yourself.",
            "`hmac-header` is an older name of the header.",
            "Neither an id nor a type of the event is known.",
        ]);

    /// Favro.
    #[cfg(all(feature = "json", feature = "sha1"))]
    pub const FAVRO: Scheme = Scheme::new("favro", Mac::HmacSha1)
        .signature(Slot::header("X-Favro-Webhook"), Encoding::Base64)
        .needs(&["url"])
        .content(&[
            Part::Value(Slot::json("/payloadId")),
            Part::Setting("url"),
        ])
        .id(IdSource::Json("/payloadId"))
        .event_type(Source::Json("/action"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "**The body is not signed**: only `/payloadId` and the registered address are, and whoever \
             has seen a request can write all the rest. Fetch the card instead.",
            "The address is the setting `url`, spelled as it was registered.",
        ]);
}
