//! Writes `fuzz/seeds` anew from the vectors: `cargo run --manifest-path fuzz/Cargo.toml --example
//! seeds`. Run it after the catalogue or a vector has changed.

mod everywhere;
mod handshakes;
mod made_up;
mod parsers;
mod rows;

use std::{
    collections::{BTreeMap, HashSet},
    error::Error,
    fs,
    path::Path,
};

use hookproof::scheme::{Part, Scheme, Slot, Stamp};
use hookproof_fuzz::{
    input::Request,
    oracle::Answer,
    senders::{SENDERS, Sender},
    sign_then_verify, slot, vectors, verify,
};

/// Longer bodies would fill the folder and teach a fuzzer nothing.
const MAX_BODY: usize = 512;

/// Inputs of one target by name; equal ones once.
type Seeds = BTreeMap<String, Vec<u8>>;

/// 2027-01-15T08:00:00Z, in seconds.
const NOW: i64 = 1_800_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut slots, mut requests, mut signed) = (Seeds::new(), Seeds::new(), Seeds::new());
    let mut shapes = HashSet::new();
    for sender in SENDERS.iter() {
        // Schemes that differ in names only are read by the same code, so one of them is enough.
        if !shapes.insert(shape(sender.scheme)) {
            continue;
        }
        let scheme = sender.scheme.name();
        let mut add = |name: &str, request: &Request| {
            let answer = verify::judge(request);
            let name = format!("{answer:?}.{scheme}.{name}").to_lowercase();
            requests.insert(name, request.to_bytes());
            answer
        };
        for vector in vectors::of(sender.scheme) {
            let request = vector.request(sender);
            let Some(request) = request.filter(|request| request.body.len() <= MAX_BODY) else {
                continue;
            };
            let answer = add(&vector.name, &request);
            if !vector.agrees(answer) {
                println!(
                    "{scheme} {}: {answer:?}, though {}",
                    vector.name, vector.expect
                );
            }
            if answer == Answer::Accepted {
                let seed = sign_then_verify::seed(sender, vector.now.try_into()?, &request.body);
                signed.insert(scheme.to_owned(), seed);
            }
            add_slots(&mut slots, sender, &vector.name, &request);
        }
        for (name, request) in made_up::all(sender) {
            add(&format!("made-up.{name}"), &request);
        }
        let seed = sign_then_verify::seed(sender, NOW.try_into()?, b"{}");
        signed.insert(format!("{scheme}.short"), seed);
    }
    for (name, separator, value) in [
        ("list.blanks", b' ', "v1,aa  v1,bb\tv1,cc "),
        ("list.commas", b',', " , a,b ,\tc\t,,"),
        ("list.semicolons", b';', "ts=1;h1=aa;h1=bb"),
    ] {
        slots.insert(name.into(), slot::seed_of_list(separator, value.as_bytes()));
    }
    for (target, seeds) in [
        ("slot", slots),
        ("verify", requests),
        ("sign_then_verify", signed),
        ("stored", rows::rows()),
        ("handshake", handshakes::all()?),
        ("anywhere", everywhere::all()),
        ("form", parsers::forms()),
        ("json", parsers::documents()),
        ("token", parsers::tokens()),
        ("http_signature", parsers::http_signatures()),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
        write(&folder.join(target), seeds)?;
    }
    Ok(())
}

/// What a scheme is but for names and fixed text.
fn shape(scheme: &Scheme) -> String {
    let list = |slot: Slot| (slot.separator().is_some(), slot.may_repeat());
    let parts = scheme.parts().iter().map(|part| match part {
        Part::Header(slot) if list(*slot).0 => "list".to_owned(),
        Part::Header(_) => "header".to_owned(),
        Part::Text(_) => "text".to_owned(),
        other => format!("{other:?}"),
    });
    let stamp = scheme.timestamp_source().map(|(stamp, unit)| match stamp {
        Stamp::Slot(slot) => (Some(list(slot)), unit),
        _ => (None, unit),
    });
    format!(
        "{:?} {:?} {:?} {} {stamp:?} {:?} {} {}",
        scheme.mac(),
        scheme.encoding(),
        scheme.signature_slot().map(list),
        scheme.more_signature_slots().is_empty(),
        parts.collect::<Vec<_>>(),
        scheme.key_id_header().is_some(),
        scheme.header_families().is_some(),
    )
}

/// What stands in the slots of a request.
fn add_slots(seeds: &mut Seeds, sender: &Sender, vector: &str, request: &Request) {
    for known in slot::of(sender.scheme) {
        for (name, value) in request.named_headers() {
            if name.eq_ignore_ascii_case(known.name()) {
                let prefix = known.fixed_prefix();
                let prefix: String = prefix.chars().filter(char::is_ascii_alphanumeric).collect();
                let name = format!("{}.{vector}.{name}.{prefix}", sender.scheme.name());
                let name = name.trim_end_matches('.').to_owned();
                seeds.insert(name, slot::seed(&known, &value));
            }
        }
    }
}

/// Replaces all seeds of a target but those that a fuzzer found.
fn write(folder: &Path, seeds: Seeds) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("found.") {
            fs::remove_file(entry.path())?;
        }
    }
    let mut written: Vec<Vec<u8>> = Vec::new();
    for (name, bytes) in seeds {
        if !written.contains(&bytes) {
            fs::write(folder.join(name), &bytes)?;
            written.push(bytes);
        }
    }
    let total: usize = written.iter().map(Vec::len).sum();
    println!(
        "{}: {} seeds, {total} bytes",
        folder.display(),
        written.len()
    );
    Ok(())
}
