//! Finding words: in titles, in what was said, then in what tools were told and said.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use rusqlite::OptionalExtension as _;

use super::{
    Found, Place, Question,
    digest::{Node, Speaker},
    index::{Index, first_row, node, session_of},
    words::{GRAM, Words, fold, grams},
};
use crate::{
    model::{MessageId, Role},
    store::SessionId,
};

/// Hits of one session, so that it does not hide the others.
const SESSION_HITS_MAX: usize = 5;
/// Bytes of texts that are looked into for a question that is not thorough.
const LOOKED_MAX: usize = 8 << 20;
/// Grams that a short word may begin.
const BEGINNINGS_MAX: usize = 512;

/// A session that may be searched.
#[derive(Clone, Debug)]
pub(super) struct Searched {
    pub(super) id: SessionId,
    pub(super) title: Arc<str>,
    pub(super) row: i64,
    pub(super) updated_ms: i64,
}

/// Finds words in sessions that stand newest first; at most as many hits as
/// are wanted. True when it gave
/// up before it had looked everywhere.
pub(super) fn search(
    index: &Index,
    sessions: &[Searched],
    words: &Words,
    question: &Question,
) -> rusqlite::Result<(Vec<Found>, bool)> {
    crate::perf::scope!("search");
    let limit = question.limit;
    let room = if question.is_thorough { usize::MAX } else { LOOKED_MAX };
    if words.is_empty() {
        return Ok((Vec::new(), false));
    }
    let found = titles(sessions, words, limit);
    let mut hunt = Hunt { index, words, limit, room, found };
    let Some(query) = match_of(index, words)? else {
        hunt.look_through(sessions)?;
        return Ok((hunt.found, hunt.room == 0));
    };
    let said = hunt.candidates(&format!("text : ({query})"))?;
    hunt.collect(sessions, &said, Place::Text)?;
    if hunt.found.len() < limit && hunt.room > 0 {
        let rest = hunt.candidates(&query)?;
        hunt.collect(sessions, &rest, Place::Calls)?;
    }
    Ok((hunt.found, hunt.room == 0))
}

fn titles(sessions: &[Searched], words: &Words, limit: usize) -> Vec<Found> {
    let matching = sessions.iter().filter(|session| words.are_all_in(&fold(&session.title)));
    let found = matching.take(limit).map(|session| {
        let (snippet, ranges) = words.snippet(&session.title);
        hit(session, None, Place::Title, snippet, ranges)
    });
    found.collect()
}

fn hit(
    session: &Searched,
    node: Option<&Node>,
    place: Place,
    snippet: String,
    ranges: Vec<Range<usize>>,
) -> Found {
    Found {
        session: session.id.clone(),
        title: Arc::clone(&session.title),
        message: node.map(|node| MessageId(node.offset)),
        role: node.map(|node| match node.speaker {
            Speaker::User => Role::User,
            Speaker::Model => Role::Assistant,
            Speaker::Nobody => Role::System,
        }),
        time_ms: node.map_or(session.updated_ms, |node| node.time_ms),
        place,
        snippet: snippet.into(),
        ranges,
    }
}

/// What the index is asked for: every gram of every word, each quoted, so that nothing in a
/// word is syntax. None when only looking helps.
fn match_of(index: &Index, words: &Words) -> rusqlite::Result<Option<String>> {
    let quoted = |gram: &str| format!("\"{}\"", gram.replace('"', "\"\""));
    let long = words.iter().flat_map(grams).map(quoted).collect::<Vec<_>>();
    if !long.is_empty() {
        return Ok(Some(long.join(" AND ")));
    }
    // Words of two characters are what grams begin with.
    let longest = words.iter().max_by_key(|word| word.chars().count());
    let Some(word) = longest.filter(|word| word.chars().count() == GRAM - 1) else {
        return Ok(None);
    };
    let sql = "SELECT term FROM temp.gram WHERE term >= ?1 AND term <= ?2 LIMIT ?3";
    let mut query = index.db.prepare(sql)?;
    let after = format!("{word}\u{10FFFF}");
    let rows = query
        .query_map((word, &after, BEGINNINGS_MAX as i64 + 1), |row| row.get::<_, String>(0))?;
    let begun = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(match begun.len() {
        // Nothing begins so; a word that cannot be there is not found.
        0 => Some(quoted(&format!("{word}\u{10FFFF}"))),
        1..=BEGINNINGS_MAX => {
            Some(begun.iter().map(|gram| quoted(gram)).collect::<Vec<_>>().join(" OR "))
        }
        _ => None,
    })
}

/// Candidates: the messages of each session, oldest first.
type Candidates = BTreeMap<i64, Vec<i64>>;

struct Hunt<'a> {
    index: &'a Index,
    words: &'a Words,
    limit: usize,
    /// Bytes of texts that may still be looked into.
    room: usize,
    found: Vec<Found>,
}

impl Hunt<'_> {
    fn candidates(&self, query: &str) -> rusqlite::Result<Candidates> {
        let mut asked =
            self.index.db.prepare("SELECT rowid FROM grams WHERE grams MATCH ?1 ORDER BY rowid")?;
        let mut rows = asked.query([query])?;
        let mut found = Candidates::new();
        while let Some(row) = rows.next()? {
            let message: i64 = row.get(0)?;
            found.entry(session_of(message)).or_default().push(message);
        }
        Ok(found)
    }

    /// Takes those of the candidates that hold the words, newest first, in sessions that
    /// stand so, until there are enough.
    fn collect(
        &mut self,
        sessions: &[Searched],
        candidates: &Candidates,
        place: Place,
    ) -> rusqlite::Result<()> {
        // Most candidates hold the words; of those that do not, the rest is not wanted.
        let columns = match place {
            Place::Text | Place::Title => "text, ''",
            Place::Calls => "text, calls",
        };
        let mut query = self.index.db.prepare(&format!(
            "SELECT place, speaker, time, depth, open_part, {columns} FROM message WHERE row = ?1"
        ))?;
        for session in sessions {
            let Some(messages) = candidates.get(&session.row) else { continue };
            let mut hits = self.hits_of(session);
            for message in messages.iter().rev() {
                if self.found.len() >= self.limit || self.room == 0 {
                    return Ok(());
                }
                if hits >= SESSION_HITS_MAX {
                    break;
                }
                let node = query.query_row([*message], node).optional()?;
                if node.is_some_and(|node| self.look_into(session, &node, place)) {
                    hits += 1;
                }
            }
        }
        Ok(())
    }

    fn hits_of(&self, session: &Searched) -> usize {
        let own = |found: &&Found| found.message.is_some() && found.session == session.id;
        self.found.iter().filter(own).count()
    }

    /// Takes a message when the words are in it, and it was not taken before.
    fn look_into(&mut self, session: &Searched, node: &Node, place: Place) -> bool {
        self.room = self.room.saturating_sub(node.text.len() + node.calls.len());
        let words = self.words;
        let said = fold(&node.text);
        let (text, place) = if words.are_all_in(&said) {
            (&node.text, Place::Text)
        } else if place == Place::Text {
            return false;
        } else if words.are_all_in(&format!("{said}\n{}", fold(&node.calls))) {
            (&node.calls, Place::Calls)
        } else {
            return false;
        };
        let message = Some(MessageId(node.offset));
        if self.found.iter().any(|found| found.message == message && found.session == session.id) {
            return false;
        }
        let (snippet, ranges) = words.snippet(text);
        self.found.push(hit(session, Some(node), place, snippet, ranges));
        true
    }

    /// Looks through the newest messages for words that no gram helps with.
    fn look_through(&mut self, sessions: &[Searched]) -> rusqlite::Result<()> {
        let sql = "SELECT place, speaker, time, depth, open_part, text, calls FROM message \
                   WHERE row >= ?1 AND row < ?2 ORDER BY row DESC";
        let mut query = self.index.db.prepare(sql)?;
        for session in sessions {
            let mut hits = 0;
            let range = [first_row(session.row), first_row(session.row + 1)];
            let mut rows = query.query(range)?;
            while let Some(row) = rows.next()? {
                if self.found.len() >= self.limit || self.room == 0 {
                    return Ok(());
                }
                if self.look_into(session, &node(row)?, Place::Calls) {
                    hits += 1;
                    if hits >= SESSION_HITS_MAX {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
