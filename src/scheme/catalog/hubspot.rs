//! HubSpot's older signatures: a plain hash with the secret in front.

use super::target::URL_THEN_BODY;
use crate::scheme::{
    Condition, Encoding, Evidence, Hash, Mac, Part, Scheme, Slot, Source, Stability,
};

const HUBSPOT_VERSION: Slot = Slot::header("X-HubSpot-Signature-Version");

catalog! {
    /// HubSpot, signature version 2: workflows and CRM cards.
    pub const HUBSPOT_V2: Scheme = Scheme::new("hubspot-v2", Mac::Hash(Hash::Sha256))
        .provider_name("hubspot")
        .signature(Slot::header("X-HubSpot-Signature"), Encoding::Hex)
        .content(&[
            Part::Require(Condition::Equals(HUBSPOT_VERSION, "v2")),
            Part::Secret,
            Part::Method,
            Part::Url,
            Part::Body,
        ])
        .ambiguous_boundary(URL_THEN_BODY)
        .stability(Stability::None)
        .docs(
            "https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "A plain SHA-256 with the secret in front, not an HMAC: what was signed can be extended \
             without the secret. There is no timestamp. Use version 3 where HubSpot sends it.",
        ]);

    /// HubSpot, signature version 1: webhook subscriptions of older apps.
    pub const HUBSPOT_V1: Scheme = Scheme::new("hubspot-v1", Mac::Hash(Hash::Sha256))
        .provider_name("hubspot")
        .signature(Slot::header("X-HubSpot-Signature"), Encoding::Hex)
        .content(&[
            Part::Require(Condition::Equals(HUBSPOT_VERSION, "v1")),
            Part::Secret,
            Part::Body,
        ])
        .event_type(Source::Json("/0/subscriptionType"))
        .stability(Stability::None)
        .docs(
            "https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "A plain SHA-256 with the secret in front, not an HMAC: bytes can be added to a genuine body \
             without the secret. There is no timestamp. Use version 3 where HubSpot sends it.",
        ]);
}
