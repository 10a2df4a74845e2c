//! Pages: what is fetched, from where, and how much of it.

use letterpress::{
    tools::policy::is_private_ip,
    wire::{HttpConfig, Page, PageError, Pages},
};
use url::Url;

use crate::live::server::{Act, Server};

fn pages() -> Pages {
    Pages::new(&HttpConfig::default(), is_private_ip).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

fn get(answers: Vec<Vec<Act>>, path: &str, max_bytes: usize) -> (Result<Page, PageError>, usize) {
    let server = Server::new(answers);
    let url = Url::parse(&format!("{}{path}", server.base)).unwrap();
    let page = run(pages().get_any(url, max_bytes));
    (page, server.connections())
}

fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Vec<Act> {
    vec![Act::Head(status, headers.to_vec()), Act::Send(body.as_bytes().to_vec()), Act::Finish]
}

#[test]
fn a_page_comes_with_its_type_and_no_more_than_is_wanted() {
    let html = &[("content-type", "text/html; charset=utf-8")];
    let (page, _) = get(vec![answer(200, html, "<p>hello")], "/", 100);
    let page = page.unwrap();
    assert_eq!((page.status, &*page.body, page.is_cut), (200, &b"<p>hello"[..], false));
    assert_eq!(page.content_type, "text/html; charset=utf-8");
    let (page, _) = get(vec![answer(404, html, "0123456789")], "/", 4);
    let page = page.unwrap();
    assert_eq!((page.status, &*page.body, page.is_cut), (404, &b"0123"[..], true));
    let (page, _) = get(vec![answer(200, html, "0123")], "/", 4);
    assert!(!page.unwrap().is_cut, "exactly as much is all of it");
}

#[test]
fn a_redirect_is_followed_on_the_same_host_only() {
    let there = |to| answer(302, &[("location", to)], "");
    let (page, connections) = get(vec![there("/next"), answer(200, &[], "here")], "/", 100);
    assert_eq!((page.unwrap().body, connections), (b"here".to_vec(), 2));
    for elsewhere in ["http://localhost:9/", "https://127.0.0.1/", "http://127.0.0.1:9/"] {
        let (page, connections) = get(vec![there(elsewhere)], "/", 100);
        let page = page.unwrap();
        assert_eq!((page.status, page.location.as_deref()), (302, Some(elsewhere)));
        assert_eq!(connections, 1);
    }
    let round = (0..9).map(|_| there("/round")).collect();
    let (page, connections) = get(round, "/", 100);
    assert_eq!((page.unwrap().status, connections), (302, 6), "not for ever");
}

#[test]
fn a_name_that_leads_into_the_own_network_is_refused_when_it_is_looked_up() {
    let server = Server::new(vec![answer(200, &[], "secret")]);
    let port = server.base.rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433"] {
        let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(run(pages().get_public(url, 100)), Err(PageError::Private), "{host}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn addresses_and_codings_that_were_not_asked_for_are_refused() {
    for address in ["ftp://host/", "file:///etc/passwd", "http://me:secret@host/"] {
        let refused = run(pages().get_any(Url::parse(address).unwrap(), 100));
        assert!(matches!(refused, Err(PageError::Address(_))), "{address}");
    }
    let (page, _) = get(vec![answer(200, &[("content-encoding", "gzip")], "x")], "/", 100);
    assert_eq!(page, Err(PageError::Coded));
    let (page, _) = get(vec![vec![Act::Reset]], "/", 100);
    assert!(matches!(page, Err(PageError::Failed(_))), "{page:?}");
}
