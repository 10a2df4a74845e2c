//! A server's program, together with everything that it starts.

use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use super::{
    environment::{Environment, Redactor},
    lines::{Line, Lines},
    log::{Log, LogSource, MAX_LINE},
};

/// A running program and its group. Dropping it kills them.
pub(super) struct Process {
    child: Child,
    /// The group's id, which is that of the program.
    group: Option<u32>,
    stderr: Option<JoinHandle<()>>,
}

/// What to run.
pub(super) struct Program<'a> {
    pub(super) path: &'a Path,
    pub(super) args: &'a [String],
    pub(super) env: &'a [(String, String)],
    pub(super) cwd: Option<&'a Path>,
}

impl Process {
    /// Starts a program in a group of its own. It gets the usual variables and its own, and no
    /// others.
    pub(super) fn start(
        program: &Program<'_>,
        environment: &Environment,
        log: &Arc<Log>,
        redactor: &Redactor,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = Command::new(program.path);
        command.args(program.args).env_clear().envs(environment.passed());
        command.envs(program.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = program.cwd {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the program has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().map(|stderr| {
            let (log, redactor) = (Arc::clone(log), redactor.clone());
            tokio::spawn(keep_lines(Lines::new(stderr, MAX_LINE), log, redactor))
        });
        let group = child.id();
        Ok((Self { child, group, stderr }, stdin, stdout))
    }

    /// Waits for the program's end, and then ends what it has left behind.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.wait().await.ok();
        self.kill_group();
        status
    }

    /// Ends the program: by itself, its input being closed; else told to; else killed.
    pub(super) async fn end(&mut self, parting: Duration) -> Option<ExitStatus> {
        if let Ok(status) = timeout(parting, self.ended()).await {
            return status;
        }
        self.signal(Sign::Terminate);
        if let Ok(status) = timeout(parting, self.ended()).await {
            return status;
        }
        self.kill_group();
        self.child.start_kill().ok();
        self.ended().await
    }

    fn kill_group(&mut self) {
        self.signal(Sign::Kill);
        self.group = None;
    }

    #[cfg(unix)]
    fn signal(&self, sign: Sign) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let pid = self.group.and_then(|group| Pid::from_raw(group.cast_signed()));
        let signal = match sign {
            Sign::Terminate => Signal::TERM,
            Sign::Kill => Signal::KILL,
        };
        if let Some(pid) = pid {
            // It fails when nobody is left in the group, which is what is wanted.
            kill_process_group(pid, signal).ok();
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _sign: Sign) {}
}

#[derive(Clone, Copy)]
enum Sign {
    Terminate,
    Kill,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
        // A grandchild outside the group may hold the pipe open for ever.
        if let Some(stderr) = &self.stderr {
            stderr.abort();
        }
    }
}

/// How a program ended, in words.
pub(super) fn exit_words(status: Option<ExitStatus>, log: &Log) -> String {
    let mut words = match status {
        None => "its end could not be seen".to_owned(),
        Some(status) => exit_word(status),
    };
    if let Some(last) = log.last_error() {
        words.push_str(": ");
        words.push_str(&last);
    }
    words
}

fn exit_word(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return format!("it was ended by signal {signal}");
        }
    }
    match status.code() {
        Some(code) => format!("it ended with code {code}"),
        None => "it ended".into(),
    }
}

async fn keep_lines(
    mut lines: Lines<tokio::process::ChildStderr>,
    log: Arc<Log>,
    redactor: Redactor,
) {
    loop {
        let line = match lines.next().await {
            Line::Whole(line) => line,
            Line::Long(long) => long.head,
            Line::End => return,
        };
        log.push(LogSource::Stderr, &redactor.clean(&String::from_utf8_lossy(&line)));
    }
}
