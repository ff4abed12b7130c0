//! Signatures inside form bodies, over a part of them.

use std::time::Duration;

use super::TEN_DIGITS;
use crate::scheme::{Encoding, Evidence, Mac, Part, Scheme, Shape, Slot, Source, Stability, Unit};

#[cfg(feature = "sha1")]
const BT_PAYLOAD: Part = Part::Value(Slot::form("bt_payload"));

catalog! {
    /// Mailgun, routes and old webhooks with a form body.
    pub const MAILGUN_FORM: Scheme = Scheme::new("mailgun-form", Mac::HmacSha256)
        .provider_name("mailgun")
        .signature(Slot::form("signature"), Encoding::Hex)
        .timestamp(Slot::form("timestamp"), Unit::Seconds)
        .earliest(TEN_DIGITS)
        .content(&[
            Part::Timestamp,
            Part::Value(Slot::form("token").shape(Shape::Token)),
        ])
        .ambiguous_boundary(super::TOKEN_AFTER_TIME)
        .stability(Stability::None)
        .retry_horizon(Duration::from_secs(8 * 60 * 60))
        .docs(
            "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "Nothing of the message is signed, only a time and a random token: whoever saw one request can \
             write any other for as long as the window is open. Claim the token as well, once.",
            "The key is the HTTP webhook signing key and not the API key.",
            "The body is multipart where a message has attachments; the three fields are as ever.",
            "A 406 stops the retries, which otherwise go on for 8 hours (unverified).",
        ]);

    /// OpenNode.
    pub const OPENNODE: Scheme = Scheme::new("opennode", Mac::HmacSha256)
        .signature(Slot::form("hashed_order"), Encoding::Hex)
        .content(&[Part::Value(Slot::form("id").shape(Shape::Token))])
        .event_type(Source::Value(Slot::form("status")))
        .stability(Stability::None)
        .docs("https://www.npmjs.com/package/opennode", Evidence::OfficialSdk)
        .notes(&[
            "**Only the charge's id is signed**, so `hashed_order` never changes: whoever saw one callback \
             of a charge can write `paid` into the next. Ask OpenNode for the charge before acting.",
            "`id` names the charge and is the same for every status, so no event is named.",
            "The key is the API key.",
            "Webhooks of managed accounts are JSON and signed over `user.id`; they are not read here.",
        ]);

    /// Dropbox Sign (HelloSign).
    #[cfg(feature = "json")]
    pub const DROPBOX_SIGN: Scheme = Scheme::new("dropbox-sign", Mac::HmacSha256)
        .json_in_form("json")
        .signature(Slot::json("/event/event_hash"), Encoding::Hex)
        .timestamp(Slot::json("/event/event_time"), Unit::Seconds)
        .earliest(TEN_DIGITS)
        .content(&[
            Part::Timestamp,
            Part::Value(Slot::json("/event/event_type").shape(Shape::Token)),
        ])
        .ambiguous_boundary(
            "types are words of letters, so the digits of the time end with them; digits cut off leave \
             fewer than ten, which are no time",
        )
        .event_type(Source::Json("/event/event_type"))
        .stability(Stability::None)
        .retry_horizon(super::DAY)
        .docs("https://www.npmjs.com/package/@dropbox/sign", Evidence::OfficialSdk)
        .notes(&[
            "Only time and type are signed: which request was signed by whom is not. Ask Dropbox Sign \
             before acting.",
            "`event_time` is when it happened, and retries carry the same: set `Secrets::tolerance` to \
             how long you want to take them. The SDKs judge no time; 5 minutes is ours.",
            "`event_hash` is the same for two events of one type in one second.",
            "The key is the account's API key.",
            "The JSON is the field `json` of a multipart form, or the body if the app asked for that.",
            "The answer must be 200 with the text `Hello API Event Received`.",
            "6 tries, 5 minutes to hours apart (unverified).",
        ]);

    /// Braintree.
    #[cfg(feature = "sha1")]
    pub const BRAINTREE: Scheme = Scheme::new("braintree", Mac::HmacSha1)
        .signature(
            Slot::form("bt_signature").list(b'&').after(b'|'),
            Encoding::Hex,
        )
        .key(&[Part::Of(crate::scheme::Transform::Sha1, &[Part::Secret])])
        .content(&[BT_PAYLOAD])
        .or_content(&[&[BT_PAYLOAD, Part::Text("\n")]])
        .retry_horizon(super::DAY)
        .docs("https://www.npmjs.com/package/braintree", Evidence::OfficialSdk)
        .notes(&[
            "The secret is the private key of an API key. Every `public_key|signature` pair is tried \
             with it; which public key a pair names is not looked at.",
            "The payload is XML in base64, with line ends that are signed. Form parsers that trim lose \
             the last one, so the payload is tried with one more as well, as the SDKs do: an id made \
             of the payload's text has two spellings. Make it of the decoded XML.",
            "There is no id: kind, the subject's id and `timestamp` in the XML are together one.",
            "`timestamp` is in the XML and not judged here. Parse it after verification, with entities \
             and DTDs off.",
            "The address is first asked with a GET and `bt_challenge`.",
            "Retries every hour for up to 24 hours (unverified).",
        ]);
}
