//! Writing times and signatures as providers do.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    scheme::{Encoding, Unit},
    verify::encode,
};

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
    String::from_utf8_lossy(&encode(encoding, tag)).into_owned()
}
