//! What a signature after RFC 9421 must cover and say, as data.

use super::{Encoding, KeySource, Mac, Scheme, SchemeError, Slot, Stamp, Unit};

/// Most components that one signature may cover.
pub const MAX_COMPONENTS: usize = 32;

/// Most labels of one request whose signatures are tried.
pub const MAX_LABELS: usize = 4;

/// The field that holds the signatures' bytes.
pub(crate) const SIGNATURE: &str = "Signature";

/// The field that says what each signature covers.
pub(crate) const SIGNATURE_INPUT: &str = "Signature-Input";

/// The component that stands for the body.
pub(crate) const CONTENT_DIGEST: &str = "content-digest";

/// The derived components that are read here, all of the request (RFC 9421 §2.2).
pub(crate) const DERIVED: &[&str] = &[
    "@method",
    "@target-uri",
    "@authority",
    "@scheme",
    "@request-target",
    "@path",
    "@query",
];

/// The parameters of a signature that are read here (RFC 9421 §2.3). Others are signed like these,
/// and say nothing.
const PARAMETERS: &[&str] = &["created", "expires", "nonce", "alg", "keyid", "tag"];

/// What an HTTP message signature (RFC 9421) must cover and say to be accepted.
///
/// The sender chooses what it signs and writes that in `Signature-Input`; a signature over less
/// than a receiver relies on is authentic and worthless. So a rule names the components without
/// which a signature does not count. The body is one of them unless that is given up by name: it
/// is covered through `Content-Digest` (RFC 9530), which must be among the components and is
/// computed anew from the raw body. `created` must always be there, and is judged like any
/// timestamp of a scheme.
///
/// The algorithm is the scheme's own ([`Mac`]); an `alg` parameter may agree with it and never
/// chooses it.
///
/// ```
/// use hookproof::scheme::{HttpSignature, IdSource, Mac, Scheme, SecretFormat};
///
/// const ACME_RULE: HttpSignature = HttpSignature::new(&["@method", "@target-uri", "acme-event-id"])
///     .tag("acme-webhook")
///     .parameters(&["keyid"]);
///
/// const ACME: Scheme = Scheme::new("acme", Mac::HmacSha256)
///     .http_signature(&ACME_RULE)
///     .secret(SecretFormat::Base64 { prefix: "" })
///     .id(IdSource::Header("acme-event-id"));
///
/// assert!(ACME.check().is_ok());
/// assert!(ACME.coverage().body && ACME.coverage().timestamp && ACME.coverage().id);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpSignature {
    components: &'static [&'static str],
    parameters: &'static [&'static str],
    body: bool,
    label: Option<&'static str>,
    tag: Option<&'static str>,
}

impl HttpSignature {
    /// The components that a signature must cover, as they are written in `Signature-Input`: names
    /// of fields in lower case, and of `@method`, `@target-uri`, `@authority`, `@scheme`,
    /// `@request-target`, `@path` and `@query`. `content-digest` comes by itself. What is derived
    /// from the URL may be covered by other components that determine it: `@target-uri` by
    /// `@scheme`, `@authority`, `@path` and `@query` together, and each of these by it.
    pub const fn new(components: &'static [&'static str]) -> Self {
        Self {
            components,
            parameters: &[],
            body: true,
            label: None,
            tag: None,
        }
    }

    /// Parameters that a signature must have beside `created`: any of `expires`, `nonce`, `alg`,
    /// `keyid` and `tag`.
    #[must_use]
    pub const fn parameters(self, parameters: &'static [&'static str]) -> Self {
        Self { parameters, ..self }
    }

    /// Only the signature of this label counts. Else any that verifies does.
    #[must_use]
    pub const fn label(self, label: &'static str) -> Self {
        Self {
            label: Some(label),
            ..self
        }
    }

    /// Only signatures with this `tag` parameter count, so that what the same key signed for
    /// another purpose does not. Without it, any tag and none will do.
    #[must_use]
    pub const fn tag(self, tag: &'static str) -> Self {
        Self {
            tag: Some(tag),
            ..self
        }
    }

    /// Accepts signatures that do not cover the body. Whoever holds one captured request can then
    /// send any body with it.
    #[must_use]
    pub const fn danger_body_not_covered(self) -> Self {
        Self {
            body: false,
            ..self
        }
    }

    /// The components given to [`new`](Self::new).
    pub const fn components(&self) -> &'static [&'static str] {
        self.components
    }

    /// The parameters that must be there beside `created`.
    pub const fn needed_parameters(&self) -> &'static [&'static str] {
        self.parameters
    }

    /// The one label that counts, if only one does.
    pub const fn only_label(&self) -> Option<&'static str> {
        self.label
    }

    /// The tag that must be there, if one must.
    pub const fn needed_tag(&self) -> Option<&'static str> {
        self.tag
    }

    /// Whether the body must be covered.
    pub const fn covers_body(&self) -> bool {
        self.body
    }

    /// The required component of this name; field names are compared without regard to case.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let listed = self.components.iter();
        (self.body && name.eq_ignore_ascii_case(CONTENT_DIGEST))
            || listed.into_iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// The first thing that is wrong with it.
    fn fault(&self) -> Option<&'static str> {
        let component = |name: &&str| match name.strip_prefix('@') {
            Some(_) => DERIVED.contains(name),
            None => is_field_name(name),
        };
        let parameter = |name: &&str| PARAMETERS.contains(name);
        let text = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if self.components.is_empty() && !self.body {
            Some("it requires no component")
        } else if self.components.len() >= MAX_COMPONENTS {
            Some("it requires too many components")
        } else if !self.components.iter().all(component) {
            Some("a required component is unknown or not in lower case")
        } else if !self.parameters.iter().all(parameter) {
            Some("a required parameter is unknown")
        } else if !self.label.into_iter().chain(self.tag).all(text) {
            Some("its label or tag is empty or not visible ASCII")
        } else {
            None
        }
    }
}

/// Whether a component's name is that of a field: a token (RFC 9110 §5.6.2) in lower case.
pub(crate) fn is_field_name(name: &str) -> bool {
    let token = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
    };
    !name.is_empty() && name.bytes().all(token)
}

impl Mac {
    /// The algorithm's name in the registry of RFC 9421 §6.2.2, if it is there.
    pub const fn http_signature_name(self) -> Option<&'static str> {
        match self {
            Mac::HmacSha256 => Some("hmac-sha256"),
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => Some("ed25519"),
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Raw => Some("ecdsa-p256-sha256"),
            #[cfg(feature = "rsa")]
            Mac::RsaPssSha512 => Some("rsa-pss-sha512"),
            #[cfg(feature = "rsa")]
            Mac::RsaSha256 => Some("rsa-v1_5-sha256"),
            _ => None,
        }
    }
}

impl Scheme {
    /// Signatures after RFC 9421, and what they must cover. Says all at once where signature,
    /// time and content are, so no other builder of those goes with it.
    #[must_use]
    pub const fn http_signature(self, rule: &'static HttpSignature) -> Self {
        Self {
            http_signature: Some(rule),
            signature: Some(Slot::header(SIGNATURE)),
            encoding: Encoding::Base64,
            timestamp: Some((Stamp::Created, Unit::Seconds)),
            ..self
        }
    }

    /// What an HTTP message signature must cover, for schemes of that kind.
    pub const fn http_signature_rule(&self) -> Option<&'static HttpSignature> {
        self.http_signature
    }

    /// The rest of [`Scheme::check`] for a scheme with a rule.
    pub(super) fn check_http_signature(&self, rule: &HttpSignature) -> Result<(), SchemeError> {
        let own = self.signature == Some(Slot::header(SIGNATURE))
            && self.encoding == Encoding::Base64
            && self.timestamp == Some((Stamp::Created, Unit::Seconds))
            && self.content.is_empty()
            && self.alternatives.is_empty()
            && self.key_parts.is_empty()
            && self.each.is_none()
            && self.document.is_none()
            && self.earliest == 0
            && self.more_signatures.is_empty()
            && self.key_id.is_none()
            && self.alias.is_none();
        let fault = if !own {
            Some("another builder says where its signature, content, time or key is")
        } else if self.mac.http_signature_name().is_none() {
            Some("its algorithm has no name in RFC 9421")
        } else if matches!(self.keys, KeySource::Url(..)) {
            Some("its keys are fetched, but not by `keyid`")
        } else if self.keys != KeySource::Given && !rule.parameters.contains(&"keyid") {
            Some("its keys are fetched, but `keyid` is not required")
        } else {
            rule.fault()
        };
        fault.map_or(Ok(()), |fault| Err(SchemeError::HttpSignature(fault)))
    }
}
