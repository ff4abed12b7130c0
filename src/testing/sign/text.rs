//! Writing times and signatures as providers do.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::scheme::{Encoding, Unit};

pub(super) fn time(at: OffsetDateTime, unit: Unit) -> Option<String> {
    let millis = at.unix_timestamp_nanos().div_euclid(1_000_000);
    Some(match unit {
        Unit::Seconds => u64::try_from(at.unix_timestamp()).ok()?.to_string(),
        Unit::Millis | Unit::SecondsOrMillis => u64::try_from(millis).ok()?.to_string(),
        Unit::Rfc3339 => at.to_offset(time::UtcOffset::UTC).format(&Rfc3339).ok()?,
        Unit::DateTimeUtc => {
            let text = at.to_offset(time::UtcOffset::UTC).format(&Rfc3339).ok()?;
            text.trim_end_matches('Z').to_owned()
        }
    })
}

pub(super) fn signature(encoding: Encoding, tag: &[u8]) -> String {
    match encoding {
        Encoding::Hex | Encoding::LowerHex => hex(tag),
        Encoding::Base64 => STANDARD.encode(tag),
        Encoding::Base64Url | Encoding::PercentBase64 => URL_SAFE.encode(tag),
        Encoding::HexInBase64 => STANDARD.encode(hex(tag)),
        Encoding::Plain => String::from_utf8_lossy(tag).into_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    crate::verify::lower_hex(bytes)
}
