//! Judges links.

use std::net::Ipv4Addr;

use url::{Host, Url};

use super::{Link, LinkContext, Reason, TARGET_BYTES, Verdict, script};

/// Characters of query or fragment that a link may carry when its writer has read
/// something that nobody vouches for.
const DATA_CHARACTERS: usize = 64;
/// Longer names, in bytes and before they are encoded, are not hosts.
const HOST_BYTES: usize = 1024;

pub(super) fn is_allowed(scheme: &str) -> bool {
    matches!(scheme, "http" | "https" | "mailto")
}

pub(super) fn judge(link: Link<'_>) -> Verdict {
    let Link { target, shown, context } = link;
    let url = match parse(target) {
        Ok(url) => url,
        Err(reason) => return Verdict::Refuse(reason),
    };
    let mut reasons = Vec::new();
    let is_mail = url.scheme() == "mailto";
    if is_mail && attaches(&url) {
        return Verdict::Refuse(Reason::Attachment);
    }
    let target_host = if is_mail { mail_host(&url) } else { url.host_str().map(str::to_owned) };
    let other = target_host.as_deref().and_then(|host| other_host(shown, host, &url));
    reasons.extend(other.map(Reason::OtherHost));
    if !is_mail && (!url.username().is_empty() || url.password().is_some()) {
        reasons.push(Reason::UserInfo);
    }
    reasons.extend(target_host.as_deref().and_then(odd_letters));
    if target.chars().any(is_unseen) || script::hides(shown) {
        reasons.push(Reason::Invisible);
    }
    if !is_mail {
        reasons.extend(odd_spelling(target, &url));
    }
    let carried = carried(&url);
    if context == LinkContext::Untrusted && carried > DATA_CHARACTERS {
        reasons.push(Reason::CarriesData(carried));
    }
    if reasons.is_empty() { Verdict::Open(url) } else { Verdict::Ask { url, reasons } }
}

fn parse(target: &str) -> Result<Url, Reason> {
    if target.len() > TARGET_BYTES {
        return Err(Reason::TooLong);
    }
    // Schemes are compared after parsing: "java\tscript:" is one.
    let Ok(url) = Url::parse(target) else { return Err(Reason::NotAnAddress) };
    if !is_allowed(url.scheme()) {
        return Err(Reason::Scheme(url.scheme().to_owned()));
    }
    if url.scheme() == "mailto" && mail_host(&url).is_none() {
        return Err(Reason::NotAnAddress);
    }
    Ok(url)
}

fn is_unseen(c: char) -> bool {
    c.is_control() || script::is_invisible(c)
}

/// True for mails that name a file, which some programs attach without a word.
fn attaches(url: &Url) -> bool {
    url.query_pairs().any(|(key, _)| key.to_ascii_lowercase().starts_with("attach"))
}

/// The host that mail goes to.
fn mail_host(url: &Url) -> Option<String> {
    super::mail_host(url).and_then(canonical_host)
}

fn carried(url: &Url) -> usize {
    url.query().unwrap_or_default().len() + url.fragment().unwrap_or_default().len()
}

/// What is odd about the letters of a host.
fn odd_letters(host: &str) -> Option<Reason> {
    let unicode = url::quirks::domain_to_unicode(host);
    let end = unicode.rsplit('.').next().unwrap_or_default();
    // Under an end in its own script, a name of such letters is what it seems to be.
    let may_pass_for_latin = end.is_ascii();
    unicode.split('.').find_map(|label| {
        script::odd(label).filter(|odd| may_pass_for_latin || *odd != Reason::Lookalike)
    })
}

/// What is odd about the way an address is written, beside its letters.
fn odd_spelling(target: &str, url: &Url) -> Option<Reason> {
    let rest = target.trim_matches(|c: char| c <= ' ').split_once(':').map_or("", |(_, r)| r);
    let slashes = rest.len() - rest.trim_start_matches(['/', '\\']).len();
    let authority = rest.trim_start_matches(['/', '\\']);
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if let Some(Host::Ipv4(ip)) = url.host()
        && host.split(':').next() != Some(ip.to_string().as_str())
    {
        return Some(Reason::NumericHost);
    }
    let is_odd = slashes != 2 || target.contains('\\') || authority.contains('%');
    is_odd.then_some(Reason::Ambiguous)
}

/// The host that the text names, when it is not the one the link goes to.
fn other_host(shown: &str, target_host: &str, url: &Url) -> Option<String> {
    let is_mail = url.scheme() == "mailto";
    shown
        .split(|c: char| c.is_whitespace() || "()[]<>{}\"'`,;|".contains(c))
        .filter(|word| !is_file(word, url))
        .filter_map(|word| named_host(word, is_mail))
        .find(|host| bare(host) != bare(target_host))
}

fn bare(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    host.strip_prefix("www.").unwrap_or(host)
}

/// The host in a word that looks like an address, in the form hosts are compared in.
fn named_host(word: &str, is_mail: bool) -> Option<String> {
    let word: String = word.chars().filter(|c| !is_unseen(*c)).map(script::plain_mark).collect();
    let word = word.trim_matches(|c: char| ".!?:…*_~“”‘’«»".contains(c));
    let (scheme, rest) = match (word.split_once("//"), word.split_once(':')) {
        (Some((before, rest)), _) => (before.strip_suffix(':').or(Some("")), rest),
        (None, Some((before, rest))) if is_allowed(&before.to_ascii_lowercase()) => {
            (Some(before), rest)
        }
        _ => (None, word),
    };
    let is_mail = is_mail || scheme.is_none_or(|scheme| scheme.eq_ignore_ascii_case("mailto"));
    let (authority, path) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
    // What a reader takes for the host of "https://good.com@evil.com" is the first name in
    // it; a mail address is meant by its second.
    let part = match authority.split_once('@') {
        Some((_, host)) if is_mail => host,
        Some((name, _)) => name,
        None => authority,
    };
    let part = part.split(':').next().unwrap_or_default();
    let host = canonical_host(part)?;
    if host.parse::<Ipv4Addr>().is_ok() {
        // Without a scheme "1.2" is a version, and only four numbers are an address.
        return (scheme.is_some() || part == host).then_some(host);
    }
    let is_named = scheme.is_some() || host.starts_with("www.");
    let looks_so = looks_like_host(&host) && (!path.is_empty() || script::is_top_level(&host));
    (is_named || looks_so).then_some(host)
}

/// Lower case, punycode, canonical numbers.
fn canonical_host(host: &str) -> Option<String> {
    if host.is_empty() || host.len() > HOST_BYTES {
        return None;
    }
    // What is not a host names none.
    match Host::parse(host).ok()? {
        Host::Domain(domain) => Some(domain),
        // A number alone is a number.
        Host::Ipv4(ip) => host.contains('.').then(|| ip.to_string()),
        Host::Ipv6(ip) => Some(format!("[{ip}]")),
    }
}

/// True for labels with an end that could be a top-level domain.
fn looks_like_host(host: &str) -> bool {
    let Some((labels, end)) = host.trim_end_matches('.').rsplit_once('.') else { return false };
    let is_end = end.starts_with("xn--") || end.bytes().all(|b| b.is_ascii_alphabetic());
    let fits = |label: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        !label.is_empty() && label.bytes().all(fits)
    };
    is_end && end.len() >= 2 && labels.split('.').all(fits)
}

/// True for the name of a file: many endings of files are also top-level domains. It is
/// one when the link leads to it, or when it is written as no host is: `README.md`.
fn is_file(word: &str, url: &Url) -> bool {
    let name = word.split([':', '#']).next().unwrap_or_default().trim_matches(['*', '_', '.']);
    let name = name.rsplit('/').next().unwrap_or_default();
    let target = url.path_segments().and_then(|mut path| path.next_back()).unwrap_or_default();
    let is_loud = || {
        let (stem, end) = name.split_once('.').unwrap_or_default();
        end == "md" && !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    // Something with "//" in it is an address whatever it ends with.
    !word.contains("//") && !name.is_empty() && (name.eq_ignore_ascii_case(target) || is_loud())
}
