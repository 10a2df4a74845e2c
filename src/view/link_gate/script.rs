//! Scripts of letters, as far as hosts need them.

use super::Reason;

/// Scripts that are told apart. Those that are written together count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    /// Han with what is written together with it in China, Japan and Korea.
    EastAsian,
    Georgian,
    Cherokee,
    /// Any other; each block of 128 characters is one.
    Other(u32),
}

/// What is odd about one label of a host.
pub(super) fn odd(label: &str) -> Option<Reason> {
    let mut scripts = label.chars().filter_map(script);
    let first = scripts.next()?;
    // East Asian names are written with Latin letters in them; that is no trick.
    let together = |a, b| {
        a == b
            || matches!(
                (a, b),
                (Script::EastAsian, Script::Latin) | (Script::Latin, Script::EastAsian)
            )
    };
    if !scripts.all(|other| together(first, other)) {
        return Some(Reason::MixedScripts);
    }
    let letters = || label.chars().filter(|c| script(*c).is_some());
    let is_lookalike = first != Script::Latin && letters().all(looks_latin);
    is_lookalike.then_some(Reason::Lookalike)
}

/// The script of a letter; none for digits, marks and what all scripts share.
fn script(c: char) -> Option<Script> {
    let script = match u32::from(c) {
        0x41..=0x5a | 0x61..=0x7a | 0xaa | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..=0x2af => {
            Script::Latin
        }
        0x1d00..=0x1d25 | 0x1d2c..=0x1d5c | 0x1e00..=0x1eff | 0x2c60..=0x2c7f => Script::Latin,
        0xa720..=0xa7ff | 0xab30..=0xab64 | 0xff21..=0xff3a | 0xff41..=0xff5a => Script::Latin,
        0x370..=0x3ff | 0x1f00..=0x1fff => Script::Greek,
        0x400..=0x52f | 0x1c80..=0x1c8f | 0x2de0..=0x2dff | 0xa640..=0xa69f => Script::Cyrillic,
        0x530..=0x58f => Script::Armenian,
        0x590..=0x5ff => Script::Hebrew,
        0x600..=0x6ff | 0x750..=0x77f | 0x8a0..=0x8ff => Script::Arabic,
        0x10a0..=0x10ff | 0x2d00..=0x2d2f => Script::Georgian,
        0x13a0..=0x13ff | 0xab70..=0xabbf => Script::Cherokee,
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3041..=0x318f => Script::EastAsian,
        0x31a0..=0x31bf | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff => Script::EastAsian,
        0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xff9f => Script::EastAsian,
        0x1b000..=0x1b16f | 0x20000..=0x323af => Script::EastAsian,
        0x0..=0x2ff | 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff => return None,
        0x2000..=0x2bff | 0x3000..=0x303f | 0xfe00..=0xfe0f | 0x1f000..=0x1faff => return None,
        other => Script::Other(other >> 7),
    };
    Some(script)
}

/// True for letters of other scripts that most fonts draw like a Latin one.
fn looks_latin(c: char) -> bool {
    const CYRILLIC: &str = "авеһіјкмнорсԁтухѕԛԝгпьъӏґёїӧүѵѡҽ";
    const GREEK: &str = "αγικνορτυχωϲϳάίόύ";
    const ARMENIAN: &str = "օսոհցղզաք";
    CYRILLIC.contains(c) || GREEK.contains(c) || ARMENIAN.contains(c)
}

/// True when a text has characters that hide something. Emoji are written with invisible
/// ones between their parts; those hide nothing.
pub(super) fn hides(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|c| {
        let in_picture = matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') && is_pictorial(before);
        before = c;
        c.is_control() && !matches!(c, '\n' | '\t') || is_invisible(c) && !in_picture
    })
}

fn is_pictorial(c: char) -> bool {
    matches!(u32::from(c), 0x23 | 0x2a | 0x30..=0x39 | 0xa9 | 0xae | 0x203c..=0x2049
        | 0x20e3 | 0x2100..=0x2bff | 0x3030..=0x303d | 0x3297 | 0x3299 | 0xfe0f | 0x1f000..=0x1faff)
}

/// Characters that are not drawn, or that change the order of those that are.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164
        | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfff8
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// Marks that look like those that hold an address together, as those.
pub(super) fn plain_mark(c: char) -> char {
    match c {
        '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{2571}' => '/',
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' | '\u{2024}' | '\u{fe52}' => '.',
        '\u{ff1a}' | '\u{2236}' | '\u{a789}' | '\u{fe55}' => ':',
        '\u{ff20}' | '\u{fe6b}' => '@',
        other => other,
    }
}

/// True for hosts under an end that is in wide use, so that `Node.js` and `a.out` are not
/// taken for hosts when nothing else says so.
pub(super) fn is_top_level(host: &str) -> bool {
    let end = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_country = end.len() == 2 && COUNTRIES.split(' ').any(|country| country == end);
    is_country || end.starts_with("xn--") || GENERIC.contains(&end)
}

const COUNTRIES: &str = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi \
    bj bm bn bo br bs bt bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj \
    dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs \
    gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp \
    kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt \
    mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt \
    pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td \
    tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt \
    za zm zw";

const GENERIC: &[&str] = &[
    "academy",
    "agency",
    "app",
    "art",
    "biz",
    "blog",
    "build",
    "cash",
    "chat",
    "cloud",
    "club",
    "codes",
    "com",
    "company",
    "computer",
    "dev",
    "digital",
    "edu",
    "email",
    "exchange",
    "finance",
    "foundation",
    "fund",
    "games",
    "global",
    "google",
    "gov",
    "group",
    "help",
    "host",
    "info",
    "int",
    "land",
    "life",
    "link",
    "live",
    "mil",
    "mobi",
    "money",
    "net",
    "network",
    "news",
    "ninja",
    "one",
    "online",
    "org",
    "page",
    "pro",
    "pub",
    "run",
    "sale",
    "security",
    "shop",
    "site",
    "software",
    "solutions",
    "space",
    "store",
    "studio",
    "support",
    "systems",
    "team",
    "tech",
    "today",
    "tools",
    "top",
    "trade",
    "vip",
    "wallet",
    "web",
    "website",
    "wiki",
    "work",
    "world",
    "wtf",
    "xyz",
    "zone",
];
