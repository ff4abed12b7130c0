//! Handshakes that nobody signs: providers from A to M.

use crate::{
    handshake::{Allowed, Body, Handshake, Key, Moment, Piece, Place, When},
    scheme::{Encoding, Evidence, Mac},
};

const GET: When = When::Method(&["GET"]);
const POST: When = When::Method(&["POST"]);
const HEAD: When = When::Method(&["HEAD"]);
const OPEN: Moment = Moment::Unsigned;
const ECHO: Body = Body::Text(&[Piece::Challenge]);

handshakes! {
    /// Adobe Acrobat Sign: the client id, sent back.
    pub const ADOBE_SIGN: Handshake = Handshake::new("adobe-sign", OPEN)
        .when(&[GET, When::Has(Place::Header("X-AdobeSign-ClientId"))])
        .settings(&["client id"])
        .expects(Place::Header("X-AdobeSign-ClientId"), 0)
        .headers(&[("X-AdobeSign-ClientId", &[Piece::Setting(0)])])
        .body(Body::Json(&[("xAdobeSignClientId", &[Piece::Setting(0)])]))
        .docs("https://helpx.adobe.com/sign/developer/webhook/gen.html", Evidence::ThirdParty)
        .notes(&[
            "The client id is no secret: it names the application and proves nothing.",
            "Answers to events (`POST`) must carry the same header; add it to them yourself. Sources disagree on that.",
        ]);

    /// Bitbucket Data Center's connection test.
    pub const BITBUCKET_SERVER: Handshake = Handshake::new("bitbucket-server", OPEN)
        .when(&[
            POST,
            When::Is(Place::Header("X-Event-Key"), "diagnostics:ping"),
            When::Members(&["test"]),
        ])
        .docs("", Evidence::ThirdParty)
        .notes(&["The test may be signed like other deliveries or not; its answer says nothing either way."]);

    /// Braintree's check of the endpoint: the public key and a MAC of the challenge.
    #[cfg(feature = "sha1")]
    pub const BRAINTREE: Handshake = Handshake::new("braintree", OPEN)
        .when(&[GET, When::Has(Place::Query("bt_challenge"))])
        .settings(&["public key", "private key"])
        .challenge(Place::Query("bt_challenge"), Allowed::Hex(20, 32))
        .body(Body::Text(&[
            Piece::Setting(0),
            Piece::Text("|"),
            Piece::Hmac(Mac::HmacSha1, Key::Sha1Of(1), Encoding::Hex),
        ]))
        .docs("https://www.npmjs.com/package/braintree", Evidence::OfficialSdk)
        .notes(&[
            "The key is the SHA-1 digest of the private key.",
            "Only 20 to 32 hexadecimal digits are a challenge, as in the SDK: anything else would be a signature on demand.",
        ]);

    /// Circle's check that the endpoint exists.
    pub const CIRCLE: Handshake = Handshake::new("circle", OPEN)
        .when(&[HEAD])
        .docs(
            "https://developers.circle.com/api-reference/verify-webhook-signatures",
            Evidence::OfficialDocs,
        )
        .notes(&["A `webhooks.test` notification follows; it is signed, and an event like any other."]);

    /// Dropbox.
    pub const DROPBOX: Handshake = Handshake::new("dropbox", OPEN)
        .when(&[GET, When::Has(Place::Query("challenge"))])
        .challenge(Place::Query("challenge"), Allowed::Text)
        .body(ECHO)
        .docs("https://www.dropbox.com/developers/reference/webhooks", Evidence::ThirdParty)
        .notes(&["`text/plain` and `nosniff` are asked for by the provider too: anyone may choose the challenge."]);

    /// eBay notifications.
    pub const EBAY: Handshake = Handshake::new("ebay", OPEN)
        .when(&[GET, When::Has(Place::Query("challenge_code"))])
        .settings(&["verification token", "endpoint URL"])
        .challenge(Place::Query("challenge_code"), Allowed::Token)
        .body(Body::Json(&[(
            "challengeResponse",
            &[Piece::Sha256(&[Piece::Challenge, Piece::Setting(0), Piece::Setting(1)])],
        )]))
        .docs("https://developer.ebay.com/marketplace-account-deletion", Evidence::OfficialSdk)
        .notes(&[
            "The endpoint URL is hashed exactly as it was registered, so it is a setting and not read from the request.",
            "The answer is a plain hash: take a long random token, or it can be guessed from one answer.",
            "The name of the answer's member is as many public endpoints write it.",
        ]);

    /// Fitbit's verification of a subscriber.
    pub const FITBIT: Handshake = Handshake::new("fitbit", OPEN)
        .when(&[GET, When::Has(Place::Query("verify"))])
        .settings(&["verification code"])
        .expects(Place::Query("verify"), 0)
        .refusal(404)
        .status(204)
        .docs(
            "https://dev.fitbit.com/build/reference/web-api/developer-guide/best-practices/#Subscriber-Security",
            Evidence::ThirdParty,
        )
        .notes(&["Asked twice: the right code must be answered 204, a wrong one 404."]);

    /// LinkedIn.
    pub const LINKEDIN: Handshake = Handshake::new("linkedin", OPEN)
        .when(&[GET, When::Has(Place::Query("challengeCode"))])
        .settings(&["client secret"])
        .challenge(Place::Query("challengeCode"), Allowed::Token)
        .body(Body::Json(&[
            ("challengeCode", &[Piece::Challenge]),
            (
                "challengeResponse",
                &[Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Hex)],
            ),
        ]))
        .docs(
            "https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation",
            Evidence::OfficialDocs,
        )
        .unverified()
        .notes(&[
            "Asked again regularly, not only once.",
            "Parent and child applications also send `applicationId`, which says whose secret is meant; one responder has one secret.",
            "That the answer repeats the code is from memory (unverified).",
        ]);

    /// Mandrill's check that the endpoint exists.
    pub const MANDRILL: Handshake = Handshake::new("mandrill", OPEN)
        .when(&[HEAD])
        .docs("https://mandrill.zendesk.com/hc/en-us/articles/360039232513-How-to-Authenticate-Webhook-Requests", Evidence::OfficialDocs)
        .notes(&[
            "A `POST` with an empty list follows that is signed with the literal key `test-webhook`: answer it 200 and act on nothing.",
        ]);

    /// Meta: Facebook, Instagram, WhatsApp, Messenger, Threads.
    pub const META: Handshake = Handshake::new("meta", OPEN)
        .when(&[
            GET,
            When::Is(Place::Query("hub.mode"), "subscribe"),
            When::Has(Place::Query("hub.challenge")),
        ])
        .settings(&["verify token"])
        .expects(Place::Query("hub.verify_token"), 0)
        .challenge(Place::Query("hub.challenge"), Allowed::Token)
        .body(ECHO)
        .docs(
            "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
            Evidence::OfficialDocs,
        )
        .notes(&["You choose the verify token; it is not the app secret that deliveries are signed with."]);

    /// Microsoft Graph change notifications.
    pub const MICROSOFT_GRAPH: Handshake = Handshake::new("microsoft-graph", OPEN)
        .when(&[POST, When::Has(Place::Query("validationToken"))])
        .challenge(Place::Query("validationToken"), Allowed::Text)
        .body(ECHO)
        .docs(
            "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
            Evidence::OfficialDocs,
        )
        .unverified()
        .notes(&["The token is sent back decoded, within 10 seconds."]);

    /// Microsoft SharePoint list webhooks.
    pub const MICROSOFT_SHAREPOINT: Handshake = Handshake::new("microsoft-sharepoint", OPEN)
        .when(&[POST, When::Has(Place::Query("validationtoken"))])
        .challenge(Place::Query("validationtoken"), Allowed::Text)
        .body(ECHO)
        .docs("", Evidence::ThirdParty)
        .unverified()
        .notes(&["The parameter is written in lower case, unlike Microsoft Graph's."]);

    /// monday.com.
    pub const MONDAY: Handshake = Handshake::new("monday", OPEN)
        .when(&[POST, When::Members(&["challenge"])])
        .challenge(Place::Json("/challenge"), Allowed::Token)
        .body(Body::Json(&[("challenge", &[Piece::Challenge])]))
        .docs("https://developer.monday.com/api-reference/docs/webhooks", Evidence::OfficialDocs)
        .notes(&["Board webhooks send it without the `Authorization` token that others carry."]);
}
