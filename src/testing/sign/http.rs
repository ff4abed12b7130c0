//! Signing after RFC 9421: the inverse of `verify::http_signature`.

use sfv::{DictSerializer, Integer, KeyRef, StringRef, key_ref};
use sha2::{Digest as _, Sha256};

use super::{SignError, Signed, Signer, draft};
use crate::{
    headers::{Headers, Lookup},
    scheme::{CONTENT_DIGEST, HttpSignature, SIGNATURE, SIGNATURE_INPUT},
    verify::{Reader, base_to_sign},
};

impl Signer {
    /// Signs what the rule requires, or what a `Signature-Input` set with [`Signer::header`] says.
    pub(super) fn sign_http(&self, rule: &HttpSignature, body: &[u8]) -> Result<Signed, SignError> {
        let mut request = Signed {
            headers: self.headers.clone(),
            body: body.to_vec(),
            method: self.method.clone(),
            url: self.url.clone(),
        };
        let digest = one_member("sha-256", &Sha256::digest(body))?;
        let mut defaults = vec![("Content-Digest", digest)];
        for name in rule.components() {
            if *name != CONTENT_DIGEST && !name.starts_with('@') {
                defaults.push((name, "test-1".into()));
            }
        }
        defaults.push((SIGNATURE_INPUT, self.input(rule)?));
        for (name, value) in defaults {
            if request.lookup(name) == Lookup::Absent {
                request.headers.push((name.to_owned(), value));
            }
        }
        let base = base_to_sign(&Reader::new(self.scheme, &request));
        let (label, base) = base.ok_or(SignError::HttpSignature)?;
        let tag = draft::signature(self.scheme, &self.secret, base.as_bytes())
            .map_err(SignError::Secret)?;
        let signature = one_member(&label, &tag)?;
        request.headers.push((SIGNATURE.to_owned(), signature));
        Ok(request)
    }

    /// What a sender that knows the rule would write.
    fn input(&self, rule: &HttpSignature) -> Result<String, SignError> {
        let created = self.at.unix_timestamp();
        if created < 0 {
            return Err(SignError::Time);
        }
        let digest = rule.covers_body().then_some(CONTENT_DIGEST);
        let mut names: Vec<&str> = Vec::new();
        for &name in rule.components().iter().chain(&digest) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut field = DictSerializer::new();
        let mut list = field.inner_list(key(rule.only_label().unwrap_or("sig1"))?);
        for name in names {
            let _ = list.bare_item(text(name)?);
        }
        let mut parameters = list
            .finish()
            .parameter(key_ref("created"), second(created)?);
        let needed = |name: &str| rule.needed_parameters().contains(&name);
        if needed("expires") {
            let expires = second(created.saturating_add(300))?;
            parameters = parameters.parameter(key_ref("expires"), expires);
        }
        let keyid = self.secret.exposed_key_id();
        let texts = [
            ("nonce", needed("nonce").then_some("test-nonce-1")),
            ("keyid", keyid.or(needed("keyid").then_some("test-key"))),
            ("alg", self.scheme.mac().http_signature_name()),
            ("tag", rule.needed_tag().or(needed("tag").then_some("test"))),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                parameters = parameters.parameter(key(name)?, text(value)?);
            }
        }
        let _ = parameters.finish();
        field.finish().ok_or(SignError::HttpSignature)
    }
}

/// A dictionary of one member, `label=:base64:`.
fn one_member(label: &str, bytes: &[u8]) -> Result<String, SignError> {
    let mut field = DictSerializer::new();
    let _ = field.bare_item(key(label)?, bytes).finish();
    field.finish().ok_or(SignError::HttpSignature)
}

fn key(text: &str) -> Result<&KeyRef, SignError> {
    KeyRef::from_str(text).map_err(|_| SignError::HttpSignature)
}

fn text(text: &str) -> Result<&StringRef, SignError> {
    StringRef::from_str(text).map_err(|_| SignError::HttpSignature)
}

fn second(second: i64) -> Result<Integer, SignError> {
    Integer::try_from(second).map_err(|_| SignError::Time)
}
