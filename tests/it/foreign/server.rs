//! Starting a server, asking it things behind the program's back, ending it.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// How long a server has to start; the first start of a Python program takes longest.
const START: Duration = Duration::from_secs(150);
/// How long it has for an answer to the test itself.
const ANSWER: Duration = Duration::from_secs(30);

/// What every request is made with. No provider knows it.
pub(super) const KEY: &str = "press-0123456789-not-a-key";

/// A server on a port of its own, ended when this is dropped.
pub(super) struct Server {
    child: Child,
    /// Host and port.
    pub(super) address: String,
    log: PathBuf,
    _folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed by now.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Server {
    /// aimock with our fixtures, where it is installed.
    pub(super) fn aimock() -> Option<Self> {
        let program = installed("LETTERPRESS_AIMOCK")?;
        let mut command = command(&program);
        command.args(["--port", "0", "--strict", "--validate-on-load", "--fixtures"]);
        command.arg(corpus("aimock.json"));
        let mut server = Self::start(command);
        let found = server.wait(|server| {
            let log = server.log();
            let (_, address) = log.split_once("listening on http://")?;
            // A line that is not whole yet would give half a port.
            let (address, _) = address.split_once('\n')?;
            Some(address.trim().to_owned())
        });
        server.address = found;
        Some(server)
    }

    /// The proxy of litellm with our models, where it is installed.
    pub(super) fn litellm() -> Option<Self> {
        let program = installed("LETTERPRESS_LITELLM")?;
        let port = free_port();
        let mut command = command(&program);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--config"]);
        command.arg(corpus("litellm.yaml"));
        command.env("LITELLM_MASTER_KEY", KEY);
        // Otherwise it fetches a price list.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
        command.env("PYTHONUNBUFFERED", "1");
        let mut server = Self::start(command);
        server.address = format!("127.0.0.1:{port}");
        server.wait(|server| {
            let alive = server.try_get("/health/liveliness").ok()?;
            (alive.status == 200).then_some(())
        });
        Some(server)
    }

    fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let file = File::create(&log).unwrap();
        command.current_dir(folder.path()).env("HOME", folder.path());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let child = command.spawn().unwrap();
        Self { child, address: String::new(), log, _folder: folder }
    }

    fn wait<T>(&mut self, mut ready: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + START;
        loop {
            if let Some(found) = ready(self) {
                return found;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the server ended: {ended:?}\n{}", self.log());
            assert!(Instant::now() < end, "the server does not start\n{}", self.log());
            sleep(Duration::from_millis(50));
        }
    }

    /// What it has written.
    pub(super) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The requests that aimock got under a name, oldest first.
    pub(super) fn journal(&self, name: &str) -> Vec<Value> {
        let response = self.try_get(&format!("/__aimock/journal?testId={name}")).unwrap();
        assert_eq!(response.status, 200, "{}", response.body);
        serde_json::from_str(&response.body).unwrap()
    }

    fn try_get(&self, path: &str) -> io::Result<Response> {
        self.talk(&format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address))
    }

    /// What it answers to a request that this program had no hand in.
    pub(super) fn post(&self, path: &str, body: &Value) -> Response {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {KEY}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.talk(&(head + &body)).unwrap()
    }

    fn talk(&self, request: &str) -> io::Result<Response> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok(Response {
            status: status.ok_or(io::ErrorKind::InvalidData)?,
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        })
    }
}

/// An answer to the test itself.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    /// In lower case.
    pub(super) head: String,
    pub(super) body: String,
}

fn installed(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty());
    if path.is_none() {
        println!("skipped: {variable} names no program");
    }
    path.map(PathBuf::from)
}

/// A program that knows nothing of the keys and proxies of whoever runs the tests.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ["PATH", "TMPDIR", "LANG", "LC_ALL"] {
        command.env(name, std::env::var_os(name).unwrap_or_else(OsString::new));
    }
    command
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/foreign").join(name)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
