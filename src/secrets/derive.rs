//! Keys that are made of the secret and other texts.

use zeroize::Zeroizing;

use crate::{scheme::Part, verify::transformed};

use super::SecretFault;

type Settings = [(&'static str, Box<str>)];

/// The key that `parts` describe; `None` where it is the secret itself.
pub(crate) fn derive(
    parts: &[Part],
    secret: &[u8],
    settings: &Settings,
) -> Result<Option<Zeroizing<Vec<u8>>>, SecretFault> {
    if parts.is_empty() {
        return Ok(None);
    }
    write(parts, secret, settings).map(Some)
}

fn write(
    parts: &[Part],
    secret: &[u8],
    settings: &Settings,
) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    let mut out = Zeroizing::new(Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => out.extend_from_slice(text.as_bytes()),
            Part::Secret => out.extend_from_slice(secret),
            Part::Setting(name) => {
                let setting = settings.iter().find(|(known, _)| known == name);
                let (_, value) = setting.ok_or(SecretFault::MissingSetting(name))?;
                out.extend_from_slice(value.as_bytes());
            }
            Part::Of(how, inner) => {
                let mut inner = write(inner, secret, settings)?;
                let inner = std::mem::take(&mut *inner);
                let made = transformed(*how, inner).ok_or(SecretFault::Undecodable)?;
                out.extend_from_slice(&Zeroizing::new(made));
            }
            // The check of the scheme refuses all others.
            _ => return Err(SecretFault::Undecodable),
        }
    }
    Ok(out)
}
