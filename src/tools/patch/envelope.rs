//! The form between `*** Begin Patch` and `*** End Patch`.

use super::{Action, FilePatch, Hunk, Line, PatchError};

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "*** Begin Patch").skip(1);
    loop {
        let Some(line) = lines.next() else {
            return Err(PatchError("*** End Patch is missing".to_owned()));
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim_end() == "*** End Patch" {
            break;
        }
        if let Some(file) = header(line) {
            files.push(file);
        } else if let Some(file) = files.last_mut() {
            body(line, file)?;
        } else if !line.trim().is_empty() {
            return Err(PatchError(format!("{line:?} stands before any file")));
        }
    }
    for file in &mut files {
        finish(file)?;
    }
    Ok(files)
}

fn header(line: &str) -> Option<FilePatch> {
    let file = |path: &str, action| FilePatch { path: path.trim().to_owned(), action };
    if let Some(path) = line.strip_prefix("*** Add File: ") {
        return Some(file(path, Action::Add(String::new())));
    }
    if let Some(path) = line.strip_prefix("*** Delete File: ") {
        return Some(file(path, Action::Delete));
    }
    let path = line.strip_prefix("*** Update File: ")?;
    Some(file(path, Action::Update { moved_to: None, hunks: Vec::new() }))
}

fn body(line: &str, file: &mut FilePatch) -> Result<(), PatchError> {
    match &mut file.action {
        Action::Add(content) => match line.strip_prefix('+') {
            Some(rest) => {
                content.push_str(rest);
                content.push('\n');
                Ok(())
            }
            None if line.trim().is_empty() => Ok(()),
            None => Err(PatchError(format!("lines of the new file {} begin with +", file.path))),
        },
        Action::Delete if line.trim().is_empty() => Ok(()),
        Action::Delete => Err(PatchError(format!("{} is deleted and has no lines", file.path))),
        Action::Update { moved_to, hunks } => {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                *moved_to = Some(path.trim().to_owned());
                return Ok(());
            }
            update(line, hunks).map_err(|why| PatchError(format!("{}: {why}", file.path)))
        }
    }
}

fn update(line: &str, hunks: &mut Vec<Hunk>) -> Result<(), String> {
    if line.trim_end() == "*** End of File" {
        if let Some(hunk) = hunks.last_mut() {
            hunk.is_at_end = true;
        }
        return Ok(());
    }
    if let Some(anchor) = line.strip_prefix("@@") {
        let anchor = anchor.strip_prefix(' ').unwrap_or(anchor).trim_end();
        // Line numbers in this form are made up more often than not.
        let anchor = if anchor.starts_with('-') && anchor.ends_with("@@") { "" } else { anchor };
        let is_open = hunks.last().is_some_and(|hunk| hunk.lines.is_empty());
        if !is_open {
            hunks.push(Hunk::default());
        }
        if let Some(hunk) = hunks.last_mut().filter(|_| !anchor.is_empty()) {
            hunk.anchors.push(anchor.to_owned());
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    let line = match line.chars().next() {
        None => Line::Keep(String::new()),
        Some(' ') => Line::Keep(behind_sign(line)),
        Some('-') => Line::Remove(behind_sign(line)),
        Some('+') => Line::Add(behind_sign(line)),
        Some(_) => return Err(format!("the line {line:?} begins with none of blank, - and +")),
    };
    hunk.lines.push(line);
    Ok(())
}

fn behind_sign(line: &str) -> String {
    line.get(1..).unwrap_or_default().to_owned()
}

fn finish(file: &mut FilePatch) -> Result<(), PatchError> {
    let path = &file.path;
    if path.is_empty() {
        return Err(PatchError("a file of the patch has no name".to_owned()));
    }
    let Action::Update { moved_to, hunks } = &mut file.action else { return Ok(()) };
    for hunk in hunks.iter_mut() {
        // A blank line at the end is how files are told apart, not a line of the hunk.
        while hunk.lines.last() == Some(&Line::Keep(String::new())) && hunk.lines.len() > 1 {
            hunk.lines.pop();
        }
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    if hunks.is_empty() && moved_to.is_none() {
        return Err(PatchError(format!("nothing is changed in {path}")));
    }
    Ok(())
}
