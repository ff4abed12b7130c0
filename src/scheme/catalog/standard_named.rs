//! Standard Webhooks under other names: senders that follow the specification by themselves, and
//! those for which Svix sends.

use std::time::Duration;

use super::{DAY, STANDARD_WEBHOOKS, SVIX};
use crate::scheme::{Evidence, IdSource, Scheme, SecretFormat, Source};

/// The list in which Svix says for whom it signs.
const SVIX_SOURCES: &str =
    "https://github.com/svix/svix-webhooks/blob/main/javascript/src/models/ingestSourceIn.ts";

const RETRIES: &str = "Svix sends; its retries are assumed here (unverified).";
const TYPE: &str = "Where the event type is, is from memory (unverified).";
const BOTH: &str = "Either header family may come, `svix-*` or `webhook-*`.";
const LISTED: &str = "That Svix signs for it is known from Svix's own list of sources alone.";

/// Svix sends, under either header family.
const fn svix(name: &'static str) -> Scheme {
    SVIX.named(name).notes(&[LISTED, TYPE, RETRIES])
}

/// Standard Webhooks, but the headers may be Svix's.
const fn standard(name: &'static str) -> Scheme {
    STANDARD_WEBHOOKS
        .named(name)
        .header_family("webhook-", "svix-")
}

catalog! {
    /// Anthropic.
    pub const ANTHROPIC: Scheme = STANDARD_WEBHOOKS
        .named("anthropic")
        .docs("https://www.npmjs.com/package/@anthropic-ai/sdk", Evidence::OfficialSdk)
        .notes(&["The secret may be given with or without `whsec_`."]);

    /// beehiiv.
    pub const BEEHIIV: Scheme = svix("beehiiv")
        .event_type(Source::Json("/event_type"))
        .docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// BigCommerce.
    pub const BIGCOMMERCE: Scheme = STANDARD_WEBHOOKS
        .named("bigcommerce")
        .id(IdSource::None)
        .delivery_id("webhook-id")
        .event_type(Source::Json("/scope"))
        .secret(SecretFormat::Text)
        .retry_horizon(Duration::from_secs(49 * 60 * 60))
        .docs(
            "https://github.com/bigcommerce/docs/blob/main/docs/integrations/webhooks/https-webhook-overview.mdx",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The key is the text of the app's client secret, not base64.",
            "It is not said that `webhook-id` stays over retries, and `hash` in the body repeats when \
             a hook fires twice: choose what names the event.",
            "Webhooks of a store's own token have no client secret and so no signature.",
            "Retries over about 48 hours.",
        ]);

    /// Brex.
    pub const BREX: Scheme = standard("brex")
        .event_type(Source::Json("/event_type"))
        .docs(SVIX_SOURCES, Evidence::ThirdParty)
        .notes(&["The secret is base64 without `whsec_`.", BOTH, TYPE]);

    /// Clerk.
    pub const CLERK: Scheme = SVIX
        .named("clerk")
        .docs("https://clerk.com/docs/webhooks/sync-data", Evidence::OfficialSdk)
        .notes(&[
            "Clerk sends `svix-*` headers; its SDK refuses a request that has `webhook-*` headers alone.",
            "The SDK drops a byte order mark before it verifies; here the raw bytes count.",
            RETRIES,
        ]);

    /// Dodo Payments.
    pub const DODO_PAYMENTS: Scheme = standard("dodo-payments")
        .docs("https://www.npmjs.com/package/dodopayments", Evidence::OfficialSdk)
        .notes(&["The SDK verifies nothing when it is called without headers.", BOTH]);

    /// Gemini, with a static secret.
    pub const GEMINI: Scheme = standard("gemini")
        .docs("", Evidence::ThirdParty)
        .notes(&["In its dynamic mode Gemini sends a JWT instead, which is not read here.", BOTH]);

    /// Guesty.
    pub const GUESTY: Scheme = svix("guesty")
        .event_type(Source::Json("/event"))
        .docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// incident.io.
    pub const INCIDENT_IO: Scheme = standard("incident-io")
        .event_type(Source::Json("/event_type"))
        .docs(SVIX_SOURCES, Evidence::ThirdParty)
        .notes(&[BOTH, TYPE]);

    /// Increase.
    pub const INCREASE: Scheme = STANDARD_WEBHOOKS
        .named("increase")
        .id(IdSource::Json("/id"))
        .delivery_id("webhook-id")
        .event_type(Source::Json("/category"))
        .secret(SecretFormat::Text)
        .docs("https://pypi.org/project/increase/", Evidence::OfficialSdk)
        .notes(&[
            "The key is the secret's text as it is, even where it looks like `whsec_` and base64.",
            "Older integrations get a header Increase-Webhook-Signature instead, which is not read here.",
        ]);

    /// Lithic.
    pub const LITHIC: Scheme = STANDARD_WEBHOOKS
        .named("lithic")
        .event_type(Source::Json("/event_type"))
        .docs("https://www.npmjs.com/package/lithic", Evidence::OfficialSdk)
        .notes(&["Card authorisation requests are signed alike, but want an answer in the body."]);

    /// Loops.
    pub const LOOPS: Scheme = STANDARD_WEBHOOKS
        .named("loops")
        .event_type(Source::Json("/eventName"))
        .docs("https://loops.so/docs/webhooks", Evidence::ThirdParty)
        .notes(&["For 24 hours after a secret is rolled, both secrets sign."]);

    /// Nash.
    pub const NASH: Scheme = svix("nash").docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// OpenAI.
    pub const OPENAI: Scheme = STANDARD_WEBHOOKS
        .named("openai")
        .retry_horizon(DAY.saturating_mul(3))
        .docs("https://platform.openai.com/docs/guides/webhooks", Evidence::OfficialSdk)
        .notes(&[
            "The SDK takes a secret without `whsec_` as text; here it is base64 all the same.",
            "`webhook-id` is what to deduplicate by; `id` in the body names the event too.",
            "Retries for up to 72 hours (unverified).",
        ]);

    /// Pleo.
    pub const PLEO: Scheme = svix("pleo").docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// Polar.
    pub const POLAR: Scheme = STANDARD_WEBHOOKS
        .named("polar")
        .secret(SecretFormat::Text)
        .docs("https://www.npmjs.com/package/@polar-sh/sdk", Evidence::OfficialSdk)
        .notes(&["The key is the whole text of the secret with its `polar_whs_`, not base64."]);

    /// PsiFi.
    pub const PSIFI: Scheme = svix("psifi").docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// Render.
    pub const RENDER: Scheme = standard("render")
        .docs(SVIX_SOURCES, Evidence::ThirdParty)
        .notes(&[BOTH, TYPE]);

    /// Replicate.
    pub const REPLICATE: Scheme = STANDARD_WEBHOOKS
        .named("replicate")
        .event_type(Source::Json("/status"))
        .retry_horizon(Duration::from_secs(60 * 60))
        .docs(
            "https://replicate.com/docs/topics/webhooks/verify-webhook",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "There is no event type; the prediction's status stands for it.",
            "The Node SDK does not look at the time, and the Python SDK only when told to.",
            "The delivery of a final state is retried for about a minute, others are not (unverified).",
        ]);

    /// Resend.
    pub const RESEND: Scheme = SVIX
        .named("resend")
        .docs(
            "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
            Evidence::OfficialSdk,
        )
        .notes(&["Signatures of version v1a are made with a public key and skipped here.", RETRIES]);

    /// SafeBase.
    pub const SAFEBASE: Scheme = svix("safebase").docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// Sardine.
    pub const SARDINE: Scheme = svix("sardine").docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// ShipBob.
    pub const SHIPBOB: Scheme = standard("shipbob")
        .event_type(Source::Header("x-webhook-topic"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&["The topic is in an unsigned header.", BOTH]);

    /// Stytch.
    pub const STYTCH: Scheme = svix("stytch")
        .event_type(Source::Json("/action"))
        .docs(SVIX_SOURCES, Evidence::ThirdParty);

    /// Supabase Auth hooks.
    pub const SUPABASE_AUTH_HOOK: Scheme = Scheme { event_type: None, ..STANDARD_WEBHOOKS }
        .named("supabase-auth-hook")
        .secret(SecretFormat::Base64 { prefix: "v1,whsec_" })
        .docs("https://supabase.com/docs/guides/auth/auth-hooks", Evidence::ThirdParty)
        .notes(&[
            "The secret is shown as `v1,whsec_` and base64; where several stand with `|` between \
             them, give each by itself.",
            "The hook waits for its answer: what the body of the answer says counts.",
        ]);
}
