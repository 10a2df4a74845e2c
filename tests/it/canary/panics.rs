//! A program that panics with a key in its hands.

use std::process::Command;

use letterpress::app::secrecy::{self, Memory};

use super::{canary, songs, spellings};

const VARIABLE: &str = "LETTERPRESS_TEST_PANIC";

#[test]
fn a_panic_says_what_happened_and_no_key() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "canary::panics::panics_when_it_is_told_to", "--nocapture"]);
    let output = child.env(VARIABLE, "1").env("RUST_BACKTRACE", "1").output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains("letterpress: panicked on thread holder: the key is [secret]"), "{text}");
    assert!(text.contains("panics.rs:"), "where it was: {text}");
    assert_eq!(songs(&said), Vec::<String>::new());
}

/// Is the program that panics; by itself, it does nothing.
#[test]
fn panics_when_it_is_told_to() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    secrecy::guard_panics();
    secrecy::learn(&canary("panic"));
    let holder = std::thread::Builder::new().name("holder".to_owned()).spawn(|| {
        let words = spellings(&canary("panic")).join(" ");
        panic!("the key is {words}");
    });
    assert!(holder.unwrap().join().is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn no_image_of_the_memory_is_written() {
    const TOLD: &str = "LETTERPRESS_TEST_MEMORY";
    if std::env::var_os(TOLD).is_none() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "canary::panics::no_image_of_the_memory_is_written"]);
        assert!(child.env(TOLD, "1").status().unwrap().success());
        return;
    }
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};
    secrecy::close_memory(Memory::NoImage);
    assert_eq!(getrlimit(Resource::Core).current, Some(0));
    secrecy::close_memory(Memory::Closed);
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
}
