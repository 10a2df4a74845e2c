//! Classes of code: what the worker finds, in which order, and what it costs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use letterpress::layout::highlight::{Class, Highlighter, Limits, Token, key_of};

/// A highlighter and the bell its worker rings.
struct Bench {
    highlighter: Highlighter,
    bell: Receiver<()>,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let (ring, bell) = sync_channel(10_000);
        let waker = Arc::new(move || ring.try_send(()).expect("room for a ring"));
        Self { highlighter: Highlighter::with_limits(waker, limits), bell }
    }

    fn request(&self, language: &str, code: &str) -> u64 {
        let key = key_of(language, code);
        self.highlighter.request(key, &Arc::from(language), &Arc::from(code));
        key
    }

    /// Waits until the worker has rung `times` times.
    fn wait(&mut self, times: usize) {
        for _ in 0..times {
            self.bell.recv_timeout(Duration::from_secs(60)).expect("a ring");
            self.highlighter.poll();
        }
    }

    fn tokens(&mut self, language: &str, code: &str) -> Option<Vec<Token>> {
        let key = self.request(language, code);
        if self.highlighter.get(key).is_none() {
            self.wait(1);
        }
        let tokens = self.highlighter.get(key)?.to_vec();
        check_cover(&tokens, code);
        Some(tokens)
    }
}

fn check_cover(tokens: &[Token], code: &str) {
    let mut at = 0;
    for token in tokens {
        assert!(token.end > at, "empty token at {at}");
        assert!(code.is_char_boundary(token.end as usize));
        at = token.end;
    }
    assert_eq!(at as usize, code.len(), "the last token ends with the text");
}

/// The class of the first place where `part` stands in `code`.
fn class_of(tokens: &[Token], code: &str, part: &str) -> Class {
    let at = code.find(part).unwrap_or_else(|| panic!("no {part:?} in {code:?}")) as u32;
    tokens.iter().find(|token| token.end > at).expect("tokens cover the code").class
}

#[test]
fn languages_are_found_by_every_name_they_go_by() {
    let mut bench = Bench::new(Limits::default());
    let table = [
        (
            "rs rust Rust rust,no_run {.rust} src/main.rs language-rust",
            "fn main() {}",
            "fn",
            Class::Keyword,
        ),
        ("py python python3 Python", "def f(): return 'x'", "'x'", Class::String),
        ("ts typescript mts", "const x: number = 1;", "1", Class::Number),
        ("tsx jsx", "const a = <b c=\"d\"/>;", "const", Class::Keyword),
        ("js javascript mjs", "// c\nlet a;", "//", Class::Comment),
        ("sh bash shell zsh", "echo hi # c", "#", Class::Comment),
        ("console shell-session", "$ ls # c\nout # c\n", "# c", Class::Comment),
        ("json jsonc json5", "{\"a\": [1, true]}", "true", Class::Constant),
        ("toml Cargo.toml", "a = \"b\"", "\"b\"", Class::String),
        ("yaml yml", "a: 12 # c", "#", Class::Comment),
        ("diff patch", "+a\n-b\n", "+a", Class::Inserted),
        ("diff", "+a\n-b\n", "-b", Class::Deleted),
        ("html", "<p class=\"x\">t</p>", "class", Class::Attribute),
        ("html xml", "<p>t</p>", "p", Class::Tag),
        ("css", "a { color: red; }", "color", Class::Attribute),
        ("c cpp c++ java cs csharp", "int x = 5; // c", "5", Class::Number),
        ("go golang", "func main() { return }", "return", Class::Keyword),
        ("sql postgres", "SELECT a FROM b", "SELECT", Class::Keyword),
        ("md markdown", "# Title\n", "Title", Class::Heading),
        ("wgsl", "fn f() -> f32 { return 1.0; }", "return", Class::Keyword),
        ("dockerfile docker Dockerfile", "FROM a\n# c", "FROM", Class::Keyword),
        ("kotlin kt", "fun f() = 1", "1", Class::Number),
        ("swift", "let a = 1", "let", Class::Keyword),
        ("zig", "const a = 1;", "const", Class::Keyword),
        ("tf hcl", "a = \"b\"", "\"b\"", Class::String),
    ];
    for (names, code, part, class) in table {
        for name in names.split(' ') {
            let tokens = bench.tokens(name, code).unwrap_or_else(|| panic!("{name} is not known"));
            assert_eq!(class_of(&tokens, code, part), class, "{part:?} in {name}");
        }
    }
}

#[test]
fn keys_of_json_differ_from_its_strings() {
    let mut bench = Bench::new(Limits::default());
    let code = "{\"key\": \"value\"}";
    let tokens = bench.tokens("json", code).unwrap();
    assert_eq!(class_of(&tokens, code, "key"), Class::Attribute);
    assert_eq!(class_of(&tokens, code, "value"), Class::String);
}

#[test]
fn what_a_command_printed_is_plain() {
    let mut bench = Bench::new(Limits::default());
    let code = "$ if true; \\\n then\nif done\n";
    let tokens = bench.tokens("console", code).unwrap();
    assert_eq!(class_of(&tokens, code, "if true"), Class::Keyword);
    assert_eq!(class_of(&tokens, code, "then"), Class::Keyword);
    assert_eq!(class_of(&tokens, code, "if done"), Class::Plain);
}

#[test]
fn an_unknown_language_is_asked_for_once_and_stays_without_tokens() {
    let mut bench = Bench::new(Limits::default());
    for language in ["no such thing", "nothing.at_all", "🦀"] {
        assert_eq!(bench.tokens(language, "a b c"), None);
        let key = bench.request(language, "a b c");
        assert!(bench.highlighter.get(key).is_none());
        assert!(bench.highlighter.knows(key) && !bench.highlighter.is_lost(key));
    }
    assert!(bench.bell.recv_timeout(Duration::from_millis(50)).is_err(), "nothing was redone");
    assert!(!bench.highlighter.poll());
}

#[test]
fn nothing_is_started_for_plain_text_or_code_that_is_too_long() {
    let bench = Bench::new(Limits { code_bytes: 10, ..Limits::default() });
    bench.request("rust", "fn main() {}");
    bench.request("text", "fn");
    bench.request("", "fn");
    bench.request(&"x".repeat(200), "fn");
    bench.request("rust", "");
    // A worker that was started would have had to load every grammar first.
    assert!(bench.bell.recv_timeout(Duration::from_millis(300)).is_err());
    assert_eq!(bench.highlighter.bytes(), 0);
}

#[test]
fn the_same_request_is_served_once() {
    let mut bench = Bench::new(Limits::default());
    let key = key_of("rust", "fn a() {}");
    for _ in 0..100 {
        let coming = bench.highlighter.request(key, &Arc::from("rust"), &Arc::from("fn a() {}"));
        assert!(coming && !bench.highlighter.knows(key));
    }
    bench.wait(1);
    bench.request("rust", "fn a() {}");
    assert!(bench.bell.recv_timeout(Duration::from_millis(50)).is_err());
}

#[test]
fn when_too_much_is_asked_the_newest_requests_are_served() {
    let mut bench = Bench::new(Limits { waiting: 4, ..Limits::default() });
    // The worker is still loading grammars while these come in.
    let keys: Vec<u64> =
        (0..50).map(|n| bench.request("rust", &format!("fn f{n}() {{}}"))).collect();
    while bench.bell.recv_timeout(Duration::from_secs(5)).is_ok() {
        bench.highlighter.poll();
        if keys.iter().rev().take(4).all(|key| bench.highlighter.get(*key).is_some()) {
            break;
        }
    }
    for key in &keys[46..] {
        assert!(bench.highlighter.get(*key).is_some());
    }
    assert!(bench.highlighter.is_lost(keys[20]), "to be asked for again");
    assert!(!bench.highlighter.is_lost(keys[49]));
    let served = keys.iter().filter(|key| bench.highlighter.get(**key).is_some()).count();
    assert!(served < 20, "{served} of 50 were served");
}

#[test]
fn out_of_time_the_rest_is_plain() {
    let mut bench = Bench::new(Limits { budget: Duration::ZERO, ..Limits::default() });
    let code = "fn main() {}\nfn b() {}\n";
    let tokens = bench.tokens("rust", code).unwrap();
    assert_eq!(tokens, [Token { end: code.len() as u32, class: Class::Plain }]);
}

#[test]
fn a_line_too_long_for_a_grammar_is_plain_and_the_next_is_not() {
    let mut bench = Bench::new(Limits::default());
    let code = format!("{}\nfn b() {{}}", "fn é".repeat(10_000));
    let tokens = bench.tokens("rust", &code).unwrap();
    assert_eq!(tokens.first().unwrap().class, Class::Plain);
    assert_eq!(class_of(&tokens, &code, "fn b"), Class::Keyword);
}

#[test]
fn code_that_streams_gets_the_same_tokens_as_the_whole() {
    let piece = "/// Words.\nfn f<'a>(x: &'a str) -> u32 {\n    let s = r#\"a\n\"b\"#; /* c\n c */ s.len() as u32 + 0x1f\n}\n";
    let code = piece.repeat(40);
    let mut fresh = Bench::new(Limits::default());
    let mut grown = Bench::new(Limits::default());
    let mut end = 0;
    while end < code.len() {
        end = (end + 97).min(code.len());
        let part = code.get(..end).unwrap();
        let tokens = grown.tokens("rust", part).unwrap();
        if end % 5 == 0 || end == code.len() {
            assert_eq!(tokens, fresh.tokens("rust", part).unwrap());
            fresh.highlighter.purge();
        }
    }
}

#[test]
fn the_cache_stays_within_its_bytes_and_keeps_what_was_used_last() {
    let mut bench = Bench::new(Limits { cache_bytes: 20_000, ..Limits::default() });
    let code = |n: usize| format!("{}// {n}", "fn a(b: C) {}\n".repeat(10));
    let first = bench.request("rust", &code(0));
    bench.wait(1);
    for n in 1..100 {
        bench.request("rust", &code(n));
        bench.wait(1);
        assert!(bench.highlighter.bytes() <= 20_000);
        assert!(bench.highlighter.get(first).is_some(), "used in every round");
    }
    let second = key_of("rust", &code(1));
    assert!(bench.highlighter.get(second).is_none(), "not used since round 1");
}

#[test]
fn purging_forgets_and_asking_again_works() {
    let mut bench = Bench::new(Limits::default());
    let before = bench.tokens("rust", "fn a() {}").unwrap();
    bench.highlighter.purge();
    assert_eq!(bench.highlighter.bytes(), 0);
    assert!(bench.highlighter.get(key_of("rust", "fn a() {}")).is_none());
    assert_eq!(bench.tokens("rust", "fn a() {}").unwrap(), before);
}

#[test]
fn the_worker_ends_with_its_highlighter() {
    let rings = Arc::new(AtomicUsize::new(0));
    let waker: Arc<dyn Fn() + Send + Sync> = {
        let rings = Arc::clone(&rings);
        Arc::new(move || {
            rings.fetch_add(1, Ordering::SeqCst);
        })
    };
    let highlighter = Highlighter::new(Arc::clone(&waker));
    highlighter.request(1, &Arc::from("rust"), &Arc::from("fn a() {}"));
    drop(highlighter);
    let start = letterpress::perf::now();
    while Arc::strong_count(&waker) > 1 {
        assert!(start.elapsed() < Duration::from_secs(30), "the thread lives on");
        std::thread::yield_now();
    }
}

#[test]
fn hostile_code_is_covered_in_every_language() {
    let mut bench = Bench::new(Limits { budget: Duration::from_millis(200), ..Limits::default() });
    let nasty = [
        "(".repeat(4_000),
        "<<A <<B $((`".repeat(300),
        "\"\\".repeat(1_900),
        "a.b::c<d>(".repeat(390),
        "[](".repeat(1_300),
        "<a <b ".repeat(600),
        "\u{0}\u{202e}é\t".repeat(400),
        "{{%{{".repeat(700),
        " ".repeat(4_000),
        "\n".repeat(10_000),
        format!("{}\n", "*_".repeat(1_900)),
    ];
    for language in
        ["rust", "py", "tsx", "bash", "cpp", "md", "html", "php", "rb", "yaml", "tex", "pl"]
    {
        for code in &nasty {
            bench.tokens(language, code);
        }
    }
}
