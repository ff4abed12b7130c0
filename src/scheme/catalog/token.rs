//! A constant secret in a header. Nothing is signed.

use super::DAY;
use crate::scheme::{Encoding, Evidence, IdSource, Mac, Scheme, Slot, Source, Stability};

catalog! {
    /// GitLab with the secret token (see [`GITLAB_SIGNING`](super::GITLAB_SIGNING) for its signatures).
    pub const GITLAB: Scheme = Scheme::new("gitlab", Mac::Token)
        .signature(Slot::header("X-Gitlab-Token"), Encoding::Plain)
        .id(IdSource::Header("Idempotency-Key"))
        .event_type(Source::Header("X-Gitlab-Event"))
        .stability(Stability::None)
        .retry_horizon(DAY)
        .docs(
            "https://docs.gitlab.com/user/project/integrations/webhooks/",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The token travels in clear text with every request; body, id and time are not protected.",
            "Idempotency-Key is the same over retries, but unsigned: using it as the event key is a \
             choice to make by name.",
        ]);
}
