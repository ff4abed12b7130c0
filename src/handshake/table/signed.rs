//! Handshakes that are signed like any delivery: verified first, answered after.

use crate::{
    handshake::{Allowed, Body, Handshake, Hosts, Key, Moment, Piece, Place, When},
    scheme::{Encoding, Evidence, Mac},
};

const SIGNED: Moment = Moment::Verified;
const ECHO: Body = Body::Text(&[Piece::Challenge]);

handshakes! {
    /// Amazon SNS: a subscription that the application must confirm.
    pub const AWS_SNS: Handshake = Handshake::new("aws-sns", SIGNED)
        .when(&[When::Is(Place::Json("/Type"), "SubscriptionConfirmation")])
        .settings(&["topic ARN"])
        .expects(Place::Json("/TopicArn"), 0)
        .confirm(
            Place::Json("/SubscribeURL"),
            Hosts {
                prefix: "sns.",
                suffixes: &[".amazonaws.com", ".amazonaws.com.cn"],
            },
        )
        .docs(
            "https://docs.amazonaws.cn/sns/latest/dg/http-subscription-confirmation-json.html",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "Anyone with an account can have a genuine message sent for a topic of his own: only yours is answered.",
            "Fetch `Answer::confirm_url` to confirm; nothing here opens it. Follow no redirects.",
            "With raw message delivery nothing is signed at all.",
        ]);

    /// Cronofy's first notification of a channel.
    pub const CRONOFY: Handshake = Handshake::new("cronofy", SIGNED)
        .when(&[When::Is(Place::Json("/notification/type"), "verification")])
        .docs(
            "https://docs.cronofy.com/developers/push-notifications/authentication/",
            Evidence::ThirdParty,
        );

    /// Discord interactions: the ping.
    pub const DISCORD: Handshake = Handshake::new("discord", SIGNED)
        .when(&[
            When::Is(Place::Json("/type"), "1"),
            When::Lacks(Place::Json("/event/type")),
        ])
        .body(Body::Fixed(r#"{"type":1}"#))
        .docs(
            "https://discord.com/developers/docs/interactions/overview",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The endpoint is also sent pings that are signed wrongly on purpose: they must be refused.",
            "In Webhook Events type 1 is an event: such an endpoint needs `discord-webhook-events`.",
        ]);

    /// Discord Webhook Events: the ping.
    pub const DISCORD_WEBHOOK_EVENTS: Handshake = Handshake::new("discord-webhook-events", SIGNED)
        .provider_name("discord")
        .when(&[
            When::Is(Place::Json("/type"), "0"),
            When::Lacks(Place::Json("/event/type")),
        ])
        .status(204)
        .docs("https://discord.com/developers/docs/events/webhook-events", Evidence::OfficialDocs);

    /// LINE's verify button: no events.
    pub const LINE: Handshake = Handshake::new("line", SIGNED)
        .when(&[
            When::Has(Place::Json("/destination")),
            When::Lacks(Place::Json("/events/0/type")),
        ])
        .docs("https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/", Evidence::OfficialSdk);

    /// Marqeta's ping.
    pub const MARQETA: Handshake = Handshake::new("marqeta", SIGNED)
        .when(&[When::Has(Place::Json("/pings/0/token"))])
        .docs("https://www.marqeta.com/docs/core-api/webhooks/ping.md", Evidence::OfficialDocs)
        .notes(&["It carries the same Basic credentials as deliveries, and no signature of its body."]);

    /// Slack's Events API.
    pub const SLACK: Handshake = Handshake::new("slack", SIGNED)
        .when(&[When::Is(Place::Json("/type"), "url_verification")])
        .challenge(Place::Json("/challenge"), Allowed::Token)
        .body(ECHO)
        .docs("https://docs.slack.dev/authentication/verifying-requests-from-slack/", Evidence::OfficialDocs)
        .notes(&["Signed like any other request; the old `token` in the body proves less and is not read."]);

    /// Tebex.
    pub const TEBEX: Handshake = Handshake::new("tebex", SIGNED)
        .when(&[When::Is(Place::Json("/type"), "validation.webhook")])
        .challenge(Place::Json("/id"), Allowed::Token)
        .body(Body::Json(&[("id", &[Piece::Challenge])]))
        .docs("https://docs.tebex.io/developers/webhooks/overview", Evidence::OfficialDocs)
        .notes(&["Nothing is sent until it has been answered."]);

    /// Twitch EventSub.
    pub const TWITCH: Handshake = Handshake::new("twitch", SIGNED)
        .when(&[
            When::Has(Place::Json("/challenge")),
            When::Has(Place::Json("/subscription/id")),
        ])
        .challenge(Place::Json("/challenge"), Allowed::Token)
        .body(ECHO)
        .docs("https://dev.twitch.tv/docs/eventsub/handling-webhook-events", Evidence::OfficialDocs)
        .notes(&[
            "The header with the message type is not signed, so the signed body decides what it is.",
            "The raw text is wanted, with its exact `Content-Length`.",
        ]);

    /// Viber's call when the webhook is set.
    pub const VIBER: Handshake = Handshake::new("viber", SIGNED)
        .when(&[When::Is(Place::Json("/event"), "webhook")])
        .docs("https://developers.viber.com/docs/api/rest-bot-api/#callbacks", Evidence::OfficialDocs);

    /// Zoom.
    pub const ZOOM: Handshake = Handshake::new("zoom", SIGNED)
        .when(&[When::Is(Place::Json("/event"), "endpoint.url_validation")])
        .settings(&["secret token"])
        .challenge(Place::Json("/payload/plainToken"), Allowed::Token)
        .body(Body::Json(&[
            ("plainToken", &[Piece::Challenge]),
            (
                "encryptedToken",
                &[Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Hex)],
            ),
        ]))
        .docs("https://developers.zoom.us/docs/api/webhooks/", Evidence::OfficialDocs)
        .notes(&[
            "Asked again every 72 hours, and wanted within 3 seconds.",
            "The key is the one that deliveries are signed with. The sample code answers unsigned requests, and would give \
             a stranger the signature of a delivery; here it is verified first, and the token can be nothing else.",
        ]);
}
