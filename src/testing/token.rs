//! Signing for schemes with token rules.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    scheme::{Bearer, ClaimRule, Encoding, Jwt, Part, Payload, Scheme, Stamp},
    secrets::SecretFault,
};

use super::sign::{SignError, Signed, Signer, signature, write};

/// Seconds between the time of sending and `exp`.
const LIFETIME: i64 = 60;

impl Signer {
    /// A token that says what the rules ask for. Settings are the secret's.
    pub(super) fn sign_token(
        &self,
        scheme: &Scheme,
        rules: &Jwt,
        key: &[u8],
        body: &[u8],
    ) -> Result<Signed, SignError> {
        let mut headers = self.headers.clone();
        let mut header = Map::new();
        let algorithm = scheme.mac().jose_name().unwrap_or_default();
        header.insert("alg".into(), algorithm.into());
        if let Some(id) = self.secret.id() {
            match scheme.key_id_header() {
                Some(name) => headers.push((name.into(), id.into())),
                None => drop(header.insert("kid".into(), id.into())),
            }
        }
        let header = encoded(Value::from(header).to_string().as_bytes());
        let detached = matches!(
            rules.payload_kind(),
            Payload::Detached | Payload::DetachedEncodedBody
        );
        let payload = if detached {
            encoded(&self.content(scheme, rules, body, &mut headers)?)
        } else {
            encoded(self.claims(scheme, rules, body)?.as_bytes())
        };
        let input = format!("{header}.{payload}");
        let tag = signature(scheme.mac(), key, &[input.as_bytes()]).map_err(SignError::Secret)?;
        let shown = if detached { "" } else { &payload };
        let mut token = format!("{header}.{shown}.{}", encoded(&tag));
        let mut body = body.to_vec();
        match (rules.payload_kind(), scheme.signature_slot()) {
            (Payload::WholeBody(_), _) => body = token.into_bytes(),
            (_, Some(slot)) => {
                if rules.bearer_word() == Bearer::Required {
                    token.insert_str(0, "Bearer ");
                }
                headers.push((slot.name().into(), token));
            }
            _ => {}
        }
        Ok(Signed {
            headers,
            body,
            method: self.method.clone(),
            url: self.url.clone(),
        })
    }

    /// The claims, as JSON.
    fn claims(&self, scheme: &Scheme, rules: &Jwt, body: &[u8]) -> Result<String, SignError> {
        let mut claims = Map::new();
        let hash = |encoding, bytes: &[u8]| match encoding {
            Encoding::Base64 => STANDARD.encode(Sha256::digest(bytes)),
            _ => hex::encode(Sha256::digest(bytes)),
        };
        if let Payload::WholeBody(claim) = rules.payload_kind() {
            claims.insert(claim.into(), String::from_utf8_lossy(body).into());
        }
        for rule in rules.claim_rules() {
            let value: Value = match *rule {
                ClaimRule::BodyHash(_, encoding) | ClaimRule::BodyHashUnlessEmpty(_, encoding) => {
                    hash(encoding, body).into()
                }
                ClaimRule::UrlHash(_) => hash(Encoding::Hex, self.url.as_bytes()).into(),
                ClaimRule::RequestJson(_) => {
                    let text = crate::json::stringify_request(&self.url, &self.method, body);
                    hash(Encoding::Hex, text.ok_or(SignError::Body)?.as_bytes()).into()
                }
                ClaimRule::OneOf(_, texts) => texts.first().copied().into(),
                ClaimRule::Url(_) => self.url.as_str().into(),
                ClaimRule::Setting(_, name) => {
                    let missing = SignError::Secret(SecretFault::MissingSetting(name));
                    self.secret.given(name).ok_or(missing)?.into()
                }
                ClaimRule::True(_) => true.into(),
                ClaimRule::AnyText(_) => "test-1".into(),
            };
            claims.insert(rule.name().into(), value);
        }
        if let Some((Stamp::Claim(name), _)) = scheme.timestamp_source() {
            let sent = self.at.unix_timestamp();
            u64::try_from(sent).map_err(|_| SignError::Time)?;
            claims.insert(name.into(), sent.into());
            if rules.must_expire() {
                claims.insert("exp".into(), sent.saturating_add(LIFETIME).into());
            }
        }
        Ok(Value::from(claims).to_string())
    }

    /// A detached payload, with the headers that it takes.
    fn content(
        &self,
        scheme: &Scheme,
        rules: &Jwt,
        body: &[u8],
        headers: &mut Vec<(String, String)>,
    ) -> Result<Vec<u8>, SignError> {
        let mut content = Vec::new();
        for part in scheme.parts() {
            match (part, scheme.timestamp_source()) {
                (Part::Text(text), _) => content.extend_from_slice(text.as_bytes()),
                (Part::Method, _) => content.extend_from_slice(self.method.as_bytes()),
                (Part::Url, _) => content.extend_from_slice(self.url.as_bytes()),
                (Part::Body, _) if rules.payload_kind() == Payload::DetachedEncodedBody => {
                    content.extend_from_slice(encoded(body).as_bytes());
                }
                (Part::Body, _) => content.extend_from_slice(body),
                (Part::Timestamp, Some((Stamp::Slot(slot), unit))) => {
                    let stamp = write(self.at, unit).ok_or(SignError::Time)?;
                    content.extend_from_slice(stamp.as_bytes());
                    headers.push((slot.name().into(), stamp));
                }
                (Part::Timestamp | Part::Header(_), _) => {}
            }
        }
        Ok(content)
    }
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
