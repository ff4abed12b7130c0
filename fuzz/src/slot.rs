//! The header parser, against a naive one.

use std::sync::LazyLock;

use arbitrary::{Arbitrary as _, Result, Unstructured};
use hookproof::scheme::{ALL, Part, Scheme, Shape, Slot, Stamp};

use crate::{oracle, own, senders::tag};

/// Every header slot of every scheme, once.
pub static SLOTS: LazyLock<Vec<Slot>> = LazyLock::new(|| {
    let mut slots: Vec<Slot> = Vec::new();
    for slot in ALL.iter().chain(own::ALL).flat_map(|scheme| of(scheme)) {
        if slot.is_header() && !slots.contains(&slot) {
            slots.push(slot);
        }
    }
    slots
});

/// The slots of one scheme.
pub fn of(scheme: &Scheme) -> Vec<Slot> {
    let stamp = scheme.timestamp_source().map(|(stamp, _)| stamp);
    let parts = scheme.parts().iter();
    let mut slots: Vec<Slot> = scheme.signature_slot().into_iter().collect();
    slots.extend(scheme.more_signature_slots());
    slots.extend(stamp.and_then(|stamp| match stamp {
        Stamp::Slot(slot) => Some(slot),
        _ => None,
    }));
    slots.extend(parts.filter_map(|part| match part {
        Part::Header(slot) => Some(*slot),
        _ => None,
    }));
    slots
}

/// Prefixes of slots that are no catalogue row's.
const PREFIXES: [&str; 6] = ["", "v1=", "=", ",", " ", "sha256="];

fn tag_of(slot: &Slot) -> u32 {
    tag(&format!("{} {}", slot.name(), slot.fixed_prefix()))
}

/// A scheme's slot by its tag, or a list of any separator, and a header value.
fn read(data: &[u8]) -> Result<(Slot, &[u8])> {
    let mut input = Unstructured::new(data);
    let slot = if bool::arbitrary(&mut input)? {
        let [separator, prefix] = <[u8; 2]>::arbitrary(&mut input)?;
        let prefix = PREFIXES[usize::from(prefix) % PREFIXES.len()];
        Slot::header("X-Own").list(separator).prefix(prefix)
    } else {
        let tag = u32::arbitrary(&mut input)?;
        let next = SLOTS
            .iter()
            .min_by_key(|slot| tag_of(slot).wrapping_sub(tag));
        *next.expect("some scheme has slots")
    };
    Ok((slot, input.take_rest()))
}

/// The input that reads as a scheme's slot and a header value.
pub fn seed(slot: &Slot, value: &[u8]) -> Vec<u8> {
    [&[0][..], &tag_of(slot).to_le_bytes(), value].concat()
}

/// The input that reads as a list with any separator, and a header value.
pub fn seed_of_list(separator: u8, value: &[u8]) -> Vec<u8> {
    [&[1, separator, 0], value].concat()
}

/// Target: [`Slot::items`] and [`Slot::single`] over any header value.
pub fn slot(data: &[u8]) {
    let Ok((slot, value)) = read(data) else {
        return;
    };
    let items: Vec<&[u8]> = slot.items(value).take(value.len() + 2).collect();
    assert_eq!(
        items,
        oracle::cut(slot, value),
        "not what a naive parser finds"
    );
    assert!(items.len() <= value.len() + 1, "more items than bytes");
    let single = (items.len() == 1).then(|| items[0]);
    assert_eq!(slot.single(value), single);
    if !is_plain(slot) {
        return;
    }
    // Each item lies in the value, behind the prefix, and after the item before it.
    let mut end = value.as_ptr() as usize;
    for item in items {
        let prefix = slot.fixed_prefix().as_bytes();
        let start = item.as_ptr() as usize;
        assert!(
            start >= end + prefix.len(),
            "overlaps, or has no room for the prefix"
        );
        end = start + item.len();
        let at = start - value.as_ptr() as usize;
        assert_eq!(value.get(at..at + item.len()), Some(item));
        assert_eq!(&value[at - prefix.len()..at], prefix);
        assert!(
            slot.separator()
                .is_none_or(|separator| !item.contains(&separator))
        );
    }
}

/// Whether values stand right behind a prefix that has one spelling.
fn is_plain(slot: Slot) -> bool {
    let mut plain = Slot::header(slot.name()).prefix(slot.fixed_prefix());
    if let Some(separator) = slot.separator() {
        plain = plain.list(separator);
    }
    plain.shape(Shape::Any) == slot.shape(Shape::Any)
}
