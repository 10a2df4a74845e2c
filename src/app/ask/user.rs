//! Somebody at a terminal, who can be asked.

use std::{
    fmt,
    io::{self, BufRead, BufReader, IsTerminal as _, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::{self, Receiver};

use super::question;
use crate::{
    model::{Approval, ApprovalId, Command, Decision, Draft, Ticket},
    perf,
};

/// How long a question stands before an answer counts: what was typed before it could be
/// read was meant for something else.
const ARMING: Duration = Duration::from_millis(500);

/// Somebody who can be asked.
pub struct User {
    lines: Lines,
    words: Box<dyn Write + Send>,
    asked: Option<Arc<Approval>>,
    /// He gave his word on it.
    has_answered: bool,
    since: Instant,
    arming: Duration,
    /// What was said beside an answer has a ticket of its own.
    ticket: Ticket,
}

/// What is typed, once anybody wants to know.
enum Lines {
    NotYet(Box<dyn BufRead + Send>),
    Read(Receiver<String>),
    Gone,
}

impl User {
    /// Who sits in front of this program; none when nobody does, or nothing can be shown.
    #[must_use]
    pub fn at_terminal() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        // Standard input may hold the prompt.
        let lines: Box<dyn BufRead + Send> = if io::stdin().is_terminal() {
            Box::new(BufReader::new(io::stdin()))
        } else {
            Box::new(BufReader::new(std::fs::File::open("/dev/tty").ok()?))
        };
        Some(Self::new(lines, Box::new(io::stderr()), ARMING))
    }

    /// Somebody who writes `lines` and reads `words`. Lines that come within `arming` of a
    /// question do not answer it.
    #[must_use]
    pub fn new(
        lines: Box<dyn BufRead + Send>,
        words: Box<dyn Write + Send>,
        arming: Duration,
    ) -> Self {
        let (lines, ticket) = (Lines::NotYet(lines), Ticket(super::TICKET.0 + 1));
        Self { lines, words, asked: None, has_answered: false, since: perf::now(), arming, ticket }
    }

    /// Puts a question to him, once.
    pub(super) fn put(&mut self, question: Option<&Arc<Approval>>) -> io::Result<()> {
        let id = |approval: &Arc<Approval>| approval.id;
        if question.map(id) == self.asked.as_ref().map(id) {
            return Ok(());
        }
        self.asked = question.map(Arc::clone);
        self.has_answered = false;
        match question {
            Some(approval) => self.show(&question::text(approval)),
            None => Ok(()),
        }
    }

    /// What he answers to the question; never, while there is none.
    pub(super) async fn answer(&mut self) -> io::Result<Command> {
        let open = self.asked.as_ref().filter(|_| !self.has_answered);
        let Some(approval) = open.map(Arc::clone) else {
            return std::future::pending().await;
        };
        loop {
            let Some(line) = self.line().await? else {
                self.show("\nletterpress: nobody answers, so it is not run\n")?;
                return Ok(self.decided(approval.id, Decision::Reject, None));
            };
            if perf::now().saturating_duration_since(self.since) < self.arming {
                self.show("That was typed before the question could be read.\n> ")?;
                continue;
            }
            match question::answer(&line, approval.offers.len()) {
                Some((decision, said)) => return Ok(self.decided(approval.id, decision, said)),
                None => self.show("Write y, n, a number of the list, or words.\n> ")?,
            }
        }
    }

    /// His word was not heard: the question is put to him again.
    pub(super) fn repeat(&mut self) {
        self.asked = None;
    }

    /// Asks for yes or no. Anything but a yes is a no.
    pub(super) async fn agrees(&mut self, question: &str) -> io::Result<bool> {
        self.show(question)?;
        loop {
            let Some(line) = self.line().await? else { return Ok(false) };
            if perf::now().saturating_duration_since(self.since) >= self.arming {
                return Ok(matches!(question::answer(&line, 0), Some((Decision::Once, _))));
            }
            self.show("That was typed before the question could be read.\n> ")?;
        }
    }

    fn decided(
        &mut self,
        approval: ApprovalId,
        decision: Decision,
        said: Option<String>,
    ) -> Command {
        let ticket = self.ticket;
        self.ticket = Ticket(ticket.0 + 1);
        let feedback = said.map(|words| Draft::text(ticket, words));
        self.has_answered = true;
        Command::Decide { approval, decision, feedback }
    }

    fn show(&mut self, words: &str) -> io::Result<()> {
        self.words.write_all(words.as_bytes())?;
        self.words.flush()?;
        self.since = perf::now();
        Ok(())
    }

    /// The next line; none when there will be no more.
    async fn line(&mut self) -> io::Result<Option<String>> {
        if let Lines::NotYet(_) = self.lines
            && let Lines::NotYet(lines) = std::mem::replace(&mut self.lines, Lines::Gone)
        {
            self.lines = Lines::Read(read(lines)?);
        }
        match &mut self.lines {
            Lines::Read(lines) => Ok(lines.recv().await),
            Lines::NotYet(_) | Lines::Gone => Ok(None),
        }
    }
}

/// Reads lines on a thread, because a terminal cannot be read in any other way. It ends with
/// the program.
fn read(mut lines: Box<dyn BufRead + Send>) -> io::Result<Receiver<String>> {
    let (sender, receiver) = mpsc::channel(1);
    let reading = move || {
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if sender.blocking_send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("letterpress-terminal".to_owned()).spawn(reading)?;
    Ok(receiver)
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("asked", &self.asked).finish_non_exhaustive()
    }
}
