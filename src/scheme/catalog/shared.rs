//! More constant secrets in a header. Nothing is signed.

use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Stability};

const CLEAR: &str = "The token travels in clear text with every request; nothing is signed.";
const NAMED_BY_YOU: &str = "You choose the header yourself: give it this name.";

/// A token in a header, in requests that have no id outside the body.
const fn token(name: &'static str, slot: Slot) -> Scheme {
    Scheme::new(name, Mac::Token)
        .signature(slot, Encoding::Plain)
        .id(IdSource::None)
        .stability(Stability::None)
}

catalog! {
    /// AssemblyAI.
    pub const ASSEMBLYAI: Scheme = token("assemblyai", Slot::header("X-Webhook-Secret"))
        .event_type(Source::Json("/status"))
        .docs("https://www.assemblyai.com/docs/deployment/webhooks", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            NAMED_BY_YOU,
            "The body holds an id and a status only; fetch the transcript itself through the API.",
        ]);

    /// Auth0 log streams.
    pub const AUTH0: Scheme = token("auth0", Slot::header("Authorization"))
        .event_type(Source::Json("/data/type"))
        .docs(
            "https://auth0.com/docs/customize/log-streams/custom-log-streams",
            Evidence::ThirdParty,
        )
        .notes(&[
            CLEAR,
            "The secret is the header's whole value, with `Bearer` if you set it so.",
            "The body may be one object, a list, or an object on each line; `log_id` names each entry.",
        ]);

    /// Buildkite with a token (see [`BUILDKITE`](super::BUILDKITE) for its signatures).
    pub const BUILDKITE_TOKEN: Scheme = token("buildkite-token", Slot::header("X-Buildkite-Token"))
        .provider_name("buildkite")
        .id(IdSource::Header("X-Buildkite-Request"))
        .event_type(Source::Header("X-Buildkite-Event"))
        .docs(
            "https://github.com/buildkite/docs/blob/main/pages/apis/webhooks/_webhook_signature.md",
            Evidence::OfficialDocs,
        )
        .notes(&[CLEAR, "A webhook has either a token or a signature."]);

    /// Helius.
    pub const HELIUS: Scheme = token("helius", Slot::header("Authorization"))
        .event_type(Source::Json("/0/type"))
        .docs("https://www.helius.dev/docs/webhooks", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "The secret is the header's whole value; nothing is put in front of it.",
            "The body is a list of transactions, each named by its `signature`; the type is the first one's.",
        ]);

    /// Hugging Face.
    pub const HUGGINGFACE: Scheme = token("huggingface", Slot::header("X-Webhook-Secret"))
        .event_type(Source::Json("/event/action"))
        .docs("https://huggingface.co/docs/hub/webhooks", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "There is neither an id nor a time; `event.scope` says what the action was done to.",
        ]);

    /// Okta event hooks.
    pub const OKTA: Scheme = token("okta", Slot::header("Authorization"))
        .event_type(Source::Json("/data/events/0/eventType"))
        .docs("https://developer.okta.com/docs/concepts/event-hooks/", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            "The header's name can be changed when the hook is made; this row wants the default.",
            "The hook is first checked by a GET whose x-okta-verification-challenge must be answered.",
            "One request may hold several events, each with a `uuid`; the type is the first one's.",
        ]);

    /// OpenClaw.
    pub const OPENCLAW: Scheme = token("openclaw", Slot::header("Authorization").prefix("Bearer "))
        .more_signatures(&[Slot::header("x-openclaw-token")])
        .event_type(Source::Json("/name"))
        .docs("", Evidence::OfficialDocs)
        .notes(&[
            CLEAR,
            "The token may come in x-openclaw-token instead.",
            "Where the event type is, is from memory (unverified).",
        ]);

    /// RingCentral.
    pub const RINGCENTRAL: Scheme = token("ringcentral", Slot::header("Validation-Token"))
        .event_type(Source::Json("/event"))
        .docs(
            "https://developers.ringcentral.com/guide/notifications/webhooks/receiving",
            Evidence::OfficialDocs,
        )
        .notes(&[
            CLEAR,
            "When a subscription is made, the header must be sent back in the answer (unverified).",
            "Where the event type is, is from memory (unverified).",
        ]);

    /// Supabase database webhooks.
    pub const SUPABASE_DB: Scheme = token("supabase-db", Slot::header("Authorization"))
        .event_type(Source::Json("/type"))
        .docs("https://supabase.com/docs/guides/database/webhooks", Evidence::ThirdParty)
        .notes(&[
            CLEAR,
            NAMED_BY_YOU,
            "The secret is the header's whole value, with `Bearer` if you set it so.",
            "A delivery is tried once and not again.",
        ]);

    /// Telegram bots.
    pub const TELEGRAM: Scheme = token("telegram", Slot::header("X-Telegram-Bot-Api-Secret-Token"))
        .retry_horizon(super::DAY)
        .docs("https://core.telegram.org/bots/api#setwebhook", Evidence::OfficialDocs)
        .notes(&[
            CLEAR,
            "`update_id` names the update and stays over retries, but nothing protects it.",
            "The header is sent only if a secret token was set; a new one is in force at once.",
            "Updates are kept for up to 24 hours (unverified).",
        ]);

    /// Xendit.
    pub const XENDIT: Scheme = token("xendit", Slot::header("x-callback-token"))
        .id(IdSource::Header("webhook-id"))
        .event_type(Source::Json("/event"))
        .docs("https://docs.xendit.co/webhook/getting-started/", Evidence::OfficialDocs)
        .notes(&[CLEAR, "Some kinds of delivery have no `event`; their address tells the type."]);
}
