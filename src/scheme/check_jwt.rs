//! What makes the rules of a token sound.

use super::{ClaimRule, Encoding, Jwt, MAX_PARTS, Part, Payload, Scheme, SchemeError, Stamp};

impl Scheme {
    /// What [`Scheme::check`] asks of a scheme with a token.
    pub(super) fn with_sound_token(&self, rules: &Jwt) -> Result<&Self, SchemeError> {
        self.with_sound_names(rules)?;
        self.with_pinned_algorithms(rules)?;
        let detached = match rules.payload_kind() {
            Payload::Claims | Payload::WholeBody(_) => false,
            Payload::Detached | Payload::DetachedEncodedBody => true,
        };
        let fault = |what| Err(SchemeError::Token(what));
        let claim_time = matches!(self.timestamp, Some((Stamp::Claim(_), _)));
        if detached {
            if claim_time || rules.must_expire() || !rules.claim_rules().is_empty() {
                return fault("a detached payload has no claims");
            }
            if !self.content.contains(&Part::Body) {
                return Err(SchemeError::NothingSigned);
            }
            return self
                .with_signed_timestamp()?
                .with_sound_pointers()?
                .with_clear_boundaries();
        }
        if self.timestamp.is_some() && !claim_time {
            return Err(SchemeError::UnsignedTimestamp);
        }
        if rules.must_expire() && !claim_time {
            return fault("it expires, but does not say when it was made");
        }
        // The content is what the token covers, and nothing else may be said to be covered.
        let covered = covered(rules);
        if self.content.len() != covered.len() || !covered.iter().all(|p| self.content.contains(p))
        {
            return fault("its content is not what its claims cover");
        }
        for rule in rules.claim_rules() {
            match rule {
                ClaimRule::Setting(_, setting) if !self.settings.contains(setting) => {
                    return fault(
                        "a claim is compared with a setting that the scheme does not need",
                    );
                }
                ClaimRule::BodyHash(_, encoding) | ClaimRule::BodyHashUnlessEmpty(_, encoding)
                    if !matches!(encoding, Encoding::Hex | Encoding::Base64) =>
                {
                    return fault("a hash is hexadecimal or base64");
                }
                _ => {}
            }
        }
        self.with_sound_pointers()
    }

    fn with_sound_names(&self, rules: &Jwt) -> Result<(), SchemeError> {
        let mut names = vec![self.name, self.provider];
        match (self.signature, rules.payload_kind()) {
            (None, Payload::WholeBody(claim)) => names.push(claim),
            (None, _) => return Err(SchemeError::NoSignature),
            (Some(_), Payload::WholeBody(_)) => {
                return Err(SchemeError::Token("it is in a header and is the body too"));
            }
            (Some(slot), _) if slot.separator().is_some() || !slot.fixed_prefix().is_empty() => {
                return Err(SchemeError::Token("its slot is more than a header"));
            }
            (Some(slot), _) => names.push(slot.name()),
        }
        names.extend(self.key_id);
        names.extend(self.delivery_id_header());
        names.extend(rules.claim_rules().iter().map(ClaimRule::name));
        let visible = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !names.into_iter().all(visible) {
            return Err(SchemeError::Name);
        }
        if self.content.len() > MAX_PARTS {
            return Err(SchemeError::TooManyParts);
        }
        Ok(())
    }

    fn with_pinned_algorithms(&self, rules: &Jwt) -> Result<(), SchemeError> {
        let fault = |what| Err(SchemeError::Token(what));
        let all = || std::iter::once(&self.mac).chain(rules.more_algorithms());
        if all().any(|mac| mac.jose_name().is_none()) {
            return fault("an algorithm has no name in JOSE");
        }
        // One key for two public-key algorithms, or a public key for an HMAC, is how tokens are
        // forged.
        if all().count() > 1 && all().any(|mac| mac.is_public_key()) {
            return fault("several algorithms are for HMAC only");
        }
        if self.encoding != Encoding::Base64Url {
            return fault("the encoding is base64url");
        }
        if !self.more_signatures.is_empty() || self.alias.is_some() {
            return fault("there is one token, in one place");
        }
        Ok(())
    }
}

/// What a token covers of a request whose payload is not detached.
fn covered(rules: &Jwt) -> Vec<Part> {
    let mut parts = Vec::new();
    if matches!(rules.payload_kind(), Payload::WholeBody(_)) {
        parts.push(Part::Body);
    }
    for rule in rules.claim_rules() {
        match rule {
            ClaimRule::BodyHash(..) | ClaimRule::BodyHashUnlessEmpty(..) => parts.push(Part::Body),
            ClaimRule::UrlHash(_) => parts.push(Part::Url),
            ClaimRule::RequestJson(_) => parts.extend([Part::Url, Part::Method, Part::Body]),
            _ => {}
        }
    }
    parts
}
