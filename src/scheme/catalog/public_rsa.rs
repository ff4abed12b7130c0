//! RSA: the sender signs with a private key, and here is only the public one.

use std::time::Duration;

use super::{DAY, over_body};
use crate::scheme::{
    Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, Shape, Slot, Source, Transform,
    Unit,
};

const WECHAT_NONCE: Slot = Slot::header("Wechatpay-Nonce");
const BRIDGE_HEADER: Slot = Slot::header("X-Webhook-Signature").list(b',');
const ALIPAY_HEADER: Slot = Slot::header("signature").list(b',');
const ALIPAY_CLIENT: Slot = Slot::header("client-id").shape(Shape::Token);

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

    /// Bridge (stablecoin payments).
    pub const BRIDGE: Scheme = Scheme::new("bridge", Mac::RsaSha256)
        .signature(BRIDGE_HEADER.prefix("v0="), Encoding::Base64)
        .timestamp(BRIDGE_HEADER.prefix("t="), Unit::Millis)
        .tolerance(Duration::from_secs(600))
        .content(&[Part::Of(
            Transform::Sha256(Encoding::Plain),
            &[Part::Timestamp, Part::Text("."), Part::Body],
        )])
        .id(IdSource::Json("/event_id"))
        .event_type(Source::Json("/event_type"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "What is signed is the SHA-256 of time and body, which RSA with SHA-256 hashes a second time.",
            "Each endpoint has a key of its own.",
            "Their sample judges only how old a request is; here the window has two sides.",
        ]);

    /// Alipay+ and Antom.
    pub const ALIPAY: Scheme = Scheme::new("alipay", Mac::RsaSha256)
        .signature(ALIPAY_HEADER.prefix("signature="), Encoding::PercentBase64)
        .timestamp(Slot::header("request-time"), Unit::Rfc3339)
        .content(&[
            Part::Method,
            Part::Text(" "),
            Part::Path,
            Part::Text("\n"),
            Part::Header(ALIPAY_CLIENT),
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ])
        .event_type(Source::Json("/notifyType"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "Method and path are signed: give the public address, not the one behind a proxy.",
            "`algorithm` and `keyVersion` beside the signature are unsigned and choose nothing.",
            "No window is documented; 5 minutes is ours.",
            "The answer must be signed with your own key.",
            "Which of `/notifyId` and `/paymentRequestId` names the event is not established.",
            "The forms of the open platform in mainland China are another scheme.",
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
