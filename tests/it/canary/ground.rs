//! A home of its own for real programs that hold canaries.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use letterpress::perf;
use tempfile::TempDir;

use super::{canary, songs};

/// Variables that hold keys.
const KEYS: &[(&str, &str)] = &[
    ("OPENAI_API_KEY", "openai"),
    ("ANTHROPIC_API_KEY", "anthropic"),
    ("GEMINI_API_KEY", "gemini"),
    ("GOOGLE_API_KEY", "google"),
    ("OPENROUTER_API_KEY", "openrouter"),
    ("GROQ_API_KEY", "groq"),
    ("DEEPSEEK_API_KEY", "deepseek"),
    ("MISTRAL_API_KEY", "mistral"),
    ("XAI_API_KEY", "xai"),
    ("WORK_KEY", "work"),
    ("WORK_TOKEN", "header"),
];

pub(super) struct Ground {
    folder: TempDir,
    config: String,
}

/// What a program left on its way.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    command_line: Vec<u8>,
}

impl Ran {
    /// Fails when a canary sings in anything that the program showed.
    pub(super) fn is_silent(&self, what: &str) {
        let streams = [self.stdout.as_bytes(), self.stderr.as_bytes(), &self.command_line];
        for (bytes, name) in streams.into_iter().zip(["stdout", "stderr", "the command line"]) {
            assert_eq!(songs(bytes), Vec::<String>::new(), "{what}: {name}");
        }
    }
}

impl Ground {
    pub(super) fn new(config: &str) -> Self {
        let ground = Self { folder: TempDir::new().unwrap(), config: config.to_owned() };
        fs::create_dir(ground.path("work")).unwrap();
        ground
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program with every key in its environment, in a shell that lets everybody
    /// read what is made, and stops it when it takes longer than it may.
    pub(super) fn run(&self, words: &[&str], stdin: &str) -> Ran {
        self.run_with(words, stdin, true)
    }

    pub(super) fn run_with(&self, words: &[&str], stdin: &str, with_keys: bool) -> Ran {
        let config = self.path("config/letterpress/config.toml");
        if !config.exists() {
            make(&config, &self.config);
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_letterpress")]);
        command.args(words).args(["--log", "trace"]);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, self.path(folder));
        }
        // Nowhere is a keyring, and a proxy has a password.
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all");
        let proxy = format!("http://me:{}@127.0.0.1:9/", "pass-CANARY-word");
        command.env("HTTPS_PROXY", proxy).env("RUST_BACKTRACE", "1");
        if with_keys {
            command.envs(KEYS.iter().map(|(variable, provider)| (variable, canary(provider))));
        }
        let out = fs::File::create(self.path("stdout")).unwrap();
        let err = fs::File::create(self.path("stderr")).unwrap();
        command.current_dir(self.path("work")).stdin(Stdio::piped()).stdout(out).stderr(err);
        let mut child = command.spawn().unwrap();
        // A program that reads nothing may be gone.
        let _gone = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let limit = perf::now() + Duration::from_secs(4);
        let mut command_line = Vec::new();
        let status = loop {
            let seen = fs::read(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
            command_line.extend(seen);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if perf::now() > limit {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            std::thread::park_timeout(Duration::from_millis(10));
        };
        let text =
            |name: &str| String::from_utf8_lossy(&fs::read(self.path(name)).unwrap()).into_owned();
        Ran { code: status.code(), stdout: text("stdout"), stderr: text("stderr"), command_line }
    }

    /// Every file that was left anywhere, but those of this test.
    pub(super) fn left(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders: Vec<_> =
            ["home", "config", "data", "state", "cache"].map(|name| self.path(name)).into();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            files.push(folder);
            for entry in entries {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }
}

/// Makes the settings file as a user would who takes care.
fn make(path: &Path, text: &str) {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let folder = path.parent().unwrap();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}
