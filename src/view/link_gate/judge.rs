//! Judges links.

use url::{Host, Url};

use super::{Link, LinkContext, Reason, TARGET_BYTES, Verdict, script};

/// Characters of query or fragment that a link may carry when its writer has read
/// something that nobody vouches for.
const DATA_CHARACTERS: usize = 64;

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
    if shown.chars().chain(target.chars()).any(is_unseen) {
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
    // The second argument is what to show when some labels are not valid; it is judged too.
    let unicode = url::quirks::domain_to_unicode(host);
    let unicode = if unicode.is_empty() { host } else { unicode.as_str() };
    unicode.split('.').find_map(script::odd)
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
        .filter(|word| !is_file_of(word, url))
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
    let (has_scheme, rest) = match word.split_once("//") {
        Some((scheme, rest)) => (scheme.ends_with(':') || scheme.is_empty(), rest),
        None => match word.split_once(':') {
            Some((scheme, rest)) if is_allowed(&scheme.to_ascii_lowercase()) => (true, rest),
            _ => (false, word),
        },
    };
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    // What a reader takes for the host of "good.com@evil.com" is the first name in it;
    // a mail address is meant by its second.
    let part = match authority.split_once('@') {
        Some((_, host)) if is_mail || !has_scheme => host,
        Some((name, _)) => name,
        None => authority,
    };
    let part = part.split(':').next().unwrap_or_default();
    let host = canonical_host(part)?;
    (has_scheme || looks_like_host(&host)).then_some(host)
}

/// Lower case, punycode, canonical numbers.
fn canonical_host(host: &str) -> Option<String> {
    if host.is_empty() {
        return None;
    }
    match Host::parse(host) {
        Ok(Host::Domain(domain)) => Some(domain),
        Ok(Host::Ipv4(ip)) if host.contains('.') => Some(ip.to_string()),
        // A number alone is a number; with a scheme its spelling is judged.
        Ok(Host::Ipv4(_)) => None,
        Ok(Host::Ipv6(ip)) => Some(format!("[{ip}]")),
        Err(_) => None,
    }
}

/// True for `a.bc`: labels and an end that could be a top-level domain, or an IP address.
fn looks_like_host(host: &str) -> bool {
    let Some((labels, end)) = host.trim_end_matches('.').rsplit_once('.') else { return false };
    let is_name =
        end.len() >= 2 && end.bytes().all(|b| b.is_ascii_alphabetic()) || end.starts_with("xn--");
    let is_ip = host.parse::<std::net::Ipv4Addr>().is_ok();
    let fits = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    is_ip || is_name && labels.split('.').all(fits)
}

/// True for a name of a file that the link leads to: many endings of files are also
/// top-level domains.
fn is_file_of(word: &str, url: &Url) -> bool {
    let name = word.split([':', '#']).next().unwrap_or_default().trim_matches(['*', '_', '.']);
    let file = url.path_segments().and_then(|mut path| path.next_back()).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    // Something with "//" in it is an address whatever it ends with.
    !word.contains("//") && !name.is_empty() && name.eq_ignore_ascii_case(file)
}
