//! A MAC over the body alone: providers from C to D.

use super::{DAY, over_body};
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Stability};

/// Slots of headers that differ in their number only.
macro_rules! numbered {
    ($name:literal: $($number:literal)+) => {
        &[$(Slot::header(concat!($name, $number))),+]
    };
}

const DOCUSIGN_MORE: &[Slot] = numbered! {
    "X-DocuSign-Signature-":
    2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
    34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
    63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91
    92 93 94 95 96 97 98 99 100
};

catalog! {
    /// Cal.com.
    pub const CAL_COM: Scheme = over_body(
        "cal-com",
        Mac::HmacSha256,
        Slot::header("X-Cal-Signature-256"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/triggerEvent"))
    .docs(
        "https://cal.com/docs/developing/guides/automation/webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Without a secret the header holds the text `no-secret-provided`, which never \
         verifies.",
        "There is no event id, and a payload template of your own may leave out what tells \
         two events apart.",
    ]);

    /// Castle.
    pub const CASTLE: Scheme = over_body(
        "castle",
        Mac::HmacSha256,
        Slot::header("X-Castle-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Json("/type"))
    .docs("https://pypi.org/project/castle/", Evidence::OfficialSdk)
    .notes(&[
        "The key is the API secret of the account, so it cannot be changed for one endpoint.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Checkout.com.
    pub const CHECKOUT_COM: Scheme = over_body(
        "checkout-com",
        Mac::HmacSha256,
        Slot::header("Cko-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://www.checkout.com/docs/workflows",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "An Authorization header of your choice is sent as well: check it too.",
        "Some bodies have been seen that are not valid JSON; such a delivery verifies but \
         names no event.",
    ]);

    /// CircleCI.
    pub const CIRCLECI: Scheme = over_body(
        "circleci",
        Mac::HmacSha256,
        Slot::header("circleci-signature").list(b',').prefix("v1="),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://circleci.com/docs/outbound-webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Versions other than v1 are skipped.",
        "Retried for an unpublished time.",
    ]);

    /// ClickUp.
    pub const CLICKUP: Scheme = over_body(
        "clickup",
        Mac::HmacSha256,
        Slot::header("X-Signature"),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .docs(
        "https://developer.clickup.com/docs/webhooksignature",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "`/webhook_id` names the subscription; together with `/event` and \
         `/history_items/0/id` it tells events apart where there are history items.",
        "Five attempts; a webhook that fails 100 times is suspended (unverified).",
    ]);

    /// Clio.
    pub const CLIO: Scheme = over_body(
        "clio",
        Mac::HmacSha256,
        Slot::header("X-Hook-Signature"),
        Encoding::Hex,
    )
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The secret is sent once as `X-Hook-Secret` when the webhook is made.",
        "A webhook expires.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// Column.
    pub const COLUMN: Scheme = over_body(
        "column",
        Mac::HmacSha256,
        Slot::header("Column-Signature"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"))
    .docs(
        "https://column.com/docs/workingwithapi/events-and-webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&["The encoding was not confirmed by Column's own pages."]);

    /// Commerce Layer.
    pub const COMMERCE_LAYER: Scheme = over_body(
        "commerce-layer",
        Mac::HmacSha256,
        Slot::header("X-CommerceLayer-Signature"),
        Encoding::Base64,
    )
    .event_type(Source::Header("X-CommerceLayer-Topic"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&["No id of the event is known, and two events may have equal bodies."]);

    /// Cronofy.
    pub const CRONOFY: Scheme = over_body(
        "cronofy",
        Mac::HmacSha256,
        Slot::header("Cronofy-HMAC-SHA256").list(b','),
        Encoding::Base64,
    )
    .event_type(Source::Json("/notification/type"))
    .docs(
        "https://docs.cronofy.com/developers/push-notifications/authentication/",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "One signature for each active client secret, between commas.",
        "A notification only says since when something changed; fetch it, and do not \
         deduplicate by content.",
        "The first notification of a channel has the type `verification`.",
    ]);

    /// Cursor.
    pub const CURSOR: Scheme = over_body(
        "cursor",
        Mac::HmacSha256,
        Slot::header("X-Webhook-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/event"))
    .delivery_id("X-Webhook-ID")
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The header's name is not Cursor's own: give it an address of its own.",
        "`X-Webhook-ID` is unsigned and is kept for logs; two events may have equal bodies, \
         so nothing names the event.",
    ]);

    /// DocuSign Connect.
    pub const DOCUSIGN: Scheme = over_body(
        "docusign",
        Mac::HmacSha256,
        Slot::header("X-DocuSign-Signature-1"),
        Encoding::Base64,
    )
    .more_signatures(DOCUSIGN_MORE)
    .id(IdSource::Composite(&[
        "/data/envelopeId",
        "/event",
        "/generatedDateTime",
    ]))
    .event_type(Source::Json("/event"))
    .stability(Stability::JsonExcept(&["/retryCount"]))
    .retry_horizon(DAY.saturating_mul(15))
    .docs(
        "https://developers.docusign.com/platform/webhooks/connect/validate.md",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "One numbered header for each active key, up to 100: the number is the key's place, \
         and any match is enough. More than 16 in one request are refused.",
        "`retryCount` grows, so each attempt has another signature; it is left out of the \
         fingerprint.",
        "Bodies may be XML, which verifies but names no event.",
        "Retried for up to 15 days (unverified).",
    ]);

    /// Doppler.
    pub const DOPPLER: Scheme = over_body(
        "doppler",
        Mac::HmacSha256,
        Slot::header("X-Doppler-Signature").prefix("sha256="),
        Encoding::Hex,
    )
    .event_type(Source::Json("/type"))
    .docs("https://github.com/Hookflo/tern", Evidence::ThirdParty)
    .notes(&["No id of the event is known, and two events may have equal bodies."]);

    /// Dwolla.
    pub const DWOLLA: Scheme = over_body(
        "dwolla",
        Mac::HmacSha256,
        Slot::header("X-Request-Signature-SHA-256"),
        Encoding::Hex,
    )
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/topic"))
    .retry_horizon(DAY.saturating_mul(3))
    .docs("", Evidence::ThirdParty)
    .notes(&[
        "The topic header is unsigned; the topic in the body is not.",
        "Eight retries over 72 hours (unverified).",
    ]);
}
