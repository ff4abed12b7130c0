//! Standard Webhooks and its kin: id, time and body are all signed.

use super::DAY;
use crate::scheme::{
    Encoding, Evidence, IdSource, Mac, Part, Scheme, SecretFormat, Slot, Source, Unit,
};

const ID: Slot = Slot::header("webhook-id");
const SVIX_ID: Slot = Slot::header("svix-id");

catalog! {
    /// Standard Webhooks, symmetric signatures (`v1`).
    pub const STANDARD_WEBHOOKS: Scheme = Scheme::new("standard-webhooks", Mac::HmacSha256)
        .signature(Slot::header("webhook-signature").list(b' ').prefix("v1,"), Encoding::Base64)
        .timestamp(Slot::header("webhook-timestamp"), Unit::Seconds)
        .content(&[Part::Header(ID), Part::Text("."), Part::Timestamp, Part::Text("."), Part::Body])
        .id(IdSource::Header("webhook-id"))
        .event_type(Source::Json("/type"))
        .secret(SecretFormat::Base64 { prefix: "whsec_" })
        .docs(
            "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The signed bytes are ambiguous if the id may hold a full stop; such ids are refused here, \
             though the SDKs take them.",
            "The SDKs sign the number they parsed; here the header's text is signed, so `1767225600.9` \
             is refused.",
            "Entries that cannot be read, and other versions such as v1a, are skipped.",
        ]);

    /// Svix: Standard Webhooks under `svix-*` headers, or under the standard names.
    pub const SVIX: Scheme = STANDARD_WEBHOOKS
        .named("svix")
        .signature(
            Slot::header("svix-signature").list(b' ').prefix("v1,"),
            Encoding::Base64,
        )
        .timestamp(Slot::header("svix-timestamp"), Unit::Seconds)
        .content(&[
            Part::Header(SVIX_ID),
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ])
        .id(IdSource::Header("svix-id"))
        .header_family("svix-", "webhook-")
        .retry_horizon(DAY.saturating_mul(5))
        .docs(
            "https://docs.svix.com/receiving/verifying-payloads/how-manual",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "All headers are taken from one family; the SDKs fall back header by header.",
            "Retries over about 28 hours, endpoints disabled after 5 days (unverified).",
        ]);

    /// GitLab with a signing token (2026): Standard Webhooks under its own name.
    pub const GITLAB_SIGNING: Scheme = STANDARD_WEBHOOKS
        .named("gitlab-signing")
        .provider_name("gitlab")
        .event_type(Source::Json("/object_kind"))
        .retry_horizon(DAY)
        .docs(
            "https://docs.gitlab.com/user/project/integrations/webhooks/",
            Evidence::OfficialDocs,
        )
        .notes(&["Needs GitLab's signing token; the secret token alone signs nothing."]);
}
