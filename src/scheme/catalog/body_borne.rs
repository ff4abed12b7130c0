//! Signatures inside JSON bodies, over a part of them.

use std::time::Duration;

use super::TEN_DIGITS;
use crate::scheme::{Encoding, Evidence, Mac, Part, Scheme, Shape, Slot, Source, Stability, Unit};

catalog! {
    /// Mailgun, webhooks with a JSON body.
    pub const MAILGUN: Scheme = Scheme::new("mailgun", Mac::HmacSha256)
        .signature(Slot::json("/signature/signature"), Encoding::Hex)
        .more_signatures(&[Slot::json("/signature/parent-signature")])
        .timestamp(Slot::json("/signature/timestamp"), Unit::Seconds)
        .earliest(TEN_DIGITS)
        .content(&[
            Part::Timestamp,
            Part::Value(Slot::json("/signature/token").shape(Shape::Token)),
        ])
        .ambiguous_boundary(super::TOKEN_AFTER_TIME)
        .event_type(Source::Json("/event-data/event"))
        .stability(Stability::JsonExcept(&["/signature"]))
        .retry_horizon(Duration::from_secs(8 * 60 * 60))
        .docs(
            "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "Neither the event nor its id is signed, only a time and a random token: whoever saw one \
             request can write any other for as long as the window is open. Claim the token as well, once.",
            "The key is the HTTP webhook signing key and not the API key.",
            "`/event-data/id` names the event; a retry brings a new token and a new time.",
            "Events of a subaccount are signed with its own key, and in `parent-signature` with that \
             of the primary account.",
            "No tolerance is documented; 5 minutes is ours.",
            "A 406 stops the retries, which otherwise go on for 8 hours (unverified).",
        ]);

    /// Lever.
    pub const LEVER: Scheme = Scheme::new("lever", Mac::HmacSha256)
        .signature(Slot::json("/signature"), Encoding::Hex)
        .timestamp(Slot::json("/triggeredAt"), Unit::Millis)
        .earliest(TEN_DIGITS)
        .content(&[
            Part::Value(Slot::json("/token").shape(Shape::Token)),
            Part::Timestamp,
        ])
        .ambiguous_boundary(
            "the token touches the digits of the time; digits cut off leave a time before 2001, which \
             is refused, and digits moved to it lie centuries ahead, so the age must be judged",
        )
        .event_type(Source::Json("/event"))
        .stability(Stability::None)
        .docs("", Evidence::ThirdParty)
        .notes(&[
            "Only `token` and `triggeredAt` are signed: event, data and `id` are whatever the last to \
             touch them wrote. Ask Lever before acting.",
            "`triggeredAt` is when it happened: whether retries carry another is not known, and those \
             that do not are refused once the window is over.",
            "A test of the connection is signed, but has no `data.opportunityId`.",
            "5 tries (unverified).",
        ]);

    /// Exact Online.
    pub const EXACT_ONLINE: Scheme = Scheme::new("exact-online", Mac::HmacSha256)
        .signature(Slot::json("/HashCode"), Encoding::Hex)
        .content(&[Part::JsonText("/Content")])
        .event_type(Source::Json("/Content/Topic"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "The text of `Content` is signed as it is written: whoever serialises it anew verifies \
             nothing.",
            "`Content` says which record (`Key`) was touched, how (`Action`) and no more: two changes of \
             one record look alike, so no event is named. Fetch the record.",
            "Without a time, a captured request verifies for ever.",
            "When the webhook is made, a request without `Content` must be answered with 200 \
             (unverified).",
        ]);

    /// Treezor.
    pub const TREEZOR: Scheme = Scheme::new("treezor", Mac::HmacSha256)
        .signature(Slot::json("/object_payload_signature"), Encoding::Base64)
        .content(&[Part::JsonText("/object_payload")])
        .event_type(Source::Json("/webhook"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "Only `object_payload` is signed, as PHP's `json_encode` wrote it: `webhook` (what happened), \
             `object`, `object_id` and `webhook_id` are not. A payload can be passed off as another event.",
            "A proxy that serialises the JSON anew (`\\/`, `\\u00eb`) breaks the signature.",
            "Without a time, a captured request verifies for ever.",
        ]);
}
