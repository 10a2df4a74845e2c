//! Many writers at once: every line arrives, and memory does not grow with them.

use std::{fs, io::Write as _, path::PathBuf, time::Duration};

use letterpress::engine::follow::{Config, Wanted};

use super::{Folder, HEADER, Wall, prompt};

/// Writes lines in pieces; now and then the file is rotated, or cut and begun anew.
struct Writer {
    path: PathBuf,
    file: fs::File,
    number: u64,
    lines: u64,
    half: Option<Vec<u8>>,
}

impl Writer {
    fn new(path: PathBuf) -> Self {
        let mut file = fs::File::create(&path).expect("a file");
        file.write_all(HEADER.as_bytes()).expect("room");
        Self { path, file, number: 0, lines: 1, half: None }
    }

    fn line(&mut self) {
        let parent = match self.number {
            0 => String::new(),
            number => format!("w{number}"),
        };
        self.number += 1;
        let line = prompt(&format!("w{}", self.number), &parent, "some words – だけ");
        let mut bytes = self.half.take().unwrap_or_default();
        bytes.extend_from_slice(line.as_bytes());
        self.lines += 1;
        if self.number.is_multiple_of(3) {
            // The rest of it comes with the next one.
            let rest = bytes.split_off(bytes.len() - 9);
            self.half = Some(rest);
        }
        self.file.write_all(&bytes).expect("room");
    }

    fn end_line(&mut self) {
        if let Some(rest) = self.half.take() {
            self.file.write_all(&rest).expect("room");
        }
    }

    fn rotate(&mut self) {
        self.end_line();
        fs::rename(&self.path, self.path.with_extension("1")).expect("a rename");
        *self = Self { lines: self.lines + 1, ..Self::new(self.path.clone()) };
    }

    fn cut(&mut self) {
        self.end_line();
        self.file = fs::File::create(&self.path).expect("a file");
        self.file.write_all(HEADER.as_bytes()).expect("room");
        (self.number, self.lines) = (0, self.lines + 1);
    }
}

#[test]
fn every_line_of_sixteen_writers_arrives() {
    let folder = Folder::new();
    let mut writers: Vec<Writer> =
        (0..16).map(|n| Writer::new(folder.path().join(format!("{n:02}.jsonl")))).collect();
    let wanted = writers.iter().map(|writer| Wanted::File(writer.path.clone())).collect();
    let mut wall = Wall::of(wanted, Config::default());
    for round in 0..60 {
        for (number, writer) in writers.iter_mut().enumerate() {
            (0..4).for_each(|_| writer.line());
            if round % 20 == number {
                // What was written to a file that is cut is only safe once it was read.
                writer.end_line();
                let lines = writer.lines;
                wall.until("it was read", |f| {
                    f.conversations().nth(number).is_some_and(|one| one.lines_read() == lines)
                });
                if round < 20 { writer.rotate() } else { writer.cut() }
            }
        }
        wall.following.poll();
        wall.woken.recv_timeout(Duration::from_millis(5)).ok();
    }
    writers.iter_mut().for_each(Writer::end_line);
    let lines: Vec<u64> = writers.iter().map(|writer| writer.lines).collect();
    wall.until("every line", |f| {
        f.conversations().map(|one| one.lines_read()).eq(lines.iter().copied())
    });
    let rows: Vec<usize> = writers.iter().map(|writer| writer.number as usize).collect();
    wall.until("every row", |f| {
        f.conversations().map(|one| one.source().len()).eq(rows.iter().copied())
    });
}
