//! A request on its way to being signed: values are put where the scheme will read them.

#[cfg(feature = "jwt")]
mod token;

use time::OffsetDateTime;

use crate::{
    headers::Headers as _,
    scheme::{
        Condition, HeaderList, KeySource, Mac, Part, Place, Scheme, Shape, Slot, Stamp, walk,
    },
    secrets::{Key, Secret, SecretFault},
    verify::{Composer, Purpose, Reader, Request, lower_hex},
};

use super::{SignError, Signed, json, text};

/// What a value is that nobody gave.
const FILLER: &str = "test-1";

/// The same in the shape that a slot asks for.
fn filler(slot: &Slot) -> String {
    match slot.value_shape() {
        Shape::DateTime => "1970-01-01T00:00:00".into(),
        Shape::Digits => "1".into(),
        Shape::Flag => "true".into(),
        _ => FILLER.into(),
    }
}

pub(super) fn sign(
    scheme: &'static Scheme,
    secret: &Secret,
    at: OffsetDateTime,
    request: &Signed,
) -> Result<Signed, SignError> {
    scheme.check().map_err(SignError::Scheme)?;
    let public = public(scheme, secret)?;
    let key = Key::signing(scheme, secret, public).map_err(SignError::Secret)?;
    // The first of the contents that this request can be made to fit.
    let mut attempts = scheme.contents().map(|parts| {
        let mut draft = Draft {
            scheme,
            key: &key,
            signed: request.clone(),
        };
        draft.fill(parts, at)?;
        #[cfg(feature = "jwt")]
        if let Some(rules) = scheme.token_rules() {
            return draft.finish_token(rules, parts, secret, at);
        }
        draft.finish(parts, secret)
    });
    let mut outcome = attempts.next().unwrap_or(Err(SignError::Body));
    while outcome.is_err() {
        match attempts.next() {
            Some(next) => outcome = next.or(outcome),
            None => return outcome,
        }
    }
    outcome
}

/// The public key to a private one.
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
fn public(scheme: &Scheme, secret: &Secret) -> Result<Option<String>, SignError> {
    if !scheme.mac().is_public_key() {
        return Ok(None);
    }
    let private = std::str::from_utf8(secret.expose());
    let private = private.map_err(|_| SignError::Secret(SecretFault::Undecodable))?;
    super::super::keys::public_key_of(scheme, private).map(Some)
}

#[cfg(not(any(feature = "ed25519", feature = "ecdsa", feature = "rsa")))]
fn public(_: &Scheme, _: &Secret) -> Result<Option<String>, SignError> {
    Ok(None)
}

/// The signature over bytes, for those who put them together themselves.
#[cfg(feature = "http-signatures")]
pub(super) fn signature(
    scheme: &'static Scheme,
    secret: &Secret,
    content: &[u8],
) -> Result<Vec<u8>, SecretFault> {
    #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
    if scheme.mac().is_public_key() {
        return super::super::keys::sign(scheme.mac(), secret.expose(), &[content]);
    }
    let key = Key::signing(scheme, secret, None)?;
    Ok(key.mac.compute(&[content]).as_slice().to_vec())
}

struct Draft<'k> {
    scheme: &'static Scheme,
    key: &'k Key,
    signed: Signed,
}

impl Draft<'_> {
    /// Puts in place whatever is read before the signature is.
    fn fill(&mut self, parts: &'static [Part], at: OffsetDateTime) -> Result<(), SignError> {
        for prefix in self.elements()? {
            if let Some((Stamp::Slot(slot), unit)) = self.scheme.timestamp_source()
                && self.absent(&prefix, &slot)
            {
                let time = text::time(at, unit).ok_or(SignError::Time)?;
                self.put(&prefix, &slot, &time)?;
            }
            let mut wanted: Vec<(Slot, String)> = Vec::new();
            let mut lists: Vec<HeaderList> = Vec::new();
            let setting = |name| self.key.setting(name).unwrap_or_default().to_owned();
            let digest = || {
                use sha2::{Digest as _, Sha256};
                lower_hex(&Sha256::digest(&self.signed.body))
            };
            walk(parts, &mut |part| match part {
                Part::Header(slot) | Part::Value(slot) => wanted.push((*slot, filler(slot))),
                Part::JsonText(pointer) => wanted.push((Slot::json(pointer), FILLER.into())),
                Part::HeaderList(list) => lists.push(*list),
                Part::Require(Condition::Equals(slot, value)) => {
                    wanted.push((*slot, (*value).into()));
                }
                Part::Require(Condition::EqualsSetting(slot, name)) => {
                    wanted.push((*slot, setting(name)));
                }
                Part::Require(Condition::BodySha256(slot)) => wanted.push((*slot, digest())),
                _ => {}
            });
            if let KeySource::Url(slot, [rule, ..]) = self.scheme.key_source() {
                wanted.push((slot, rule.example()));
            }
            for (slot, value) in wanted {
                if slot.place() != Place::Body && self.absent(&prefix, &slot) {
                    self.put(&prefix, &slot, &value)?;
                }
            }
            for list in lists {
                self.list(&prefix, &list)?;
            }
        }
        Ok(())
    }

    /// Signs what is in place now.
    fn finish(mut self, parts: &'static [Part], secret: &Secret) -> Result<Signed, SignError> {
        let slot = self.scheme.signature_slot().ok_or(SignError::Body)?;
        for (index, prefix) in self.elements()?.into_iter().enumerate() {
            let content = self.content(parts, index)?;
            let proof = self.proof(&content, secret).map_err(SignError::Secret)?;
            let proof = text::signature(self.scheme.encoding(), &proof);
            self.put(&prefix, &slot, &proof)?;
        }
        Ok(self.signed)
    }

    fn proof(&self, content: &[u8], secret: &Secret) -> Result<Vec<u8>, SecretFault> {
        match self.scheme.mac() {
            Mac::Token => Ok(crate::secrets::decode(self.scheme, secret.expose())?.to_vec()),
            #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
            mac if mac.is_public_key() => {
                super::super::keys::sign(mac, secret.expose(), &[content])
            }
            _ => Ok(self.key.mac.compute(&[content]).as_slice().to_vec()),
        }
    }

    fn content(&self, parts: &'static [Part], index: usize) -> Result<Vec<u8>, SignError> {
        // A token signs nothing, not even that its element is there.
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let whole = Request {
            reader: Reader::unsigned(self.scheme, &self.signed),
            body: &self.signed.body,
            element: None,
        };
        let elements = whole.elements().map_err(|_| SignError::Body)?;
        let composer = Composer {
            request: *elements.get(index).ok_or(SignError::Body)?,
            key: Some(self.key),
            purpose: Purpose::Sign,
        };
        composer.content(parts).map_err(|_| SignError::Body)
    }

    /// Pointers to the elements that are signed one by one; of a body that has none, one is made.
    fn elements(&self) -> Result<Vec<String>, SignError> {
        let Some(pointer) = self.scheme.each_element() else {
            return Ok(vec![String::new()]);
        };
        let count = json::length(&self.signed.body, pointer)?.max(1);
        Ok((0..count)
            .map(|index| format!("{pointer}/{index}"))
            .collect())
    }

    fn absent(&self, prefix: &str, slot: &Slot) -> bool {
        if !prefix.is_empty() && slot.place() == Place::Json {
            let pointer = format!("{prefix}{}", slot.name());
            return json::lacks(&self.signed.body, &pointer);
        }
        let request = Request {
            reader: Reader::unsigned(self.scheme, &self.signed),
            body: &self.signed.body,
            element: None,
        };
        match request.single(slot) {
            Ok(value) => value.is_none(),
            // In a list of which other items are there already.
            Err(_) => slot.separator().is_some() || slot.inner_pointer().is_some(),
        }
    }

    fn put(&mut self, prefix: &str, slot: &Slot, value: &str) -> Result<(), SignError> {
        match slot.place() {
            Place::Header => {
                self.put_header(slot, value);
                Ok(())
            }
            Place::Query => {
                let mark = if self.signed.url.contains('?') {
                    '&'
                } else {
                    '?'
                };
                self.signed.url.push(mark);
                self.signed.url.push_str(&pair(slot, value));
                Ok(())
            }
            Place::Form | Place::Param => self.put_form(slot.name(), &item(slot, value)),
            Place::Json => self.put_json(prefix, slot, value),
            Place::Body => {
                self.signed.body = item(slot, value).into_bytes();
                Ok(())
            }
        }
    }

    fn put_header(&mut self, slot: &Slot, value: &str) {
        let name = slot.name();
        let mut known = self.signed.headers.iter_mut();
        let known = known.find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some(pointer) = slot.inner_pointer() {
            let old = known
                .as_ref()
                .map(|(_, value)| value.as_str())
                .unwrap_or_default();
            let new = json::with_encoded(old, pointer, value);
            match known {
                Some((_, old)) => *old = new,
                None => self.signed.headers.push((name.to_owned(), new)),
            }
            return;
        }
        match known {
            Some((_, list)) => {
                list.push(char::from(slot.separator().unwrap_or(b',')));
                list.push_str(&item(slot, value));
            }
            None => {
                let value = format!("{}{}", slot.list_prefix(), item(slot, value));
                self.signed.headers.push((name.to_owned(), value));
            }
        }
    }

    fn put_form(&mut self, name: &str, value: &str) -> Result<(), SignError> {
        if self.signed.lookup("Content-Type") == crate::headers::Lookup::Absent {
            let form = "application/x-www-form-urlencoded".to_owned();
            self.signed.headers.push(("Content-Type".to_owned(), form));
        }
        if !self.signed.body.is_empty() {
            self.signed.body.push(b'&');
        }
        let pair = format!("{}={}", escape(name), escape(value));
        self.signed.body.extend_from_slice(pair.as_bytes());
        Ok(())
    }

    fn put_json(&mut self, prefix: &str, slot: &Slot, value: &str) -> Result<(), SignError> {
        let pointer = format!("{prefix}{}", slot.name());
        self.signed.body = json::with(&self.signed.body, &pointer, &item(slot, value))?;
        Ok(())
    }

    /// Lists every header that is there.
    fn list(&mut self, prefix: &str, list: &HeaderList) -> Result<(), SignError> {
        if !self.absent(prefix, &list.names) {
            return Ok(());
        }
        let slot = list.names;
        let own = if list.with_names {
            vec![slot.name().to_ascii_lowercase()]
        } else {
            Vec::new()
        };
        let names = self
            .signed
            .headers
            .iter()
            .map(|(name, _)| name.to_ascii_lowercase());
        // Those that the list itself shares a header with cannot sign themselves.
        let names = names.filter(|name| !name.eq_ignore_ascii_case(slot.name()));
        let names: Vec<String> = names.chain(own).collect();
        let between = if slot.fixed_prefix().is_empty() {
            ","
        } else {
            " "
        };
        self.put(prefix, &slot, &names.join(between))
    }
}

/// A value with what the slot cuts off again.
fn item(slot: &Slot, value: &str) -> String {
    let mark = slot.mark().map(|mark| format!("key{}", char::from(mark)));
    format!("{}{}{value}", slot.fixed_prefix(), mark.unwrap_or_default())
}

fn pair(slot: &Slot, value: &str) -> String {
    format!("{}={}", escape(slot.name()), escape(&item(slot, value)))
}

/// `application/x-www-form-urlencoded`, with every other byte escaped.
fn escape(text: &str) -> String {
    let one = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(one).collect()
}
