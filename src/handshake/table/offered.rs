//! Handshakes that bring the secret for all later deliveries.

use crate::{
    handshake::{Allowed, Handshake, Moment, Piece, Place, When},
    scheme::Evidence,
};

const POST: When = When::Method(&["POST"]);
const OFFER: Moment = Moment::Subscribing;
const NO_VOUCHER: &str = "Nothing vouches for the request: accept it only while a subscription is being created, and never in \
    the place of a secret that you have, or anyone can replace it.";

handshakes! {
    /// Asana.
    pub const ASANA: Handshake = Handshake::new("asana", OFFER)
        .when(&[
            POST,
            When::Has(Place::Header("X-Hook-Secret")),
            When::Lacks(Place::Header("X-Hook-Signature")),
        ])
        .challenge(Place::Header("X-Hook-Secret"), Allowed::Token)
        .headers(&[("X-Hook-Secret", &[Piece::Challenge])])
        .docs("https://developers.asana.com/docs/webhooks-guide.md", Evidence::OfficialDocs)
        .notes(&[
            NO_VOUCHER,
            "It comes while your call that creates the webhook is still waiting: answer it from another task.",
            "Every webhook has a secret of its own.",
        ]);

    /// Clio.
    pub const CLIO: Handshake = Handshake::new("clio", OFFER)
        .when(&[
            POST,
            When::Has(Place::Header("X-Hook-Secret")),
            When::Lacks(Place::Header("X-Hook-Signature")),
        ])
        .challenge(Place::Header("X-Hook-Secret"), Allowed::Token)
        .headers(&[("X-Hook-Secret", &[Piece::Challenge])])
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[NO_VOUCHER, "Webhooks expire."]);

    /// Gusto.
    pub const GUSTO: Handshake = Handshake::new("gusto", OFFER)
        .when(&[
            POST,
            When::Members(&["verification_token", "webhook_subscription_uuid"]),
        ])
        .challenge(Place::Json("/verification_token"), Allowed::Token)
        .docs("https://docs.gusto.com/embedded-payroll/docs/webhooks", Evidence::ThirdParty)
        .notes(&[
            NO_VOUCHER,
            "The token has to be sent back through the API, with the subscription's id from the same body.",
        ]);

    /// Notion.
    pub const NOTION: Handshake = Handshake::new("notion", OFFER)
        .when(&[POST, When::Members(&["verification_token"])])
        .challenge(Place::Json("/verification_token"), Allowed::Token)
        .docs("https://developers.notion.com/reference/webhooks", Evidence::OfficialDocs)
        .notes(&[
            NO_VOUCHER,
            "The token is pasted into the provider's page by hand; verifying again makes a new one.",
        ]);
}
