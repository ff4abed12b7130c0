//! Bytes from a fuzzer as requests and times, and back, so that seeds can be written.

use arbitrary::{Arbitrary, Result, Unstructured};
use hookproof::scheme::{Scheme, Stamp, Unit};
use serde_json::{Value, json};
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset, format_description::well_known::Rfc3339};

use crate::senders::{Key, Sender, sender};

/// A length in two bytes, and that many bytes or as many as there are.
pub fn bytes<'a>(input: &mut Unstructured<'a>) -> Result<&'a [u8]> {
    let length = usize::from(u16::arbitrary(input)?).min(input.len());
    input.bytes(length)
}

/// Microseconds since 1970 in eight bytes, cut down to what dates are written for, and an offset
/// from UTC in quarters of an hour.
pub fn moment(input: &mut Unstructured<'_>) -> Result<OffsetDateTime> {
    let micros = i64::arbitrary(input)?;
    let quarters = i8::arbitrary(input)?;
    let end = if micros < 0 {
        PrimitiveDateTime::MIN
    } else {
        PrimitiveDateTime::MAX
    };
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1000)
        .unwrap_or(end.assume_utc());
    let offset = UtcOffset::from_whole_seconds(i32::from(quarters) * 900);
    Ok(offset
        .ok()
        .and_then(|offset| at.checked_to_offset(offset))
        .unwrap_or(at))
}

/// A JSON body, with the time of sending where the scheme looks for it.
pub fn json_body(scheme: &Scheme, at: OffsetDateTime, data: Value) -> Vec<u8> {
    let mut body = json!({"id": "evt_1", "type": "a.b", "data": data});
    if let Some((Stamp::Json(pointer), unit)) = scheme.timestamp_source() {
        let mut place = &mut body;
        for name in pointer.split('/').skip(1) {
            place = &mut place[name];
        }
        *place = match unit {
            Unit::Seconds | Unit::SecondsOrMillis => at.unix_timestamp().into(),
            Unit::DateTimeUtc => {
                let text = at.format(&Rfc3339).expect("a usual time");
                text.trim_end_matches('Z').into()
            }
            Unit::Millis => Value::from((at.unix_timestamp_nanos() / 1_000_000) as i64),
            _ => at.format(&Rfc3339).expect("a usual time").into(),
        };
    }
    body.to_string().into()
}

/// A request to one of the [`SENDERS`](crate::senders::SENDERS), in few bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The tag of the sender.
    pub sender: u32,
    /// Bit 0: all keys are in the ring, else the first only. Bit 1: the right signature is put in
    /// before verification, by the key that bits 2 and 3 choose, changed as bits 5 to 7 say. Bit 4: into the last
    /// header that may hold it, instead of the first.
    pub flags: u8,
    /// The receiver's clock.
    pub now: OffsetDateTime,
    /// Index into the sender's header names (bit 7: in upper case), and value.
    pub headers: Vec<(u8, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Bit 0 of [`Request::flags`].
pub const ALL_KEYS: u8 = 1;
/// Bit 1 of [`Request::flags`].
pub const ENDORSE: u8 = 2;
/// Bit 4 of [`Request::flags`].
pub const LAST_HEADER: u8 = 1 << 4;
/// Bits 5 to 7 of [`Request::flags`]: the right signature is written in upper case.
pub const UPPER_CASE: u8 = 1 << 5;
/// Bits 5 to 7 of [`Request::flags`]: the right signature lacks its end.
pub const CUT_SHORT: u8 = 2 << 5;
/// Bits 5 to 7 of [`Request::flags`]: the right signature goes on.
pub const TOO_LONG: u8 = 3 << 5;
/// Bits 5 to 7 of [`Request::flags`]: the right signature goes before the others of a list.
pub const IN_FRONT: u8 = 4 << 5;
/// Bit 7 of a header's index.
const UPPER: u8 = 0x80;

impl Request {
    /// Reads what [`Request::to_bytes`] writes. Any bytes are some request.
    pub fn read(data: &[u8]) -> Result<Self> {
        let mut input = Unstructured::new(data);
        let sender = u32::arbitrary(&mut input)?;
        let [flags, count] = <[u8; 2]>::arbitrary(&mut input)?;
        let now = moment(&mut input)?;
        let headers = (0..count % 32)
            .map(|_| Ok((u8::arbitrary(&mut input)?, bytes(&mut input)?.to_vec())))
            .collect::<Result<_>>()?;
        let body = input.take_rest().to_vec();
        Ok(Self {
            sender,
            flags,
            now,
            headers,
            body,
        })
    }

    /// The bytes that are read as this request, if its time is in UTC and in whole microseconds.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = u8::try_from(self.headers.len()).expect("few headers");
        let micros = i64::try_from(self.now.unix_timestamp_nanos() / 1000).expect("a usual time");
        let mut data = self.sender.to_le_bytes().to_vec();
        data.extend([self.flags, count]);
        data.extend(micros.to_le_bytes());
        data.push(0);
        for (name, value) in &self.headers {
            data.push(*name);
            data.extend(
                u16::try_from(value.len())
                    .expect("a short value")
                    .to_le_bytes(),
            );
            data.extend(value);
        }
        data.extend(&self.body);
        data
    }

    /// Whose request it is.
    pub fn sender(&self) -> &'static Sender {
        sender(self.sender)
    }

    /// The key that bits 2 and 3 of the flags choose.
    pub fn key(&self) -> &'static Key {
        let keys = &self.sender().keys;
        &keys[usize::from(self.flags >> 2 & 3) % keys.len()]
    }

    /// The right signature, changed as bits 5 to 7 of the flags say.
    pub fn change(&self, mut signature: Vec<u8>) -> Vec<u8> {
        match self.flags & 7 << 5 {
            UPPER_CASE => signature.make_ascii_uppercase(),
            // Four letters of base64 are three bytes, so that the rest can be decoded.
            CUT_SHORT => signature.truncate(signature.len().saturating_sub(4)),
            TOO_LONG => signature.extend_from_slice(b"0000"),
            _ => {}
        }
        signature
    }

    /// The headers under their names.
    pub fn named_headers(&self) -> Vec<(String, Vec<u8>)> {
        let names = &self.sender().names;
        let name = |index: u8| {
            let name = &names[usize::from(index & !UPPER) % names.len()];
            match index & UPPER {
                0 => name.clone(),
                _ => name.to_ascii_uppercase(),
            }
        };
        let headers = self.headers.iter();
        headers
            .map(|(index, value)| (name(*index), value.clone()))
            .collect()
    }
}
