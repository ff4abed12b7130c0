//! The signatures of one request.

use crate::scheme::{MAX_PUBLIC_KEY_SIGNATURES, MAX_SIGNATURES, Slot};

use super::{Malformed, Reader, mac};

/// The signatures in a request's headers: not too many, and at least one whose length is right.
pub(super) struct Signatures<'h> {
    reader: Reader<'h>,
    slot: &'static Slot,
    header: Option<&'h [u8]>,
    /// The usual case, which need not be cut out again for every key.
    only: Option<&'h [u8]>,
}

impl<'h> Signatures<'h> {
    /// Refuses, before any hashing, what has too many signatures or none that could be one.
    pub(super) fn read(reader: Reader<'h>) -> Result<Self, Malformed> {
        let scheme = reader.scheme;
        let slot = scheme.signature.as_ref();
        let slot = slot.ok_or(Malformed::NoSignature(""))?;
        let header = reader.optional(slot.name())?;
        let mut signatures = Self {
            reader,
            slot,
            header,
            only: None,
        };
        let mut found = 0_usize;
        let mut plausible = false;
        let mut only = None;
        let mut count = |item| {
            found = found.saturating_add(1);
            plausible |= mac::plausible(scheme.mac(), scheme.encoding(), item);
            only = (found == 1).then_some(item);
        };
        match (header, scheme.more_signatures) {
            (None, []) => return Err(Malformed::MissingHeader(slot.name())),
            (Some(header), []) => slot.items(header).for_each(count),
            (_, more) => {
                let mut missing = header.is_none();
                for item in header.iter().flat_map(|header| slot.items(header)) {
                    count(item);
                }
                for slot in more {
                    if let Some(header) = reader.optional(slot.name())? {
                        missing = false;
                        slot.items(header).for_each(&mut count);
                    }
                }
                if missing {
                    return Err(Malformed::MissingHeader(slot.name()));
                }
            }
        }
        signatures.only = only;
        let most = match scheme.mac().is_public_key() {
            true => MAX_PUBLIC_KEY_SIGNATURES,
            false => MAX_SIGNATURES,
        };
        if found > most {
            Err(Malformed::TooManySignatures(slot.name()))
        } else if plausible {
            Ok(signatures)
        } else {
            Err(Malformed::NoSignature(slot.name()))
        }
    }

    /// The first signature header, which the timestamp may be in as well.
    pub(super) fn first(&self) -> (&'static str, Option<&'h [u8]>) {
        (self.slot.name(), self.header)
    }

    pub(super) fn header_name(&self) -> &'static str {
        self.slot.name()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'h [u8]> {
        let several = match self.only {
            Some(_) => None,
            None => Some(self.cut()),
        };
        self.only.into_iter().chain(several.into_iter().flatten())
    }

    fn cut(&self) -> impl Iterator<Item = &'h [u8]> + use<'h> {
        let (reader, first) = (self.reader, (self.slot, self.header));
        let more = reader.scheme.more_signatures.iter();
        // Looked up again rather than kept, since hardly any scheme has more than one.
        let more = more.map(move |slot| (slot, reader.optional(slot.name()).ok().flatten()));
        std::iter::once(first)
            .chain(more)
            .filter_map(|(slot, header)| Some(slot.items(header?)))
            .flatten()
    }
}
