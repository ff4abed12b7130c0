//! Plain hashes of some values of a delivery with the secret among them. Whatever is not hashed can
//! be changed by whoever has seen a request, and what is can often be cut in several ways.

#[cfg(feature = "json")]
use crate::scheme::Stability;
use crate::scheme::{Encoding, Evidence, Hash, Mac, Part, Scheme, Slot, Source, Unit};

/// A value that counts as nothing where it is missing.
#[cfg(feature = "json")]
macro_rules! if_present {
    ($pointer:literal) => {
        Part::IfPresent(&[Part::Value(Slot::json($pointer))])
    };
}

catalog! {
    /// Praxis (payment notifications).
    #[cfg(feature = "json")]
    pub const PRAXIS: Scheme = Scheme::new("praxis", Mac::Hash(Hash::Sha384))
        .signature(Slot::header("Gt-Authentication"), Encoding::Hex)
        .timestamp(Slot::json("/timestamp"), Unit::Seconds)
        .content(&[
            Part::Value(Slot::json("/merchant_id")),
            Part::Value(Slot::json("/application_key")),
            Part::Timestamp,
            if_present!("/customer/customer_token"),
            if_present!("/session/order_id"),
            if_present!("/transaction/tid"),
            if_present!("/transaction/currency"),
            if_present!("/transaction/amount"),
            if_present!("/transaction/conversion_rate"),
            if_present!("/transaction/processed_currency"),
            if_present!("/transaction/processed_amount"),
            Part::Secret,
        ])
        .ambiguous_boundary(
            "Praxis joins the values without separators, so digits can move between neighbours, such \
             as the amount and the conversion rate: compare them with your own order",
        )
        .event_type(Source::Json("/transaction/transaction_status"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "**The status is not signed**: `approved` and `rejected` verify alike. Ask the API before \
             you give value.",
            "Numbers are hashed as they are written: 1 and 1.0 differ.",
            "Notifications of subscriptions, whose body has `event`, hash other values and are refused.",
            "The answer must be signed too.",
            "No window is documented; 5 minutes is ours. `tid` names the transaction, not the event.",
        ]);

    /// Midtrans (payments).
    #[cfg(feature = "json")]
    pub const MIDTRANS: Scheme = Scheme::new("midtrans", Mac::Hash(Hash::Sha512))
        .signature(Slot::json("/signature_key"), Encoding::Hex)
        .content(&[
            Part::Value(Slot::json("/order_id")),
            Part::Value(Slot::json("/status_code")),
            Part::Value(Slot::json("/gross_amount")),
            Part::Secret,
        ])
        .ambiguous_boundary(
            "Midtrans joins the values without separators, so digits can move between order, status \
             code and amount: compare all three with your own order",
        )
        .event_type(Source::Json("/transaction_status"))
        .docs(
            "https://docs.midtrans.com/docs/https-notification-webhooks.md",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "**Only order, status code and amount are signed**, and neither `transaction_status` nor \
             `fraud_status` nor `transaction_id`: ask the status API, as the SDKs do.",
            "`gross_amount` is hashed as it is written, with its `.00`.",
            "No time is signed: a captured request verifies for ever.",
        ]);

    /// Midtrans payouts (Iris).
    #[cfg(feature = "json")]
    pub const MIDTRANS_IRIS: Scheme = Scheme::new("midtrans-iris", Mac::Hash(Hash::Sha512))
        .provider_name("midtrans")
        .signature(Slot::header("Iris-Signature"), Encoding::Hex)
        .content(&[Part::Body, Part::Secret])
        .stability(Stability::Body)
        .docs(
            "https://docs.midtrans.com/reference/notification-payload-1",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "A plain SHA-512 of body and merchant key, not an HMAC.",
            "No id of the event is known, and no time is signed.",
        ]);

    /// Quoter.
    #[cfg(feature = "form")]
    pub const QUOTER: Scheme = Scheme::new("quoter", Mac::Hash(Hash::Md5))
        .signature(Slot::form("hash"), Encoding::Hex)
        .timestamp(Slot::form("timestamp"), Unit::Seconds)
        .content(&[
            Part::Secret,
            Part::Timestamp,
            Part::Value(Slot::form("data")),
        ])
        .ambiguous_boundary(
            "the data is a JSON object, so the digits end at its brace; a time cut short lies decades \
             in the past, so the age must be judged",
        )
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "**MD5 with the secret in front**, no MAC by any standard: what can be appended to the data \
             without the secret is not UTF-8 and is refused here, but take the request as a hint, and \
             fetch the quote.",
            "Nothing is signed unless a hash key is set.",
            "Other fields of the form are not signed. No window is documented; 5 minutes is ours.",
        ]);

    /// PayPro Global.
    #[cfg(feature = "form")]
    pub const PAYPRO_GLOBAL: Scheme = Scheme::new("paypro-global", Mac::Hash(Hash::Sha256))
        .signature(Slot::form("SIGNATURE"), Encoding::Hex)
        .content(&[
            Part::Value(Slot::form("ORDER_ID")),
            Part::Value(Slot::form("ORDER_STATUS")),
            Part::Value(Slot::form("ORDER_TOTAL_AMOUNT")),
            Part::Value(Slot::form("CUSTOMER_EMAIL")),
            Part::Secret,
            Part::Value(Slot::form("TEST_MODE")),
            Part::Value(Slot::form("IPN_TYPE_NAME")),
        ])
        .ambiguous_boundary(
            "PayPro joins the values without separators, so that characters can move between \
             neighbours, such as amount and address: compare them with your own order",
        )
        .event_type(Source::Value(Slot::form("IPN_TYPE_NAME")))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "Seven values are hashed, the validation key in their middle; `PRODUCT_ID` and all other \
             fields are not signed.",
            "`ORDER_ID` with `IPN_TYPE_NAME` tells events apart, but its end can be moved, so it is no \
             event key here.",
            "`HASH`, an MD5 of the order's id, is worthless and not read.",
            "No time is signed: a captured request verifies for ever.",
        ]);

    /// Nuvei (direct merchant notifications).
    #[cfg(feature = "form")]
    pub const NUVEI: Scheme = Scheme::new("nuvei", Mac::Hash(Hash::Sha256))
        .signature(Slot::param("advanceResponseChecksum"), Encoding::Hex)
        .content(&[
            Part::Secret,
            Part::Value(Slot::param("totalAmount")),
            Part::Value(Slot::param("currency")),
            Part::Value(Slot::param("responseTimeStamp")),
            Part::Value(Slot::param("PPP_TransactionID")),
            Part::IfPresent(&[Part::Value(Slot::param("Status"))]),
            Part::Value(Slot::param("productId")),
        ])
        .ambiguous_boundary(
            "Nuvei joins the values without separators, so that 115.00 and USD verify as 115.0 and \
             0USD too: refuse currencies you do not know, and compare the amount with your own order",
        )
        .event_type(Source::Value(Slot::param("Status")))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "Parameters come in the query of a GET or the form of a POST.",
            "SHA-256 with the secret in front: whoever has seen a request can append to its last value, \
             `productId`, though only bytes that are not UTF-8, which are refused here.",
            "Accounts set to MD5 are another scheme. Parameters that are not hashed are not signed.",
            "`responseTimeStamp` is local time, so its age is not judged: a captured request verifies \
             for ever.",
        ]);
}
