//! What makes the rules of a token sound.

use super::{ClaimRule, Encoding, Jwt, MAX_PARTS, Part, Place, Scheme, SchemeError, Slot, Stamp};

impl Scheme {
    /// What [`Scheme::check`] asks of a scheme with a token.
    pub(super) fn with_sound_token(&self, rules: &Jwt) -> Result<&Self, SchemeError> {
        let slot = self.signature.ok_or(SchemeError::NoSignature)?;
        self.with_sound_names(rules, &slot)?;
        self.with_pinned_algorithms(rules)?;
        let fault = |what| Err(SchemeError::Token(what));
        let claim_time = matches!(self.timestamp, Some((Stamp::Claim(_), _)));
        if rules.is_detached() {
            if claim_time || rules.must_expire() || !rules.claim_rules().is_empty() {
                return fault("a detached payload has no claims");
            }
            if !self.coverage().body {
                return Err(SchemeError::NothingSigned);
            }
            return self
                .with_features()?
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
        let covered = covered(rules, &slot);
        let same = |part: &Part| self.content.contains(part);
        if self.content.len() != covered.len() || !covered.iter().all(same) {
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
        self.with_features()?.with_sound_pointers()
    }

    fn with_sound_names(&self, rules: &Jwt, slot: &Slot) -> Result<(), SchemeError> {
        let mut names = vec![self.name, self.provider];
        names.extend(self.slots().iter().map(Slot::name));
        names.extend(self.delivery_id_header());
        names.extend(rules.claim_rules().iter().map(ClaimRule::name));
        names.extend(rules.data_claim());
        let visible = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !names.into_iter().all(visible) {
            return Err(SchemeError::Name);
        }
        let whole = slot.place() == Place::Body;
        if !(whole || slot.is_header()) || slot.separator().is_some() {
            return Err(SchemeError::Token("it is a header, or is the body"));
        }
        if rules.data_claim().is_some() != whole || (whole && rules.is_detached()) {
            return Err(SchemeError::Token(
                "a token that is the body carries the data in a claim",
            ));
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
        let several = !self.more_signatures.is_empty()
            || !self.alternatives.is_empty()
            || self.alias.is_some()
            || self.each.is_some()
            || self.document.is_some();
        if several {
            return fault("there is one token, in one place, for one request");
        }
        Ok(())
    }
}

/// What a token with claims covers of a request.
fn covered(rules: &Jwt, slot: &Slot) -> Vec<Part> {
    let mut parts = Vec::new();
    if slot.place() == Place::Body {
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
