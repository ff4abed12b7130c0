//! Handshakes that nobody signs: providers from N to Z.

use crate::{
    handshake::{Allowed, Body, Handshake, Key, Moment, Piece, Place, When},
    scheme::{Encoding, Evidence, Mac},
};

const GET: When = When::Method(&["GET"]);
const POST: When = When::Method(&["POST"]);
const HEAD: When = When::Method(&["HEAD"]);
const OPEN: Moment = Moment::Unsigned;
const ECHO: Body = Body::Text(&[Piece::Challenge]);
const SMARTCAR_BODY: Body = Body::Json(&[(
    "challenge",
    &[Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Hex)],
)]);

handshakes! {
    /// Nylas.
    pub const NYLAS: Handshake = Handshake::new("nylas", OPEN)
        .when(&[GET, When::Has(Place::Query("challenge"))])
        .challenge(Place::Query("challenge"), Allowed::Token)
        .body(ECHO)
        .docs("https://developer.nylas.com/docs/v3/notifications/", Evidence::ThirdParty)
        .notes(&["The bare value is wanted, within 10 seconds."]);

    /// Okta event hooks.
    pub const OKTA: Handshake = Handshake::new("okta", OPEN)
        .when(&[GET, When::Has(Place::Header("x-okta-verification-challenge"))])
        .challenge(Place::Header("x-okta-verification-challenge"), Allowed::Token)
        .body(Body::Json(&[("verification", &[Piece::Challenge])]))
        .docs("https://developer.okta.com/docs/concepts/event-hooks/", Evidence::ThirdParty)
        .notes(&["Asked once, when the hook is verified."]);

    /// RingCentral.
    pub const RINGCENTRAL: Handshake = Handshake::new("ringcentral", OPEN)
        .when(&[POST, When::EmptyBody, When::Has(Place::Header("Validation-Token"))])
        .challenge(Place::Header("Validation-Token"), Allowed::Token)
        .headers(&[("Validation-Token", &[Piece::Challenge])])
        .docs(
            "https://developers.ringcentral.com/guide/notifications/webhooks/creating-webhooks",
            Evidence::OfficialDocs,
        )
        .unverified()
        .notes(&[
            "Deliveries may carry the same header, with the token that you configured: they are told apart by their body.",
            "That the request on creation has no body is from memory (unverified).",
        ]);

    /// Slack's check of a slash command's certificate.
    pub const SLACK_SSL_CHECK: Handshake = Handshake::new("slack-ssl-check", OPEN)
        .provider_name("slack")
        .when(&[
            When::Method(&["GET", "POST"]),
            When::Is(Place::Param("ssl_check"), "1"),
        ])
        .docs("https://docs.slack.dev/authentication/verifying-requests-from-slack/", Evidence::OfficialDocs)
        .unverified()
        .notes(&["It may come unsigned; nothing is to be done but to answer 200."]);

    /// Smartcar, version 4.0.
    pub const SMARTCAR: Handshake = Handshake::new("smartcar", OPEN)
        .when(&[POST, When::Is(Place::Json("/eventType"), "VERIFY")])
        .settings(&["application management token"])
        .challenge(Place::Json("/data/challenge"), Allowed::Token)
        .body(SMARTCAR_BODY)
        .docs(
            "https://smartcar.com/docs/integrations/webhooks/callback-verification.md",
            Evidence::OfficialDocs,
        )
        .notes(&["The key is the one that deliveries are signed with; a challenge that could be an event is refused."]);

    /// Smartcar, version 2.0.
    pub const SMARTCAR_V2: Handshake = Handshake::new("smartcar-v2", OPEN)
        .provider_name("smartcar")
        .when(&[POST, When::Is(Place::Json("/eventName"), "verify")])
        .settings(&["application management token"])
        .challenge(Place::Json("/payload/challenge"), Allowed::Token)
        .body(SMARTCAR_BODY)
        .docs(
            "https://smartcar.com/docs/integrations/webhooks/callback-verification.md",
            Evidence::OfficialDocs,
        )
        .notes(&["The key is the one that deliveries are signed with; a challenge that could be an event is refused."]);

    /// Strava.
    pub const STRAVA: Handshake = Handshake::new("strava", OPEN)
        .when(&[
            GET,
            When::Is(Place::Query("hub.mode"), "subscribe"),
            When::Has(Place::Query("hub.challenge")),
        ])
        .settings(&["verify token"])
        .expects(Place::Query("hub.verify_token"), 0)
        .challenge(Place::Query("hub.challenge"), Allowed::Token)
        .body(Body::Json(&[("hub.challenge", &[Piece::Challenge])]))
        .docs("https://developers.strava.com/docs/webhooks/", Evidence::ThirdParty)
        .notes(&[
            "JSON is wanted, unlike Meta's text, within 2 seconds.",
            "Events are not signed at all: compare `/subscription_id`, and fetch the object through the API.",
        ]);

    /// SurveyMonkey's check that the endpoint exists.
    pub const SURVEYMONKEY: Handshake = Handshake::new("surveymonkey", OPEN)
        .when(&[HEAD])
        .docs("https://github.com/SurveyMonkey/public_api_docs", Evidence::ThirdParty);

    /// Trello's check that the endpoint exists.
    pub const TRELLO: Handshake = Handshake::new("trello", OPEN)
        .when(&[HEAD])
        .docs("https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/", Evidence::OfficialDocs);

    /// Vercel log drains: a fixed value, in a header of the answer.
    pub const VERCEL_LOG_DRAINS: Handshake = Handshake::new("vercel-log-drains", OPEN)
        .when(&[
            When::Method(&["GET", "HEAD", "POST"]),
            When::Lacks(Place::Header("x-vercel-signature")),
        ])
        .settings(&["value of x-vercel-verify"])
        .headers(&[("x-vercel-verify", &[Piece::Setting(0)])])
        .docs("https://vercel.com/docs/drains", Evidence::ThirdParty)
        .unverified()
        .notes(&[
            "Sources disagree on what the request looks like: every unsigned one is answered, and none is an event.",
            "The value goes out to anyone who asks, as the provider means it to.",
        ]);

    /// WooCommerce's ping when a webhook is switched on.
    pub const WOOCOMMERCE: Handshake = Handshake::new("woocommerce", OPEN)
        .when(&[
            POST,
            When::Lacks(Place::Header("X-WC-Webhook-Signature")),
            When::Fields(&["webhook_id"]),
        ])
        .docs(
            "https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php",
            Evidence::OfficialDocs,
        );

    /// Worldline (GlobalCollect, Ingenico).
    pub const WORLDLINE: Handshake = Handshake::new("worldline", OPEN)
        .when(&[GET, When::Has(Place::Header("X-GCS-Webhooks-Endpoint-Verification"))])
        .challenge(Place::Header("X-GCS-Webhooks-Endpoint-Verification"), Allowed::Token)
        .body(ECHO)
        .docs("https://pypi.org/project/onlinepayments-sdk-python3/", Evidence::ThirdParty);

    /// X (Twitter): the challenge-response check.
    pub const X_TWITTER: Handshake = Handshake::new("x-twitter", OPEN)
        .when(&[GET, When::Has(Place::Query("crc_token"))])
        .settings(&["consumer secret"])
        .challenge(Place::Query("crc_token"), Allowed::Token)
        .body(Body::Json(&[(
            "response_token",
            &[
                Piece::Text("sha256="),
                Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Base64),
            ],
        )]))
        .docs("https://docs.x.com/x-api/webhooks/introduction", Evidence::OfficialDocs)
        .unverified()
        .notes(&[
            "The answer is written as a delivery's signature is, under the same key: an endpoint that answers any text \
             signs forged events for whoever asks. Only tokens are answered here.",
            "Asked again every hour or half hour, not only once.",
            "The documentation was not read again; the check is as several clients do it (unverified).",
        ]);
}
