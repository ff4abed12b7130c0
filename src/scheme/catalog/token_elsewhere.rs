//! Constant secrets in URLs and bodies, and names that only look like secrets. Nothing is signed.

use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Stability};

const CLEAR: &str = "The token travels in clear text with every request; nothing is signed.";
const NO_SECRET: &str = "**This identifies and does not authenticate**: the value is public, and whoever knows it \
                         passes. Act on nothing that you did not fetch from the provider yourself.";

/// A token at any place, in requests that have no id outside the body.
const fn token(name: &'static str, slot: Slot) -> Scheme {
    Scheme::new(name, Mac::Token)
        .signature(slot, Encoding::Plain)
        .id(IdSource::None)
        .stability(Stability::None)
}

catalog! {
    /// Mailchimp Marketing, with a token of yours in the webhook's address.
    #[cfg(feature = "form")]
    pub const MAILCHIMP: Scheme = token("mailchimp", Slot::query("key"))
        .event_type(Source::Value(Slot::form("type")))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "You choose the address yourself: give it a parameter `key`. Addresses are logged by \
             servers and proxies, so keep those logs as you keep the secret.",
            "Mailchimp signs nothing here and has no other secret. Mandrill (Mailchimp Transactional) \
             does sign and is another scheme.",
            "A verifier of X-Mailchimp-Signature exists in the wild; no such header is documented.",
            "The body is a form; the address is first asked with a GET.",
        ]);

    /// Meraki.
    #[cfg(feature = "json")]
    pub const MERAKI: Scheme = token("meraki", Slot::json("/sharedSecret"))
        .event_type(Source::Json("/alertType"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "The token is in the body: do not log or store the body as it is.",
            "A payload template can move or drop the field, or add a signature; this row wants the \
             default.",
        ]);

    /// Microsoft Graph change notifications.
    #[cfg(feature = "json")]
    pub const MICROSOFT_GRAPH: Scheme = token("microsoft-graph", Slot::json("/clientState"))
        .each("/value")
        .event_type(Source::Json("/changeType"))
        .retry_horizon(std::time::Duration::from_secs(4 * 60 * 60))
        .docs(
            "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
            Evidence::OfficialDocs,
        )
        .notes(&[
            CLEAR,
            "The token is in the body, once in every notification of `/value`; all are checked.",
            "Notifications with content carry `/validationTokens` as well, which are not checked here.",
            "A notification may have an `id`; nothing protects it.",
            "The address is first asked with a `validationToken` in the query, which must be sent back.",
            "Answer within 3 seconds; retries for up to 4 hours (unverified).",
        ]);

    /// Microsoft SharePoint.
    #[cfg(feature = "json")]
    pub const MICROSOFT_SHAREPOINT: Scheme = token("microsoft-sharepoint", Slot::json("/clientState"))
        .each("/value")
        .docs("", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "The token is in the body, once in every notification of `/value`; all are checked.",
            "A notification says that something in a list changed and not what: ask for the changes.",
            "The address is first asked with a `validationtoken` in the query, which must be sent back.",
        ]);

    /// Deepgram, by the identifier of an API key.
    pub const DEEPGRAM: Scheme = token("deepgram", Slot::header("dg-token"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            NO_SECRET,
            "The header holds the API key's identifier and not the key. Basic credentials in the \
             callback's address are stronger.",
        ]);

    /// Adobe Acrobat Sign, by the application's client id.
    pub const ADOBE_SIGN: Scheme = token("adobe-sign", Slot::header("X-AdobeSign-ClientId"))
        .event_type(Source::Json("/event"))
        .retry_horizon(super::DAY.saturating_mul(3))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            NO_SECRET,
            "The header holds the client id of OAuth, which is in every authorisation link. Mutual TLS \
             can be had and is what authenticates.",
            "Every answer, to the first GET and to each POST, must give the client id back, in the same \
             header or as `xAdobeSignClientId`; sources disagree on the POST.",
            "`/webhookNotificationId` names the notification; nothing protects it.",
            "Retries for up to 72 hours (unverified).",
        ]);

    /// OneSignal event streams.
    pub const ONESIGNAL: Scheme = token("onesignal", Slot::header("X-Custom-Token"))
        .event_type(Source::Json("/event/kind"))
        .docs("https://documentation.onesignal.com/docs/event-streams", Evidence::OfficialDocs)
        .notes(&[
            CLEAR,
            "OneSignal has no secret of its own: you choose the header, so give it this name.",
            "`/event/id` names the event; nothing protects it.",
        ]);
}
