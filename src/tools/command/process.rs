//! A process, its output, and its end.

use std::{io, process::Stdio};

use super::{Job, kept::Kept};
use crate::tools::output::{Exit, Stream};

/// Something that a process did.
pub(super) enum Event {
    /// It wrote.
    Output(Stream, Vec<u8>),
    /// It ended. There is exactly one of these.
    Exit(Exit),
    /// It has ended, and nobody can write any more.
    Silence,
}

/// Bytes that are read at once.
const CHUNK: usize = 32 * 1024;

#[cfg(unix)]
pub(super) use unix::Process;

#[cfg(not(unix))]
pub(super) use other::Process;

fn command(job: &Job) -> std::process::Command {
    let mut command = std::process::Command::new(&job.program);
    command
        .args(&job.arguments)
        .env_clear()
        .envs(job.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&job.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(unix)]
mod unix {
    use std::{
        io,
        os::{fd::OwnedFd, unix::process::CommandExt as _},
        process::Child,
        sync::mpsc::{Receiver, SyncSender, sync_channel},
        thread,
        time::Duration,
    };

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
    };
    use tokio::{net::unix::pipe, sync::oneshot};

    use super::{CHUNK, Event, Exit, Job, Kept, Stream, command, no_pipe};

    /// How long a group that was told to end may take before it is made to.
    const GRACE: Duration = Duration::from_secs(2);
    /// How often is looked whether anybody is left.
    const GLANCE: Duration = Duration::from_millis(20);

    /// A process that leads a group of its own. When it is dropped, the group is ended.
    ///
    /// The leader stays a zombie until [`Self::end`], so that its number, which is the
    /// group's, is given to nobody else as long as signals go there.
    pub(in super::super) struct Process {
        group: Pid,
        out: Option<pipe::Receiver>,
        err: Option<pipe::Receiver>,
        exit: Option<oneshot::Receiver<Exit>>,
        hold: Option<Hold>,
        buffer: Vec<u8>,
    }

    /// Keeps the zombie, and tells when it became one.
    struct Hold {
        ended: Receiver<()>,
        _zombie: SyncSender<()>,
    }

    impl Process {
        pub(in super::super) fn start(job: &Job) -> io::Result<Self> {
            let mut command = command(job);
            command.process_group(0).arg0(&job.name);
            let mut child = command.spawn()?;
            let group = Pid::from_child(&child);
            let pipes = (child.stdout.take(), child.stderr.take());
            let (exit, hold) = watch(child)?;
            let buffer = vec![0; CHUNK];
            let (exit, hold) = (Some(exit), Some(hold));
            let mut process = Self { group, out: None, err: None, exit, hold, buffer };
            // From here on a failure ends the group, because the process is dropped.
            process.out = Some(receiver(pipes.0.ok_or_else(no_pipe)?.into())?);
            process.err = Some(receiver(pipes.1.ok_or_else(no_pipe)?.into())?);
            Ok(process)
        }

        /// What it does next.
        pub(in super::super) async fn event(&mut self) -> Event {
            loop {
                let Self { out, err, exit, buffer, .. } = self;
                if out.is_none() && err.is_none() && exit.is_none() {
                    return Event::Silence;
                }
                let (stream, pipe) = tokio::select! {
                    () = readable(out.as_ref()) => (Stream::Out, out),
                    () = readable(err.as_ref()) => (Stream::Err, err),
                    how = ended(exit.as_mut()) => {
                        *exit = None;
                        return Event::Exit(how);
                    }
                };
                match pipe.as_ref().map(|pipe| pipe.try_read(buffer)) {
                    Some(Ok(count @ 1..)) => {
                        let bytes = buffer.get(..count).unwrap_or_default();
                        return Event::Output(stream, bytes.to_vec());
                    }
                    Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // Nobody can write any more, or it cannot be read.
                    _ => *pipe = None,
                }
            }
        }

        /// Takes what is waiting in the pipes, without waiting for more.
        pub(in super::super) fn catch_up(&mut self, kept: &mut Kept) {
            for (stream, pipe) in [(Stream::Out, &self.out), (Stream::Err, &self.err)] {
                // A pipe holds 64 KiB; more than that was written only just now.
                for _ in 0..4 {
                    let read = pipe.as_ref().map(|pipe| pipe.try_read(&mut self.buffer));
                    let Some(Ok(count @ 1..)) = read else { break };
                    kept.push(stream, self.buffer.get(..count).unwrap_or_default());
                }
            }
        }

        /// Ends what is left of the group: asks first, then insists. Waits for nothing.
        pub(in super::super) fn end(&mut self) {
            let Some(hold) = self.hold.take() else { return };
            let group = self.group;
            // It fails when there is nobody left to ask.
            let _nobody_left = kill_process_group(group, Signal::TERM);
            if hold.ended.try_recv().is_ok() {
                return;
            }
            let insist = move || {
                if hold.ended.recv_timeout(GRACE).is_err() {
                    let _nobody_left = kill_process_group(group, Signal::KILL);
                }
            };
            let builder = thread::Builder::new().name("tool-end".to_owned());
            if builder.spawn(insist).is_err() {
                // Without a thread there is no patience either.
                let _nobody_left = kill_process_group(group, Signal::KILL);
            }
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            self.end();
        }
    }

    fn receiver(fd: OwnedFd) -> io::Result<pipe::Receiver> {
        pipe::Receiver::from_owned_fd(fd)
    }

    async fn readable(pipe: Option<&pipe::Receiver>) {
        match pipe {
            // An error shows again when it is read.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    async fn ended(exit: Option<&mut oneshot::Receiver<Exit>>) -> Exit {
        match exit {
            Some(exit) => exit.await.unwrap_or(Exit::Signal(0)),
            None => std::future::pending().await,
        }
    }

    /// Waits for the end on a thread, which reaps once nobody needs the number any more, and
    /// then sees to those who stayed in the group.
    fn watch(mut child: Child) -> io::Result<(oneshot::Receiver<Exit>, Hold)> {
        let (tell_exit, exit) = oneshot::channel();
        let (tell_end, ended) = sync_channel(1);
        let (zombie, released) = sync_channel::<()>(0);
        let group = Pid::from_child(&child);
        let wait = move || {
            let how = peek(group);
            // Whoever has gone away does not want to know.
            let _went_away = tell_end.send(());
            let _went_away = tell_exit.send(how);
            let _released = released.recv();
            let _reaped = child.wait();
            outlive(group);
        };
        thread::Builder::new().name("tool-wait".to_owned()).spawn(wait)?;
        Ok((exit, Hold { ended, _zombie: zombie }))
    }

    /// Waits for the end and leaves the zombie where it is.
    fn peek(pid: Pid) -> Exit {
        loop {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(pid), options) {
                Ok(Some(status)) => {
                    let signal = || status.terminating_signal().map(Exit::Signal);
                    let how = status.exit_status().map(Exit::Code).or_else(signal);
                    return how.unwrap_or(Exit::Signal(0));
                }
                Err(rustix::io::Errno::INTR) | Ok(None) => {}
                Err(_) => return Exit::Signal(0),
            }
        }
    }

    /// Gives those who are left in the group their time, and then ends them. As long as there
    /// is one, the number is the group's; without any, nobody is found under it.
    fn outlive(group: Pid) {
        let (_nobody_sends, clock) = sync_channel::<()>(0);
        for _ in 0..GRACE.as_millis() / GLANCE.as_millis() {
            if test_kill_process_group(group).is_err() {
                return;
            }
            let _time_passed = clock.recv_timeout(GLANCE);
        }
        let _nobody_left = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
mod other {
    use std::{
        io::{self, Read},
        process::Child,
        sync::{Arc, mpsc::sync_channel},
        thread,
        time::Duration,
    };

    use parking_lot::Mutex;
    use tokio::sync::mpsc;

    use super::{CHUNK, Event, Exit, Job, Kept, Stream, command, no_pipe};

    /// How often is looked whether it has ended.
    const GLANCE: Duration = Duration::from_millis(20);

    /// A process. When it is dropped, it is ended; what it started is not.
    pub(in super::super) struct Process {
        child: Arc<Mutex<Child>>,
        events: mpsc::Receiver<Event>,
    }

    impl Process {
        pub(in super::super) fn start(job: &Job) -> io::Result<Self> {
            let mut child = command(job).spawn()?;
            let pipes = (child.stdout.take(), child.stderr.take());
            let (tell, events) = mpsc::channel(16);
            let process = Self { child: Arc::new(Mutex::new(child)), events };
            read(Stream::Out, pipes.0.ok_or_else(no_pipe)?, tell.clone())?;
            read(Stream::Err, pipes.1.ok_or_else(no_pipe)?, tell.clone())?;
            let child = Arc::clone(&process.child);
            let wait = move || {
                let (_nobody_sends, clock) = sync_channel::<()>(0);
                loop {
                    let status = child.lock().try_wait();
                    let how = match status {
                        Ok(None) => {
                            let _time_passed = clock.recv_timeout(GLANCE);
                            continue;
                        }
                        Ok(Some(status)) => status.code().map_or(Exit::Signal(0), Exit::Code),
                        Err(_) => Exit::Signal(0),
                    };
                    let _went_away = tell.blocking_send(Event::Exit(how));
                    return;
                }
            };
            thread::Builder::new().name("tool-wait".to_owned()).spawn(wait)?;
            Ok(process)
        }

        pub(in super::super) async fn event(&mut self) -> Event {
            self.events.recv().await.unwrap_or(Event::Silence)
        }

        pub(in super::super) fn catch_up(&mut self, kept: &mut Kept) {
            while let Ok(Event::Output(stream, bytes)) = self.events.try_recv() {
                kept.push(stream, &bytes);
            }
        }

        pub(in super::super) fn end(&mut self) {
            // It fails when it has ended already.
            let _ended_already = self.child.lock().kill();
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            self.end();
        }
    }

    fn read(
        stream: Stream,
        mut pipe: impl Read + Send + 'static,
        tell: mpsc::Sender<Event>,
    ) -> io::Result<()> {
        let copy = move || {
            let mut buffer = vec![0; CHUNK];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let bytes = buffer.get(..count).unwrap_or_default().to_vec();
                if tell.blocking_send(Event::Output(stream, bytes)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("tool-read".to_owned()).spawn(copy).map(drop)
    }
}

fn no_pipe() -> io::Error {
    io::Error::other("there is no pipe to its output")
}
