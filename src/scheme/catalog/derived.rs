//! Keys and contents with more in them than the secret and the request: text around the secret, or
//! a text of the account that the application gives beside it.

#[cfg(any(feature = "sha1", feature = "unicode"))]
use super::over_body;
#[cfg(feature = "sha1")]
use crate::scheme::SecretFormat;
#[cfg(feature = "unicode")]
use crate::scheme::Transform;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Part, Scheme, Slot, Source};

catalog! {
    /// Clearbit.
    #[cfg(feature = "sha1")]
    pub const CLEARBIT: Scheme = over_body(
        "clearbit",
        Mac::HmacSha1,
        Slot::header("X-Request-Signature").prefix("sha1="),
        Encoding::Hex,
    )
    .secret(SecretFormat::TextWithout(&["sk_", "pk_"]))
    .event_type(Source::Json("/type"))
    .docs("https://github.com/clearbit/clearbit-ruby", Evidence::OfficialDocs)
    .notes(&[
        "The key is the API key without its `sk_` or `pk_`; give the whole of it, and it is cut off.",
        "Whether `/id` names the event is not established.",
        "The product became part of HubSpot: this is for receivers that are still there.",
    ]);

    /// Fitbit.
    #[cfg(feature = "sha1")]
    pub const FITBIT: Scheme = over_body(
        "fitbit",
        Mac::HmacSha1,
        Slot::header("X-Fitbit-Signature"),
        Encoding::Base64,
    )
    .key(&[Part::Secret, Part::Text("&")])
    .event_type(Source::Json("/0/collectionType"))
    .docs(
        "https://dev.fitbit.com/build/reference/web-api/developer-guide/best-practices/#Subscriber-Security",
        Evidence::ThirdParty,
    )
    .notes(&[
        "The secret is the OAuth client secret; the `&` behind it is put there.",
        "The body is a list of notifications without ids or times: equal ones are not the same \
         event. The type is the first one's.",
        "An address is checked with `GET ?verify=CODE`: 204 for the right code, 404 for any other.",
        "Answer 204 within 5 seconds.",
    ]);

    /// SurveyMonkey.
    #[cfg(feature = "sha1")]
    pub const SURVEYMONKEY: Scheme = over_body(
        "surveymonkey",
        Mac::HmacSha1,
        Slot::header("Sm-Signature"),
        Encoding::Base64,
    )
    .needs(&["client_id"])
    .key(&[Part::Setting("client_id"), Part::Text("&"), Part::Secret])
    .id(IdSource::Json("/event_id"))
    .event_type(Source::Json("/event_type"))
    .docs("https://github.com/SurveyMonkey/public_api_docs", Evidence::OfficialDocs)
    .notes(&[
        "The secret is the client secret, and the client id is a setting: both make the key. \
         `Sm-Apikey` repeats the client id, unsigned, and is not read.",
        "Their sample encodes the body as ASCII and breaks on anything else; here the raw bytes count.",
        "`event_datetime` is signed, but is the event's time and no window.",
        "The Content-Type is a vendor's own, and a HEAD request comes first.",
    ]);

    /// EasyPost.
    #[cfg(feature = "unicode")]
    pub const EASYPOST: Scheme = over_body(
        "easypost",
        Mac::HmacSha256,
        Slot::header("X-Hmac-Signature").prefix("hmac-sha256-hex="),
        Encoding::Hex,
    )
    .key(&[Part::Of(Transform::Nfkd, &[Part::Secret])])
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/description"))
    .docs("https://www.npmjs.com/package/@easypost/api", Evidence::OfficialSdk)
    .notes(&[
        "The secret is brought into Unicode form NFKD before it is the key, which matters only if it \
         is not ASCII.",
        "The Node SDK rewrites whole-numbered weights before it hashes and the Python SDK does not; \
         here, as there, the raw bytes count.",
        "Answer within 7 seconds; about 6 retries (unverified).",
    ]);

    /// TikTok Shop.
    pub const TIKTOK_SHOP: Scheme = Scheme::new("tiktok-shop", Mac::HmacSha256)
        .signature(Slot::header("Authorization"), Encoding::Hex)
        .needs(&["app_key"])
        .content(&[Part::Setting("app_key"), Part::Body])
        .id(IdSource::Json("/tts_notification_id"))
        .event_type(Source::Json("/type"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "The secret is the app secret; the app key is a setting and comes first in what is signed.",
            "The signature is all of `Authorization`, without a scheme's word: some middleware takes \
             such a header away.",
            "No time is signed: a captured request verifies for ever.",
        ]);

    /// Solidgate.
    pub const SOLIDGATE: Scheme = Scheme::new("solidgate", Mac::HmacSha512)
        .signature(Slot::header("signature"), Encoding::HexInBase64)
        .needs(&["merchant"])
        .content(&[
            Part::Setting("merchant"),
            Part::Body,
            Part::Setting("merchant"),
        ])
        .delivery_id("solidgate-event-id")
        .event_type(Source::Header("solidgate-event-type"))
        .docs("https://www.npmjs.com/package/@solidgate/node-sdk", Evidence::OfficialSdk)
        .notes(&[
            "The secret is the webhook secret key (`wh_sk_`); the webhook public key (`wh_pk_`) is the \
             setting `merchant`. The header of that name is unsigned and is not read.",
            "The signature is the base64 of hexadecimal text.",
            "The SDK signs and has no verifier: its signatures were compared. The names of the event \
             headers are from memory (unverified), and they are unsigned.",
            "No id is signed, and two events may have equal bodies.",
        ]);
}
