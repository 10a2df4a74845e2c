//! Tab stops: terminal output lines its columns up with tabs of eight.

use std::sync::Arc;

use crate::model::SgrRun;

/// Columns between tab stops of a terminal.
const STOP: usize = 8;

/// Replaces every tab by the spaces up to the next stop, and moves the runs along. Gives
/// the same pointer when there is no tab.
#[must_use]
pub fn expand(text: &Arc<str>, mut runs: Vec<SgrRun>) -> (Arc<str>, Vec<SgrRun>) {
    if !text.contains('\t') {
        return (Arc::clone(text), runs);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut edges = runs.iter_mut().flat_map(|run| [&mut run.start, &mut run.end]).peekable();
    let mut column = 0;
    for (at, c) in text.char_indices() {
        while let Some(edge) = edges.next_if(|edge| **edge as usize <= at) {
            *edge = out.len() as u32;
        }
        match c {
            '\t' => {
                let spaces = STOP - column % STOP;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\n' => {
                out.push(c);
                column = 0;
            }
            _ => {
                out.push(c);
                column += 1;
            }
        }
    }
    edges.for_each(|edge| *edge = out.len() as u32);
    (out.into(), runs)
}
