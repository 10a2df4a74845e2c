//! Tab stops of terminal output.

use std::sync::Arc;

use letterpress::{
    markup::{ansi, tabs},
    model::SgrRun,
};

fn expand(text: &str) -> (String, Vec<SgrRun>) {
    let parsed = ansi::parse(&Arc::from(text));
    let (text, runs) = tabs::expand(&parsed.text, parsed.runs);
    (text.to_string(), runs)
}

#[test]
fn columns_line_up() {
    assert_eq!(
        expand("ok\tlong/name\t1\nfail\tx\t2").0,
        "ok      long/name       1\nfail    x       2"
    );
    assert_eq!(expand("12345678\tx").0, "12345678        x");
}

#[test]
fn colours_move_along() {
    let (text, runs) = expand("a\t\u{1b}[31mred\u{1b}[0m\tb");
    assert_eq!(text, "a       red     b");
    let shown: Vec<&str> =
        runs.iter().filter_map(|r| text.get(r.start as usize..r.end as usize)).collect();
    assert_eq!(shown, ["red"]);
}

#[test]
fn text_without_tabs_keeps_its_pointer() {
    let text: Arc<str> = Arc::from("no tab here");
    assert!(Arc::ptr_eq(&text, &tabs::expand(&text, Vec::new()).0));
}
