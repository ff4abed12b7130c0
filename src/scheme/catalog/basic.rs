//! Credentials of HTTP Basic authentication (RFC 7617). Nothing is signed.
//!
//! The secret is `user:password` as text, split by nobody: what the header encodes must be the
//! same bytes, colons and all, so credentials without a colon can never be right.

use super::DAY;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Stability};

const CLEAR: &str = "The password travels with every request, only encoded; nothing is signed.";
const COLON: &str = "The secret is `user:password`; the password may hold colons.";

/// User and password in `Authorization`, in requests that have no id outside the body.
const fn basic(name: &'static str) -> Scheme {
    Scheme::new(name, Mac::Token)
        .signature(
            Slot::header("Authorization").word("Basic "),
            Encoding::Base64,
        )
        .id(IdSource::None)
        .stability(Stability::None)
}

catalog! {
    /// Azure DevOps service hooks.
    pub const AZURE_DEVOPS: Scheme = basic("azure-devops")
        .event_type(Source::Json("/eventType"))
        .docs("https://github.com/go-playground/webhooks", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            COLON,
            "Headers of your own choosing can be sent as well or instead; they are another scheme.",
        ]);

    /// Chargebee.
    pub const CHARGEBEE: Scheme = basic("chargebee")
        .event_type(Source::Json("/event_type"))
        .retry_horizon(DAY.saturating_mul(3))
        .docs("https://www.npmjs.com/package/chargebee", Evidence::OfficialSdk)
        .notes(&[
            CLEAR,
            COLON,
            "`/id` (`ev_…`) names the event and stays over retries, but nothing protects it.",
            "Events may come out of order: compare `resource_version`.",
            "The SDK wants the word `Basic` in exactly this case; RFC 7617 wants any.",
            "Up to 7 retries over about 3 days, each to be answered within 60 s (unverified).",
        ]);

    /// Marqeta.
    pub const MARQETA: Scheme = basic("marqeta")
        .docs(
            "https://www.marqeta.com/docs/core-api/webhooks/create-webhook.md",
            Evidence::OfficialDocs,
        )
        .notes(&[
            CLEAR,
            COLON,
            "The password has 20 to 50 characters.",
            "One request holds lists of events by kind, each with a `token`, which nothing protects.",
            "A signature of the body can be had on top, in a header that was not looked up; it is not \
             read here. Mutual TLS can be had as well.",
            "A ping, `{\"pings\":[…]}`, must be answered with 200.",
        ]);

    /// Pipedrive.
    pub const PIPEDRIVE: Scheme = basic("pipedrive")
        .event_type(Source::Json("/meta/entity"))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            COLON,
            "The type is what `/meta/action` did to `/meta/entity` (unverified).",
        ]);

    /// Postmark.
    pub const POSTMARK: Scheme = basic("postmark")
        .event_type(Source::Json("/RecordType"))
        .retry_horizon(DAY)
        .docs(
            "https://postmarkapp.com/developer/webhooks/webhooks-overview",
            Evidence::OfficialDocs,
        )
        .notes(&[
            CLEAR,
            COLON,
            "The credentials are given in the webhook's URL or beside it.",
            "One message has several events: `/MessageID` with `/RecordType` is the closest to an id, \
             and nothing protects it.",
            "Bounces and inbound mail are retried 10 times, 1 minute up to 6 hours apart, others 3 or 4 \
             times within minutes; a 403 stops it (unverified).",
        ]);

    /// VMware Workspace ONE.
    pub const VMWARE_WORKSPACE_ONE: Scheme = basic("vmware-workspace-one")
        .event_type(Source::Json("/EventType"))
        .docs("", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            COLON,
            "ngrok's configuration joins the two with `::`; here it is one colon.",
            "Where the event type is, is from memory (unverified).",
        ]);

    /// Zapier.
    pub const ZAPIER: Scheme = Scheme::new("zapier", Mac::Token)
        .signature(Slot::header("Authorization"), Encoding::Plain)
        .id(IdSource::None)
        .stability(Stability::None)
        .docs("", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "The secret is the header's whole value: whatever the Zap's step sends. Of Basic \
             credentials that is `Basic ` and the base64 of `user:password`.",
            "A step may send another header instead; this row wants `Authorization`.",
            "What the body holds is up to the Zap: neither an id nor a type is known.",
        ]);
}
