#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::http_signature(data));
