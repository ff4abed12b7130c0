//! Tokens that say what their scheme's rules ask for.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::{Draft, FILLER};
use crate::{
    scheme::{ClaimRule, Encoding, Jwt, Part, Stamp},
    secrets::Secret,
    testing::{SignError, Signed},
    verify::lower_hex,
};

/// Seconds between the time of sending and `exp`.
const LIFETIME: i64 = 60;

impl Draft<'_> {
    /// Signs what is in place now with a token. Settings are the secret's.
    pub(super) fn finish_token(
        mut self,
        rules: &Jwt,
        parts: &'static [Part],
        secret: &Secret,
        at: OffsetDateTime,
    ) -> Result<Signed, SignError> {
        let slot = self.scheme.signature_slot().ok_or(SignError::Body)?;
        let header = encoded(&self.header(secret)?);
        let payload = if rules.is_detached() {
            encoded(&self.content(parts, 0)?)
        } else {
            encoded(self.claims(rules, at)?.as_bytes())
        };
        let input = format!("{header}.{payload}");
        let proof = self.proof(input.as_bytes(), secret);
        let proof = encoded(&proof.map_err(SignError::Secret)?);
        let token = match rules.is_detached() {
            true => format!("{header}..{proof}"),
            false => format!("{input}.{proof}"),
        };
        self.put("", &slot, &token)?;
        Ok(self.signed)
    }

    /// The key's id goes where the scheme looks for it.
    fn header(&mut self, secret: &Secret) -> Result<Vec<u8>, SignError> {
        let algorithm = self.scheme.mac().jose_name().unwrap_or_default();
        let mut header = Map::new();
        header.insert("alg".into(), algorithm.into());
        match (secret.exposed_key_id(), self.scheme.key_id_slot()) {
            (Some(id), Some(slot)) => self.put("", &slot, id)?,
            (Some(id), None) => drop(header.insert("kid".into(), id.into())),
            (None, _) => {}
        }
        Ok(Value::from(header).to_string().into_bytes())
    }

    /// The claims, as JSON.
    fn claims(&self, rules: &Jwt, at: OffsetDateTime) -> Result<String, SignError> {
        let Signed {
            body, method, url, ..
        } = &self.signed;
        let hash = |encoding, bytes: &[u8]| match encoding {
            Encoding::Base64 => STANDARD.encode(Sha256::digest(bytes)),
            _ => lower_hex(&Sha256::digest(bytes)),
        };
        let mut claims = Map::new();
        if let Some(claim) = rules.data_claim() {
            claims.insert(claim.into(), String::from_utf8_lossy(body).into());
        }
        for rule in rules.claim_rules() {
            let value: Value = match *rule {
                ClaimRule::BodyHash(_, encoding) | ClaimRule::BodyHashUnlessEmpty(_, encoding) => {
                    hash(encoding, body).into()
                }
                ClaimRule::UrlHash(_) => hash(Encoding::Hex, url.as_bytes()).into(),
                ClaimRule::RequestJson(_) => {
                    let text = crate::json::stringify_request(url, method, body);
                    hash(Encoding::Hex, text.ok_or(SignError::Body)?.as_bytes()).into()
                }
                ClaimRule::OneOf(_, texts) => texts.first().copied().into(),
                ClaimRule::Url(_) => url.as_str().into(),
                ClaimRule::Setting(_, name) => self.key.setting(name).into(),
                ClaimRule::True(_) => true.into(),
                ClaimRule::AnyText(_) => FILLER.into(),
            };
            claims.insert(rule.name().into(), value);
        }
        if let Some((Stamp::Claim(name), _)) = self.scheme.timestamp_source() {
            let sent = at.unix_timestamp();
            u64::try_from(sent).map_err(|_| SignError::Time)?;
            claims.insert(name.into(), sent.into());
            if rules.must_expire() {
                claims.insert("exp".into(), sent.saturating_add(LIFETIME).into());
            }
        }
        Ok(Value::from(claims).to_string())
    }
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
