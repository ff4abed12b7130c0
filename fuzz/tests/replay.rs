//! Every target over its seeds and over a fixed number of spoilt ones, on stable Rust.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use fastrand::Rng;
use hookproof::scheme::ALL;
use hookproof_fuzz::{
    anywhere::{self, seed_of_ready},
    handshake::Came,
    input::Request,
    oracle::{Answer, knows},
    senders::SENDERS,
    sign_then_verify::seed,
    verify::judge,
};

/// Spoilt seeds per target. The same ones each time.
const MUTANTS: usize = 4000;

/// As `-max_len` of the longer runs.
const MAX_LEN: usize = 8192;

/// The checked-in seeds of a target, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let entries = fs::read_dir(&folder).expect("a folder of seeds");
    let mut seeds: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("a seed").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read(path).expect("a readable seed"))
        })
        .collect();
    assert!(!seeds.is_empty(), "{} is empty", folder.display());
    // The order of folders differs between machines.
    seeds.sort();
    seeds
}

/// Runs a target over one input and says which it was if it fails.
fn run(target: fn(&[u8]), name: &str, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("{name} fails with the input {hex}");
        std::panic::resume_unwind(panic);
    }
}

fn replay(name: &str, target: fn(&[u8])) {
    let seeds = seeds(name);
    for (seed, input) in &seeds {
        run(target, seed, input);
    }
    let mut rng = Rng::with_seed(0x686f_6f6b);
    for _ in 0..MUTANTS {
        let (seed, input) = &seeds[rng.usize(..seeds.len())];
        let (_, other) = &seeds[rng.usize(..seeds.len())];
        run(target, seed, &spoil(&mut rng, input.clone(), other));
    }
}

/// A few of the changes that fuzzers make.
fn spoil(rng: &mut Rng, mut input: Vec<u8>, other: &[u8]) -> Vec<u8> {
    for _ in 0..rng.usize(1..=4) {
        let at = rng.usize(..=input.len());
        let length = rng.usize(..=(input.len() - at).min(64));
        match rng.u8(..7) {
            0 if at < input.len() => input[at] ^= 1 << rng.u8(..8),
            1 if at < input.len() => input[at] = rng.u8(..),
            2 => input.insert(at, rng.u8(..)),
            3 => drop(input.drain(at..at + length)),
            4 => input.extend_from_within(at..at + length),
            5 => input
                .splice(at..at + length, other.iter().copied().take(length))
                .for_each(drop),
            _ => input.truncate(at),
        }
    }
    input.truncate(MAX_LEN);
    input
}

#[test]
fn slot() {
    replay("slot", hookproof_fuzz::slot);
}

#[test]
fn verify() {
    replay("verify", hookproof_fuzz::verify);
}

#[test]
fn sign_then_verify() {
    replay("sign_then_verify", hookproof_fuzz::sign_then_verify);
}

#[test]
fn stored() {
    replay("stored", hookproof_fuzz::stored);
}

#[test]
fn handshake() {
    replay("handshake", hookproof_fuzz::handshake);
}

#[test]
fn anywhere() {
    replay("anywhere", hookproof_fuzz::anywhere);
}

#[test]
fn form() {
    replay("form", hookproof_fuzz::form);
}

#[test]
fn json() {
    replay("json", hookproof_fuzz::json);
}

#[test]
fn token() {
    replay("token", hookproof_fuzz::token);
}

#[test]
fn http_signature() {
    replay("http_signature", hookproof_fuzz::http_signature);
}

/// Seeds that say so pass, so that a fuzzer starts behind the signature.
#[test]
fn single_parsers_come_to_what_their_seeds_say() {
    let check = |target: &str, judge: fn(&[u8]) -> Answer| {
        let mut accepted = 0;
        for (name, input) in seeds(target) {
            let answer = judge(&input);
            let said = format!("{answer:?}.").to_lowercase();
            assert!(
                name.starts_with(&said) || name.starts_with("found."),
                "{target} {name}"
            );
            accepted += usize::from(answer == Answer::Accepted);
        }
        assert!(accepted > 0, "{target}");
    };
    check("token", hookproof_fuzz::token::judge);
    check("http_signature", hookproof_fuzz::http_signature::judge);
    let pass = |target: &str, run: fn(&[u8]) -> bool| {
        let passed = seeds(target).iter().filter(|(_, input)| run(input)).count();
        assert!(passed > 10, "{target}: {passed}");
    };
    pass("form", hookproof_fuzz::form::run);
    pass("json", hookproof_fuzz::json::run);
}

/// What providers sent to the rows that only `anywhere` looks at can be signed anew, of many.
#[test]
fn sent_requests_are_refused_and_signed_ones_pass() {
    let (mut signed, mut passed) = (0, 0);
    for (name, input) in seeds("anywhere") {
        let came = anywhere::judge(&input);
        if name.starts_with("sent.") {
            assert_eq!(came, anywhere::Came::Refused, "{name}");
        }
        if name.starts_with("signed.") {
            signed += 1;
            passed += usize::from(came == anywhere::Came::Passed);
        }
    }
    println!("{passed} of {signed} signed requests pass");
    assert!(passed > 40, "{passed} of {signed}");
}

/// A row that is added must not go unjudged because the oracle was never taught what it uses.
#[test]
fn the_oracle_knows_most_rows() {
    let judged = ALL.iter().filter(|scheme| knows(scheme)).count();
    let all = ALL.len();
    println!("the oracle judges {judged} of {all} rows");
    assert!(judged >= 199, "{judged} of {all}");
}

/// Each row takes its own ready requests, so that changed ones are changed from there.
#[test]
fn every_row_takes_what_its_sender_signs() {
    for scheme in ALL {
        let input = seed_of_ready(scheme.name(), 0, &[(3, 0, 0, b"X-Other: 1")]);
        assert_eq!(
            anywhere::judge(&input),
            anywhere::Came::Passed,
            "{}",
            scheme.name()
        );
        // One byte more somewhere, for each of its places and each of the ready requests.
        for which in 0..6 {
            for place in [0, 1, 2, 4, 5, 6, 7, 8, 9, 133, 134] {
                for start in [0, 3, 17, 40, 65535] {
                    for (removed, inserted) in [(0, &b" "[..]), (1, b"a"), (1, b""), (0, b"&a=1")] {
                        let change = (place, start, removed, inserted);
                        let input = seed_of_ready(scheme.name(), which, &[change]);
                        run(hookproof_fuzz::anywhere, scheme.name(), &input);
                    }
                }
            }
        }
    }
}

/// Every case of a handshake is answered, so that a fuzzer starts from there.
#[test]
fn handshakes_are_answered() {
    let found = |name: &str| name.starts_with("found.");
    for (name, input) in seeds("handshake")
        .into_iter()
        .filter(|(name, _)| !found(name))
    {
        assert_eq!(
            hookproof_fuzz::handshake::judge(&input),
            Came::Answered,
            "{name}"
        );
    }
}

/// Seeds say in their names what they come to. If this fails after the catalogue has changed,
/// write them anew: see `examples/seeds`.
#[test]
fn requests_come_to_what_their_names_say() {
    let mut accepted = 0;
    let found = |name: &str| name.starts_with("found.");
    for (name, input) in seeds("verify").into_iter().filter(|(name, _)| !found(name)) {
        let request = Request::read(&input).expect("any bytes are a request");
        assert_eq!(request.to_bytes(), input, "{name}");
        let answer = judge(&request);
        assert!(
            name.starts_with(&format!("{answer:?}.").to_lowercase()),
            "{name}: {answer:?}"
        );
        accepted += usize::from(answer == Answer::Accepted);
    }
    assert!(accepted > 0);
}

/// Rows that were added since the seeds were written are tried as well.
#[test]
fn every_scheme_takes_what_is_signed_and_nothing_else() {
    let mut rng = Rng::with_seed(0x686f_6f6b);
    for sender in SENDERS.iter() {
        let input = seed(sender, 1_800_000_000, br#"{"id":"evt_1"}"#);
        for _ in 0..100 {
            let mut input = input.clone();
            // All but the sender, who comes first.
            let at = rng.usize(4..input.len());
            input[at] = rng.u8(..);
            run(
                hookproof_fuzz::sign_then_verify,
                sender.scheme.name(),
                &input,
            );
        }
    }
}
