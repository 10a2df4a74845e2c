//! Cells of small and of very large conversations, without a window.

use std::fmt::Write as _;

use letterpress::{
    layout::{Cell, Strip, Track},
    model::{GroupPlace, Matter, RowInfo, RowKind},
};
use proptest::prelude::*;

use super::rows::{Made, mixed, row};
use crate::bed::Bed;

const ONE: Track = Track { cells: 800, pixels_per_point: 1.0, foot: 32.0 };
/// Rows or counts that a frame may look at, beside the cells that the last of them fill.
const STEP: u64 = 8 * 1024 + 64;

/// Brings a strip up to date; gives the frames that took.
fn look(bed: &Bed, strip: &mut Strip, source: &Made, track: Track) -> usize {
    (1..1000)
        .find(|_| {
            let before = strip.looked_at();
            let whole = bed.sheet.overlook(strip, source, track);
            let looked_at = strip.looked_at() - before;
            assert!(looked_at <= STEP + track.cells as u64, "{looked_at}");
            whole
        })
        .expect("it comes to an end")
}

/// A bed whose sheet knows the rows, and did not look at any.
fn bed(source: &mut Made) -> Bed {
    let mut bed = Bed::new();
    bed.height = 1.0;
    bed.frame(source);
    bed
}

#[test]
fn small_conversations_have_these_cells() {
    crate::corpus::check_dir("minimap", "rows", |path| {
        let written = std::fs::read_to_string(path).expect("a fixture");
        let (cells, rows) = parse(&written);
        let mut source = Made::new(rows.len(), move |i| rows[i]);
        source.bare = true;
        let mut strip = Strip::default();
        look(&bed(&mut source), &mut strip, &source, Track { cells, ..ONE });
        dump(strip.cells())
    });
}

/// Rows as they are written in a fixture.
fn parse(written: &str) -> (usize, Vec<RowInfo>) {
    let (mut cells, mut rows, mut begun) = (0, Vec::new(), 0);
    for line in written.lines() {
        let (kind, rest) = line.split_once(' ').expect("a kind and a number");
        let mut words = rest.split(' ');
        let number: usize = words.next().expect("a number").parse().expect("a number");
        let kind = match kind {
            "cells" => {
                cells = number;
                continue;
            }
            "repeat" => {
                let again: Vec<RowInfo> = rows.drain(begun..).collect();
                rows.extend(again.iter().cycle().take(again.len() * number));
                begun = rows.len();
                continue;
            }
            "user" => RowKind::User,
            "assistant" => RowKind::Assistant,
            _ => RowKind::Notice,
        };
        let mut info = row(rows.len(), kind, number as u16);
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, "0"));
            let value: u8 = value.parse().expect("a number");
            match name {
                "thinks" => info.thinks = true,
                "calls" => info.calls = value,
                "reads" => info.tally.reads = value,
                "failed" => info.failed = true,
                "forks" => info.forks = true,
                "leads" => info.group = GroupPlace::Leads,
                _ => info.group = GroupPlace::Follows { back: value },
            }
        }
        rows.push(info);
    }
    for (number, info) in rows.iter_mut().enumerate() {
        info.id = row(number, info.kind, 0).id;
    }
    (cells, rows)
}

fn dump(cells: &[Cell]) -> String {
    let mut out = String::new();
    for (i, cell) in cells.iter().enumerate() {
        _ = write!(out, "{i:3}");
        if cell.is_used() {
            _ = write!(out, " rows {}..{}", cell.rows.start, cell.rows.end);
        }
        for (matter, share) in Matter::ALL.into_iter().zip(cell.mix) {
            if share > 0 {
                _ = write!(out, " {matter:?} {share}");
            }
        }
        if cell.reach > 0 {
            _ = write!(out, " reach {}", cell.reach);
        }
        if cell.failed > 0 {
            _ = write!(out, " failed {}", cell.failed);
        }
        _ = writeln!(out, "{}", if cell.forks { " forks" } else { "" });
    }
    out
}

/// Every row stands in a cell, in order, and what failed is marked there.
fn check(strip: &Strip, source: &Made, step: usize) {
    use letterpress::model::Source as _;
    let used: Vec<&Cell> = strip.cells().iter().filter(|cell| cell.is_used()).collect();
    let mut at = 0;
    for number in (0..source.len()).step_by(step) {
        while used.get(at).is_some_and(|cell| cell.rows.end as usize <= number) {
            at += 1;
        }
        let cell = used.get(at).expect("each row has a cell");
        assert!(cell.rows.contains(&(number as u32)), "{number} {cell:?}");
        let info = source.row(number);
        assert!(!info.failed || cell.failed > 0, "{number} {cell:?}");
        let marked = || used.iter().any(|c| c.forks && c.rows.contains(&(number as u32)));
        assert!(!info.forks || marked(), "{number} {cell:?}");
    }
}

fn with_flaws(number: usize) -> RowInfo {
    let info = mixed(number);
    RowInfo { failed: number % 99_991 == 77, forks: number % 77_773 == 5, ..info }
}

#[test]
fn a_million_rows_take_a_few_frames_and_then_nothing() {
    let mut source = Made::new(1_000_000, with_flaws);
    let bed = bed(&mut source);
    let mut strip = Strip::default();
    let frames = look(&bed, &mut strip, &source, ONE);
    assert!(frames <= 5, "{frames}");
    check(&strip, &source, 1);
    let failed = strip.cells().iter().filter(|cell| cell.failed > 0).count();
    assert_eq!(failed, 11, "one cell for each failure");
    let before = strip.looked_at();
    for _ in 0..100 {
        look(&bed, &mut strip, &source, ONE);
    }
    assert_eq!(strip.looked_at(), before, "an idle frame looks at nothing");
    assert!(strip.take_changed().is_some() && strip.take_changed().is_none());
}

#[test]
fn each_length_has_every_row_in_a_cell() {
    for len in [1, 2, 10, 31, 32, 33, 1_000, 1_023, 1_024, 1_025, 9_000, 30_000, 120_000] {
        let mut source = Made::new(len, with_flaws);
        let bed = bed(&mut source);
        for cells in [1, 40, 800, 2_100] {
            let mut strip = Strip::default();
            look(&bed, &mut strip, &source, Track { cells, ..ONE });
            assert_eq!(strip.cells().len(), cells);
            check(&strip, &source, 1);
        }
    }
}

#[test]
fn a_row_that_comes_costs_what_it_is_at_any_length() {
    for len in [300, 10_000, 200_000, 1_000_000] {
        let mut source = Made::new(len, |number| {
            let info = mixed(number);
            RowInfo { failed: number % 50_000 == 1, ..info }
        });
        let mut bed = bed(&mut source);
        let mut strip = Strip::default();
        look(&bed, &mut strip, &source, ONE);
        strip.take_changed();
        let mut most = 0;
        for _ in 0..40 {
            source.grow(1);
            bed.frame(&mut source);
            let (before, was) = (strip.looked_at(), strip.per_cell());
            look(&bed, &mut strip, &source, ONE);
            // When the room at the end is used up, all of it is drawn closer together.
            if strip.per_cell() == was {
                most = most.max(strip.looked_at() - before);
            }
            check(&strip, &source, 97);
        }
        assert!(most <= 1_200, "{most} at {len}");
    }
}

#[test]
fn a_failure_that_comes_last_is_shown_at_once() {
    let mut source = Made::new(500_000, |number| {
        let info = mixed(number);
        RowInfo { failed: number == 500_000, ..info }
    });
    let mut bed = bed(&mut source);
    let mut strip = Strip::default();
    look(&bed, &mut strip, &source, ONE);
    assert!(strip.cells().iter().all(|cell| cell.failed == 0));
    strip.take_changed();
    source.grow(1);
    bed.frame(&mut source);
    look(&bed, &mut strip, &source, ONE);
    let failed = strip.cells().iter().position(|cell| cell.failed > 0).expect("it is marked");
    assert_eq!(strip.take_changed().map(|changed| changed.contains(&failed)), Some(true));
}

#[test]
fn a_row_leads_back_to_its_cell() {
    let mut source = Made::new(10, mixed);
    let bed = bed(&mut source);
    let mut strip = Strip::default();
    assert_eq!(strip.row_at(0), None);
    look(&bed, &mut strip, &source, ONE);
    assert_eq!(strip.row_at(0), Some(0));
    assert_eq!(strip.row_at(799), Some(9), "what lies behind the end is the end");
}

/// Rows that come behind others are where they would be had they been there before.
#[test]
fn heights_that_grow_equal_heights_made_at_once() {
    use letterpress::layout::heights::{CHUNK, Heights};
    let estimate = |row: usize| (row % 13) as f64 * 7.0;
    let of_chunk = |rows: usize| {
        move |chunk: usize| (chunk * CHUNK..((chunk + 1) * CHUNK).min(rows)).map(estimate).sum()
    };
    for (first, then) in [(1, 2), (10, 1_024), (1_024, 1_025), (1_500, 5_000), (2_048, 2_048)] {
        for looked_at in [None, Some(first - 1), Some(0)] {
            let mut grown = Heights::new(first, of_chunk(first));
            if let Some(row) = looked_at {
                grown.set(row, 1_000.0, estimate);
            }
            grown.extend(then, estimate, of_chunk(then));
            let mut made = Heights::new(then, of_chunk(then));
            if let Some(row) = looked_at {
                made.set(row, 1_000.0, estimate);
            }
            assert_eq!(grown.total(), made.total(), "{first} {then} {looked_at:?}");
            for row in (0..then).step_by(7).chain([then - 1]) {
                assert_eq!(grown.top(row, estimate), made.top(row, estimate), "{row}");
                assert_eq!(grown.get(row, estimate), made.get(row, estimate), "{row}");
            }
        }
    }
}

#[test]
fn heights_hold_few_chunks_row_by_row() {
    use letterpress::layout::heights::{CHUNK, Heights};
    let mut heights = Heights::new(1_000 * CHUNK, |_| 5.0 * CHUNK as f64);
    for chunk in 0..1_000 {
        heights.set(chunk * CHUNK, 9.0, |_| 5.0);
    }
    assert_eq!(heights.total(), 1_000.0 * (5.0 * CHUNK as f64 + 4.0));
    assert!(heights.heap_bytes() <= 3 << 20, "{}", heights.heap_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Rows that come one after the other make the picture of all of them at once.
    #[test]
    fn incremental_equals_scratch(
        lines in proptest::collection::vec(0_u16..30, 1..260),
        batches in proptest::collection::vec(1_usize..40, 1..30),
    ) {
        let track = Track { cells: 30_000, ..ONE };
        let all = lines.len();
        let rule = move |number: usize| {
            let kinds = [RowKind::User, RowKind::Assistant, RowKind::Assistant];
            let info = row(number, kinds[number % 3], lines[number]);
            RowInfo {
                failed: number % 7 == 3,
                forks: number % 11 == 4,
                calls: (number % 4) as u8,
                group: match number % 5 {
                    2 => GroupPlace::Follows { back: 1 },
                    _ => GroupPlace::Alone,
                },
                ..info
            }
        };
        let mut source = Made::new(1, rule);
        let mut bed = Bed::new();
        bed.height = 1.0;
        let mut strip = Strip::default();
        for batch in batches {
            bed.frame(&mut source);
            look(&bed, &mut strip, &source, track);
            let left = all - letterpress::model::Source::len(&source);
            source.grow(batch.min(left));
        }
        bed.frame(&mut source);
        look(&bed, &mut strip, &source, track);
        let mut scratch = Strip::default();
        look(&bed, &mut scratch, &source, track);
        // A row that takes no place may stand on either side of the line between two cells,
        // because what was measured of the rows above moves it by less than a cell.
        let near = |a: u32, b: u32| a.abs_diff(b) <= 1;
        let pairs = strip.cells().iter().zip(scratch.cells());
        let differing: Vec<_> = pairs.filter(|(cell, other)| cell != other).collect();
        let is_near = differing.iter().all(|(cell, other)| {
            near(cell.rows.start, other.rows.start) && near(cell.rows.end, other.rows.end)
        });
        prop_assert!(is_near && differing.len() <= 4, "{:?}", differing);
        prop_assert_eq!(strip.cells().len(), scratch.cells().len());
    }
}
