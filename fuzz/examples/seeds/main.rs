//! Writes `fuzz/seeds` anew from the vectors: `cargo run --manifest-path fuzz/Cargo.toml --example
//! seeds [folder of vectors]`. Run it after the catalogue or a vector has changed.

mod made_up;
mod rows;
mod vectors;

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use hookproof_fuzz::{
    input::Request,
    senders::{SENDERS, Sender},
    sign_then_verify, slot, verify,
};

/// Inputs of one target by name; equal ones once.
type Seeds = BTreeMap<String, Vec<u8>>;

/// 2027-01-15T08:00:00Z, in seconds.
const NOW: i64 = 1_800_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| package.join("../tests/vectors"));
    let (mut slots, mut requests, mut signed) = (Seeds::new(), Seeds::new(), Seeds::new());
    for sender in SENDERS.iter() {
        let scheme = sender.scheme.name();
        let mut add = |name: &str, request: &Request| {
            let answer = format!("{:?}", verify::judge(request)).to_lowercase();
            requests.insert(format!("{answer}.{scheme}.{name}"), request.to_bytes());
            answer
        };
        for vector in vectors::of(sender.scheme, &folder)? {
            let Some(request) = vector.request(sender)? else {
                continue;
            };
            let answer = add(&vector.name, &request);
            if !vector.agrees(&answer) {
                println!(
                    "{scheme} {}: {answer}, though {}",
                    vector.name, vector.expect
                );
            }
            if answer == "accepted" {
                let seed = sign_then_verify::seed(sender, vector.now.try_into()?, &request.body);
                signed.insert(format!("{scheme}.{}", vector.name), seed);
            }
            add_slots(&mut slots, sender, &vector.name, &request);
        }
        for (name, request) in made_up::all(sender) {
            add(&format!("made-up.{name}"), &request);
        }
        let seed = sign_then_verify::seed(sender, NOW.try_into()?, b"{}");
        signed.insert(format!("{scheme}.made-up"), seed);
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
    ] {
        write(&package.join("seeds").join(target), seeds)?;
    }
    Ok(())
}

/// What stands in the slots of a request.
fn add_slots(seeds: &mut Seeds, sender: &Sender, vector: &str, request: &Request) {
    for known in slot::SLOTS.iter() {
        for (name, value) in request.named_headers() {
            if name.eq_ignore_ascii_case(known.name()) {
                let prefix = known.fixed_prefix().trim_end_matches(['=', ',']);
                let name = format!("{}.{vector}.{name}.{prefix}", sender.scheme.name());
                seeds.insert(name.trim_end_matches('.').into(), slot::seed(known, &value));
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
