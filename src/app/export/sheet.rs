//! A conversation on its way into a format.

use std::io::{self, Write};

use super::{
    Format, Images, Order, Summary, html, json, markdown, redact::Redaction, subject::Matter, text,
    warnings::Warnings,
};
use crate::{
    app::work::{Stage, Watch},
    engine,
    model::{Message, Warning},
};

/// A format being written.
pub(super) trait Sheet {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()>;
    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()>;
    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()>;
}

/// What stands above the messages.
pub(super) struct Head<'a> {
    pub(super) format: &'a str,
    pub(super) path: &'a str,
    pub(super) title: Option<&'a str>,
    pub(super) branches: &'a [&'a str],
    /// Only some of the messages follow.
    pub(super) is_excerpt: bool,
}

impl Format {
    fn sheet(self, images: Images) -> Box<dyn Sheet> {
        match self {
            Self::Md => Box::new(markdown::Markdown { images }),
            Self::Html => Box::new(html::Html { images }),
            Self::Json => Box::new(json::Json::new(images)),
            Self::Jsonl => Box::new(json::JsonLines { images }),
            Self::Txt => Box::new(text::PlainText),
        }
    }

    /// Only a page needs the blocks of a message.
    fn finish(self) -> fn(Message) -> Message {
        match self {
            Self::Html => engine::prepare,
            Self::Md | Self::Json | Self::Jsonl | Self::Txt => |message| message,
        }
    }
}

/// Writes the messages that an order names, one at a time.
pub(super) fn write(
    matter: &Matter,
    order: &Order,
    out: &mut dyn Write,
    watch: &mut dyn Watch,
) -> io::Result<Summary> {
    let redaction = order.redaction.as_deref();
    let mut sheet = order.format.sheet(order.images);
    begin(&mut *sheet, matter, order, out)?;
    let covered = |warning: Warning| match redaction {
        Some(redaction) => redaction.warning(warning),
        None => warning,
    };
    let mut warnings = Warnings::default();
    // What was met while indexing is about the whole, of which an excerpt is not.
    if order.only.is_none() {
        warnings.extend(matter.warnings().iter().cloned().map(covered));
    }
    let finish = order.format.finish();
    let rows = matter.rows(order.only.as_ref());
    for (done, row) in (1..).zip(&rows) {
        let finish = |message| finish(redacted(redaction, message));
        let (message, met) = matter.message(*row as usize, finish);
        warnings.extend(met.into_iter().map(covered));
        sheet.message(&message, out)?;
        if watch.saw(Stage::Writing, done, rows.len() as u64).is_break() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    let warnings = warnings.into_list();
    sheet.end(&warnings, out)?;
    out.flush()?;
    Ok(Summary { messages: rows.len() as u64, warnings: warnings.len() as u64 })
}

fn redacted(redaction: Option<&Redaction>, message: Message) -> Message {
    match redaction {
        Some(redaction) => redaction.message(message),
        None => message,
    }
}

fn begin(
    sheet: &mut dyn Sheet,
    matter: &Matter,
    order: &Order,
    out: &mut dyn Write,
) -> io::Result<()> {
    let say = |text: String| match order.redaction.as_deref() {
        Some(redaction) => redaction.text(&text).into_owned(),
        None => text,
    };
    let (path, title) = (say(matter.place()), matter.title().map(say));
    let head = Head {
        format: matter.format(),
        path: &path,
        title: title.as_deref(),
        branches: &matter.branches(),
        is_excerpt: order.only.is_some(),
    };
    sheet.begin(&head, out)
}
