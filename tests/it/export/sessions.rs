//! Sessions that are exported by what the user calls them.

use std::{fs, path::Path, sync::Arc};

use letterpress::{
    app::{
        export::{self, Format, redact::Redaction},
        import,
        places::Places,
        sessions,
    },
    store::{RealDisk, SessionId, Store},
};

use super::{fixture, request};

fn places(folder: &Path) -> Places {
    Places {
        config: folder.join("config.toml"),
        data: folder.join("data"),
        state: folder.join("state"),
        home: None,
    }
}

/// A session of a fixture.
fn session(places: &Places, name: &str) -> SessionId {
    let store = Store::open(places.data.clone(), Arc::new(RealDisk)).expect("a store");
    let request = import::Request { file: fixture(name), branch: None, at: None };
    let handle = import::start(request, store, Arc::new(|| {})).expect("a thread");
    handle.wait().expect("an import").session
}

fn export(places: &Places, name: &str) -> Result<String, String> {
    let output = places.state.with_extension("md");
    let request = request(Path::new(name), Format::Md, &output);
    let find = |name: &str| sessions::find_log(places, name);
    export::run(&request, Redaction::new(None), &find).map_err(|error| error.to_string())?;
    Ok(fs::read_to_string(output).expect("the output"))
}

#[test]
fn a_session_is_exported_by_id_beginning_or_title() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let places = places(folder.path());
    let error = export(&places, "garden").expect_err("there are no sessions");
    assert!(error.contains("no such file") && error.contains("garden"), "{error}");
    let (garden, seeds) =
        (session(&places, "pi-everything.jsonl"), session(&places, "claude-code.jsonl"));
    let by_id = export(&places, garden.as_str()).expect("its id");
    assert!(
        by_id.contains("\nletterpress · ") && by_id.contains("Which beds need water?"),
        "{by_id}"
    );
    let beginning = garden.as_str().get(..garden.as_str().len() - 1).expect("ASCII");
    assert_eq!(export(&places, beginning).expect("the beginning of it"), by_id);
    assert_eq!(export(&places, "Garden <beds>").expect("its title"), by_id);
    assert_ne!(export(&places, seeds.as_str()).expect("the other one"), by_id);
    let error = export(&places, "2").expect_err("both begin so");
    assert!(error.contains("2 sessions may be meant") && !error.contains('\n'), "{error}");
    session(&places, "pi-everything.jsonl");
    let error = export(&places, "Garden <beds>").expect_err("both are called so");
    assert!(error.contains("2 sessions may be meant"), "{error}");
    let error = export(&places, "Garden").expect_err("none is called so");
    assert!(error.contains("no such file"), "{error}");
}

#[test]
fn a_path_comes_before_a_session_of_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let places = places(folder.path());
    session(&places, "pi-everything.jsonl");
    let text = export(&places, &fixture("pi-branches.jsonl").to_string_lossy()).expect("a path");
    assert!(text.contains("Elm."), "{text}");
}
