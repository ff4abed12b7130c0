//! The key is in a certificate whose address the request names.
//!
//! The address is checked against the provider's own hosts and handed out
//! ([`KeyNeeded::Url`](crate::KeyNeeded)); nothing is fetched here.

use std::time::Duration;

use crate::scheme::{
    Condition, Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, SecretFormat, Shape,
    Slot, Source, Transform, Unit, UrlRule,
};

const SNS_HOSTS: &[UrlRule] = &[
    UrlRule::host("sns.*.amazonaws.com").path("/", ".pem"),
    UrlRule::host("sns.*.amazonaws.com.cn").path("/", ".pem"),
];

#[cfg(feature = "crc32")]
const PAYPAL_HOSTS: &[UrlRule] = &[
    UrlRule::host("api.paypal.com").path("/v1/notifications/certs/", ""),
    UrlRule::host("api.sandbox.paypal.com").path("/v1/notifications/certs/", ""),
];

const fn line(pointer: &'static str) -> Part {
    Part::Value(Slot::json(pointer).shape(Shape::Line))
}

const fn token(pointer: &'static str) -> Part {
    Part::Value(Slot::json(pointer).shape(Shape::Token))
}

const NOTIFICATION: &[Part] = &[
    Part::Text("Message\n"),
    Part::Value(Slot::json("/Message")),
    Part::Text("\nMessageId\n"),
    token("/MessageId"),
    Part::Text("\n"),
    Part::IfPresent(&[Part::Text("Subject\n"), line("/Subject"), Part::Text("\n")]),
    Part::Text("Timestamp\n"),
    Part::Timestamp,
    Part::Text("\nTopicArn\n"),
    line("/TopicArn"),
    Part::Text("\nType\n"),
    token("/Type"),
    Part::Text("\n"),
];

const CONFIRMATION: &[Part] = &[
    Part::Text("Message\n"),
    Part::Value(Slot::json("/Message")),
    Part::Text("\nMessageId\n"),
    token("/MessageId"),
    Part::Text("\nSubscribeURL\n"),
    line("/SubscribeURL"),
    Part::Text("\nTimestamp\n"),
    Part::Timestamp,
    Part::Text("\nToken\n"),
    line("/Token"),
    Part::Text("\nTopicArn\n"),
    line("/TopicArn"),
    Part::Text("\nType\n"),
    token("/Type"),
    Part::Text("\n"),
];

const fn is(pointer: &'static str, value: &'static str) -> Part {
    Part::Require(Condition::Equals(Slot::json(pointer), value))
}

/// The three kinds of messages under one signature version.
macro_rules! sns {
    ($name:literal, $mac:expr, $version:literal) => {
        Scheme::new($name, $mac)
            .provider_name("aws-sns")
            .signature(Slot::json("/Signature"), Encoding::Base64)
            .secret(SecretFormat::PublicKey)
            .keys(KeySource::Url(Slot::json("/SigningCertURL"), SNS_HOSTS))
            .timestamp(Slot::json("/Timestamp"), Unit::Rfc3339)
            .tolerance(Duration::from_secs(3600))
            .content(&[
                is("/SignatureVersion", $version),
                is("/Type", "Notification"),
                Part::Of(Transform::Join, NOTIFICATION),
            ])
            .or_content(&[
                &[
                    is("/SignatureVersion", $version),
                    is("/Type", "SubscriptionConfirmation"),
                    Part::Of(Transform::Join, CONFIRMATION),
                ],
                &[
                    is("/SignatureVersion", $version),
                    is("/Type", "UnsubscribeConfirmation"),
                    Part::Of(Transform::Join, CONFIRMATION),
                ],
            ])
            .id(IdSource::Json("/MessageId"))
            .event_type(Source::Json("/Type"))
            .retry_horizon(Duration::from_secs(3600))
            .docs(
                "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html",
                Evidence::OfficialSdk,
            )
    };
}

catalog! {
    /// Amazon SNS, signature version 2 (SHA-256).
    pub const AWS_SNS: Scheme = sns!("aws-sns", Mac::RsaSha256, "2").notes(&[
        "Only the documented members are signed, after JSON decoding; whatever else is in the body \
         anyone could have added.",
        "The certificate is at SigningCertURL, which must be https on `sns.<region>.amazonaws.com` (or `.cn`) and \
         end in .pem. Its chain and dates are yours to check.",
        "Confirm a subscription by fetching SubscribeURL only after the message has verified and for a \
         topic that you expect.",
        "Official validators disagree on UnsubscribeConfirmation: here the token is signed, as in the \
         PHP one.",
        "A new topic signs with version 1 (SHA-1) until SignatureVersion is set to 2: see aws-sns-v1.",
        "Retry horizon unverified.",
    ]);

    /// Amazon SNS, signature version 1 (SHA-1), the default of topics.
    #[cfg(feature = "sha1")]
    pub const AWS_SNS_V1: Scheme = sns!("aws-sns-v1", Mac::RsaSha1, "1").notes(&[
        "As aws-sns, but with SHA-1: set the topic's SignatureVersion to 2 and use that row.",
    ]);

    /// PayPal, checked without the post-back.
    #[cfg(feature = "crc32")]
    pub const PAYPAL: Scheme = Scheme::new("paypal", Mac::RsaSha256)
        .signature(Slot::header("PAYPAL-TRANSMISSION-SIG"), Encoding::Base64)
        .secret(SecretFormat::PublicKey)
        .keys(KeySource::Url(Slot::header("PAYPAL-CERT-URL"), PAYPAL_HOSTS))
        .needs(&["webhook_id"])
        .timestamp(Slot::header("PAYPAL-TRANSMISSION-TIME"), Unit::Rfc3339)
        .content(&[
            Part::Require(Condition::Equals(
                Slot::header("PAYPAL-AUTH-ALGO"),
                "SHA256withRSA",
            )),
            Part::Header(Slot::header("PAYPAL-TRANSMISSION-ID").shape(Shape::Token)),
            Part::Text("|"),
            Part::Timestamp,
            Part::Text("|"),
            Part::Setting("webhook_id"),
            Part::Text("|"),
            Part::Of(Transform::Crc32, &[Part::Body]),
        ])
        .delivery_id("PAYPAL-TRANSMISSION-ID")
        .event_type(Source::Json("/event_type"))
        .retry_horizon(super::DAY.saturating_mul(3))
        .docs(
            "https://developer.paypal.com/api/rest/webhooks/rest",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The body is bound by a CRC-32 and nothing else: whoever holds one genuine delivery can write \
             another body with the same checksum. Fetch the event by its id, or use the post-back API.",
            "The setting `webhook_id` is the id of the webhook in the dashboard; simulator events use \
             the literal WEBHOOK_ID.",
            "The certificate's address must be https on PayPal's own API hosts; its chain is yours to check.",
            "Whether the transmission id stays over retries is not documented, so nothing names the event.",
        ]);
}
