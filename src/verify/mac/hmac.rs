//! HMAC over the parts of a content.

use hmac::{
    KeyInit,
    digest::{CtOutput, Output, OutputSizeUser},
};

/// Constant-time for signatures of the right length, which is no secret.
pub(super) fn same<M: OutputSizeUser>(tag: &CtOutput<M>, signature: &[u8]) -> bool {
    <&Output<M>>::try_from(signature).is_ok_and(|signature| *tag == CtOutput::from(signature))
}

pub(super) fn keyed<M: KeyInit>(key: &[u8]) -> M {
    // HMAC takes keys of any length (RFC 2104 §2), so the fallback is never used; it is what a
    // crate without panics writes instead of `expect`.
    M::new_from_slice(key).unwrap_or_else(|_| M::new(&hmac::digest::Key::<M>::default()))
}

pub(super) fn run<M: hmac::Mac + Clone>(key: &M, parts: &[&[u8]]) -> CtOutput<M> {
    #[cfg(test)]
    super::COMPUTED.set(super::COMPUTED.get().saturating_add(1));
    let mut mac = key.clone();
    for part in parts {
        mac.update(part);
    }
    mac.finalize()
}
