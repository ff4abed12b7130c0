//! RSA: the sender signs with a private key, and here is only the public one.

use super::{DAY, over_body};
use crate::scheme::{
    Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, Slot, Source, Unit,
};

const WECHAT_NONCE: Slot = Slot::header("Wechatpay-Nonce");

catalog! {
    /// Wise.
    pub const WISE: Scheme = over_body(
        "wise",
        Mac::RsaSha256,
        Slot::header("X-Signature-SHA256"),
        Encoding::Base64,
    )
    .id(IdSource::Header("X-Delivery-Id"))
    .event_type(Source::Json("/event_type"))
    .retry_horizon(DAY.saturating_mul(14))
    .docs(
        "https://docs.wise.com/features/webhooks-notifications/event-handling",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "Sandbox and production have different keys.",
        "X-Delivery-Id and X-Test-Notification are unsigned.",
        "The older X-Signature with SHA-1 is not read.",
        "`sent_at` in the body is signed, but no window for it is documented.",
        "At most 25 attempts over two weeks.",
    ]);

    /// Utila.
    pub const UTILA: Scheme = over_body(
        "utila",
        Mac::RsaPssSha512,
        Slot::header("x-utila-signature"),
        Encoding::Base64,
    )
    .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
    .notes(&[
        "PSS with a salt as long as the hash; the published sample takes any length.",
        "No time is signed: a captured request verifies for ever.",
        "No id of the event is known, and two events may have equal bodies.",
    ]);

    /// WeChat Pay, version 3 of its API.
    pub const WECHAT: Scheme = Scheme::new("wechat", Mac::RsaSha256)
        .signature(Slot::header("Wechatpay-Signature"), Encoding::Base64)
        .timestamp(Slot::header("Wechatpay-Timestamp"), Unit::Seconds)
        .content(&[
            Part::Timestamp,
            Part::Text("\n"),
            Part::Header(WECHAT_NONCE),
            Part::Text("\n"),
            Part::Body,
            Part::Text("\n"),
        ])
        .key_id("Wechatpay-Serial")
        .keys(KeySource::ById(
            "the platform certificates of WeChat Pay's API, by their serial number",
        ))
        .id(IdSource::Json("/id"))
        .event_type(Source::Json("/event_type"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "Messages of Official Accounts are another scheme.",
            "The certificates change: name each by the serial number that is in Wechatpay-Serial.",
            "Probes carry a signature that begins with WECHATPAY/SIGNTEST/ and must be refused, as \
             they are (unverified).",
            "`resource` is encrypted under a key of its own, so what happened is not known from the \
             verified body alone.",
        ]);
}
