//! Every shader parses and validates, so that a typo is found without a GPU.

use std::{fs, path::Path};

use naga::valid::{Capabilities, ValidationFlags, Validator};

fn validate(source: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source))?;
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map(drop)
        .map_err(|e| e.emit_to_string(source))
}

#[test]
fn every_shader_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut checked = 0;
    for entry in fs::read_dir(&folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|found| found == "wgsl") {
            let source = fs::read_to_string(&path).unwrap();
            validate(&source).unwrap_or_else(|e| panic!("{}:\n{e}", path.display()));
            checked += 1;
        }
    }
    println!("{checked} shaders valid in {}", folder.display());
}

#[test]
fn an_invalid_shader_is_found() {
    assert!(validate("fn half(x: f32) -> f32 { return x * 0.5; }").is_ok());
    assert!(validate("fn half(x: f32) -> f32 { return y; }").unwrap_err().contains('y'));
    let no_position = "@vertex fn vs() -> @location(0) f32 { return 1.0; }";
    assert!(validate(no_position).is_err(), "a vertex shader must give a position");
}
