//! Signatures over fields of a JSON body.

use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, SecretFormat, Shape, Slot, Source, Stability,
};

const COLON: Part = Part::Text(":");

/// A field of an Adyen item that holds no colon.
const fn item(pointer: &'static str) -> Slot {
    Slot::json(pointer).shape(Shape::Dotted)
}

const PSP_REFERENCE: Slot = item("/NotificationRequestItem/pspReference");
const EVENT_CODE: Slot = item("/NotificationRequestItem/eventCode");
const SUCCESS: Slot = item("/NotificationRequestItem/success");

/// A number of a Paymob transaction.
#[cfg(feature = "form")]
const fn number(pointer: &'static str) -> Part {
    Part::Value(Slot::json(pointer).shape(Shape::Digits))
}

/// A truth value of a Paymob transaction.
#[cfg(feature = "form")]
const fn flag(pointer: &'static str) -> Part {
    Part::Value(Slot::json(pointer).shape(Shape::Flag))
}

catalog! {
    /// Paymob, transaction callbacks.
    #[cfg(feature = "form")]
    pub const PAYMOB: Scheme = Scheme::new("paymob", Mac::HmacSha512)
        .signature(Slot::query("hmac"), Encoding::Hex)
        .content(&[
            number("/obj/amount_cents"),
            // The shapes keep digits from moving between amount and year, and truth values whole.
            Part::Value(Slot::json("/obj/created_at").shape(Shape::DateTime)),
            Part::Value(Slot::json("/obj/currency").shape(Shape::Token)),
            flag("/obj/error_occured"),
            flag("/obj/has_parent_transaction"),
            number("/obj/id"),
            number("/obj/integration_id"),
            flag("/obj/is_3d_secure"),
            flag("/obj/is_auth"),
            flag("/obj/is_capture"),
            flag("/obj/is_refunded"),
            flag("/obj/is_standalone_payment"),
            flag("/obj/is_voided"),
            number("/obj/order/id"),
            number("/obj/owner"),
            flag("/obj/pending"),
            Part::Value(Slot::json("/obj/source_data/pan")),
            Part::Value(Slot::json("/obj/source_data/sub_type")),
            Part::Value(Slot::json("/obj/source_data/type")),
            flag("/obj/success"),
        ])
        .ambiguous_boundary(
            "Paymob joins 20 values without separators: digits can be moved between `id` and \
             `integration_id`, and between `order.id` and `owner`. Compare `integration_id` and `owner` \
             with your own, which leaves one way to cut each pair",
        )
        .event_type(Source::Json("/type"))
        .stability(Stability::None)
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "The payer's browser carries the same fields under the same signature in its redirect: treat \
             every callback as seen by the payer, and compare `integration_id` and `owner` with your own.",
            "The signature is the parameter `hmac` of the URL.",
            "20 fields of the transaction are signed and nothing else; `type` is not.",
            "Callbacks about cards and subscriptions sign other fields and are not read here.",
            "Several callbacks tell of one transaction (`/obj/id`), so no event is named.",
            "Without a judged time, a captured request verifies for ever.",
        ]);

    /// Adyen, standard notifications in JSON.
    pub const ADYEN: Scheme = Scheme::new("adyen", Mac::HmacSha256)
        .each("/notificationItems")
        .signature(
            Slot::json("/NotificationRequestItem/additionalData/hmacSignature"),
            Encoding::Base64,
        )
        .secret(SecretFormat::Hex)
        .content(&[
            Part::Value(PSP_REFERENCE),
            COLON,
            Part::IfPresent(&[Part::Value(item("/NotificationRequestItem/originalReference"))]),
            COLON,
            Part::Value(item("/NotificationRequestItem/merchantAccountCode")),
            COLON,
            // The one field that may hold anything, colons too: the others hold none.
            Part::Value(Slot::json("/NotificationRequestItem/merchantReference")),
            COLON,
            Part::Value(item("/NotificationRequestItem/amount/value")),
            COLON,
            Part::Value(item("/NotificationRequestItem/amount/currency")),
            COLON,
            Part::Value(EVENT_CODE),
            COLON,
            Part::Value(SUCCESS),
        ])
        .id(IdSource::Values(&[PSP_REFERENCE, EVENT_CODE, SUCCESS]))
        .event_type(Source::Value(EVENT_CODE))
        .stability(Stability::None)
        .docs(
            "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "8 fields are signed: `live`, `eventDate`, `reason`, `paymentMethod` and all of \
             `additionalData` can be changed by whoever saw the request.",
            "Colons and backslashes are not escaped. Only `merchantReference` may hold colons here, so \
             that no other cut of the fields verifies; the other fields hold letters, digits and \
             `+/=_-.`, and what holds more is refused.",
            "Every item has its own signature and all are checked; the Python SDK looks at the first \
             alone. Which items come together is signed by nobody, so a request with several has no \
             event key: choose one for each item.",
            "A missing or `null` originalReference counts as empty, and a truth value as its name, as in \
             the Node SDK.",
            "The key is in hexadecimal; the Node SDK cuts off what is not. A new key takes a while to be \
             in force: keep the old one beside it.",
            "The answer must be `[accepted]` with 200, within 10 s (unverified). Basic credentials may be \
             configured on top.",
        ]);
}
