//! A tool's text with the colours that a terminal gave it.

use std::io::{self, Write};

use super::{escape::Escaped, visible};
use crate::model::{Output, SgrColor, SgrRun};

/// Writes the text in a `pre`, with a span around each coloured run.
pub(super) fn write_output(output: &Output, out: &mut dyn Write) -> io::Result<()> {
    if output.text.is_empty() {
        return Ok(());
    }
    write!(out, "<pre class=\"output\">")?;
    let mut at = 0;
    for run in &*output.runs {
        let (start, end) = (run.start as usize, run.end as usize);
        write_plain(output.text.get(at..start), out)?;
        write_run(run, output.text.get(start..end), out)?;
        at = end;
    }
    write_plain(output.text.get(at..), out)?;
    writeln!(out, "</pre>")
}

fn write_plain(text: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}", Escaped(&visible(text.unwrap_or_default())))
}

fn write_run(run: &SgrRun, text: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<span class=\"")?;
    let faces = [(run.bold, 'b'), (run.dim, 'd'), (run.italic, 'i'), (run.underline, 'u')];
    for (_, name) in faces.iter().filter(|(set, _)| *set) {
        write!(out, "{name} ")?;
    }
    match run.foreground {
        SgrColor::Default => write!(out, "\">")?,
        SgrColor::Indexed(color) => write!(out, "c{}\">", color % 16)?,
        SgrColor::Rgb(r, g, b) => write!(out, "\" style=\"color:#{r:02x}{g:02x}{b:02x}\">")?,
    }
    write_plain(text, out)?;
    write!(out, "</span>")
}
