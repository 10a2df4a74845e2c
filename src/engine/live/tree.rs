//! All messages of a conversation that were ever said: who follows whom.

use std::sync::Arc;

use crate::model::{Fork, MessageId};

/// Marks the beginning of a conversation in the place of a parent.
const ROOT: u32 = u32::MAX;

/// All messages of a conversation, in the order in which they were said.
///
/// A message stands behind its parent, so that ids, numbers and places all rise together.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Messages that begin a conversation.
    roots: u32,
}

/// A place in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u32);

/// A message in a tree, in 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// What names it in the program, and where its first record stands in the log.
    id: u64,
    /// What names it in the log.
    n: u64,
    /// Where the record stands that holds it whole.
    body: u64,
    parent: u32,
    children: u32,
    kind: NodeKind,
}

/// What a node of a [`Tree`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// What the user said.
    Prompt,
    /// What a model said.
    Reply,
    /// A reply of which the log holds only pieces.
    Unfinished,
    /// A word of ours.
    Notice,
    /// A mark in the log that the conversation goes on at its parent.
    Branch,
}

/// A message that comes into a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewNode {
    pub(super) id: MessageId,
    pub(super) n: u64,
    pub(super) parent: Option<Place>,
    pub(super) kind: NodeKind,
}

impl Tree {
    /// Adds a message, behind all others. None when its id or number does not rise.
    pub(super) fn push(&mut self, new: NewNode) -> Option<Place> {
        let NewNode { id, n, parent, kind } = new;
        if self.nodes.last().is_some_and(|last| last.id >= id.0 || last.n >= n) {
            return None;
        }
        let place = u32::try_from(self.nodes.len()).ok().filter(|place| *place != ROOT)?;
        let parent = self.message_at(parent).map_or(ROOT, |parent| parent.0);
        if kind != NodeKind::Branch {
            match self.nodes.get_mut(parent as usize) {
                Some(parent) => parent.children += 1,
                None => self.roots += 1,
            }
        }
        self.nodes.push(Node { id: id.0, n, body: id.0, parent, children: 0, kind });
        Some(Place(place))
    }

    /// The record that holds a message whole came.
    pub(super) fn complete(&mut self, place: Place, body: u64) {
        if let Some(node) = self.nodes.get_mut(place.0 as usize) {
            node.body = body;
            if node.kind == NodeKind::Unfinished {
                node.kind = NodeKind::Reply;
            }
        }
    }

    /// The number of the newest node.
    pub(super) fn last_number(&self) -> Option<u64> {
        self.nodes.last().map(|node| node.n)
    }

    pub(super) fn place_of(&self, id: MessageId) -> Option<Place> {
        let at = self.nodes.binary_search_by_key(&id.0, |node| node.id).ok()?;
        self.of_message(at)
    }

    /// By what names it in the log.
    pub(super) fn named(&self, n: u64) -> Option<Place> {
        let at = self.nodes.binary_search_by_key(&n, |node| node.n).ok()?;
        u32::try_from(at).ok().map(Place)
    }

    fn of_message(&self, at: usize) -> Option<Place> {
        let node = self.nodes.get(at)?;
        (node.kind != NodeKind::Branch).then_some(Place(u32::try_from(at).ok()?))
    }

    /// The newest node of all, by which the conversation ends in the log.
    pub(super) fn newest(&self) -> Option<Place> {
        let last = self.nodes.len().checked_sub(1)?;
        self.message_at(Some(Place(u32::try_from(last).ok()?)))
    }

    /// The message that a node stands for.
    fn message_at(&self, place: Option<Place>) -> Option<Place> {
        let place = place?;
        let node = self.nodes.get(place.0 as usize)?;
        match node.kind {
            // It is made of messages only: the parent of a mark is never a mark.
            NodeKind::Branch => self.parent(place),
            _ => Some(place),
        }
    }

    pub(super) fn parent(&self, place: Place) -> Option<Place> {
        self.nodes.get(place.0 as usize).map(|node| node.parent).filter(|p| *p != ROOT).map(Place)
    }

    pub(super) fn id(&self, place: Place) -> MessageId {
        self.nodes.get(place.0 as usize).map_or_else(MessageId::default, |node| MessageId(node.id))
    }

    pub(super) fn kind(&self, place: Place) -> NodeKind {
        self.nodes.get(place.0 as usize).map_or(NodeKind::Branch, |node| node.kind)
    }

    /// Where the record stands that holds a message whole.
    pub(super) fn body(&self, place: Place) -> u64 {
        self.nodes.get(place.0 as usize).map_or(0, |node| node.body)
    }

    /// What names a message in the log.
    pub(super) fn key(&self, place: Place) -> Arc<str> {
        self.nodes.get(place.0 as usize).map_or_else(|| "".into(), |node| key(node.n))
    }

    /// A message and those before it, newest first.
    pub(super) fn upwards(&self, from: Option<Place>) -> impl Iterator<Item = Place> {
        std::iter::successors(from, |place| self.parent(*place))
    }

    /// The prompt at or before a message.
    pub(super) fn prompt_at(&self, from: Option<Place>) -> Option<Place> {
        self.upwards(from).find(|place| self.kind(*place) == NodeKind::Prompt)
    }

    /// Where the branch ends that a message stands on, as it was left.
    pub(super) fn end_of(&self, place: Place) -> Place {
        let first = place.0 as usize;
        let behind = self.nodes.get(first..).unwrap_or_default();
        let mut is_within = vec![false; behind.len()];
        let mut last = first;
        for (at, node) in behind.iter().enumerate() {
            let parent = (node.parent as usize).checked_sub(first).filter(|_| node.parent != ROOT);
            let is_below = parent.and_then(|parent| is_within.get(parent)) == Some(&true);
            if let Some(within) = is_within.get_mut(at) {
                *within = at == 0 || is_below;
                last = if *within { first + at } else { last };
            }
        }
        let last = u32::try_from(last).map_or(place, Place);
        self.message_at(Some(last)).unwrap_or(place)
    }

    /// Where the path to a message parts from others.
    pub(super) fn forks(&self, end: Option<Place>) -> Arc<[Fork]> {
        let mut path: Vec<Place> =
            self.upwards(end).filter(|place| self.has_siblings(*place)).collect();
        path.reverse();
        if path.is_empty() {
            return Arc::default();
        }
        // The messages that stand where a path forks, by what they stand behind.
        let mut siblings: Vec<(u32, u32)> = Vec::new();
        for (at, node) in (0_u32..).zip(&self.nodes) {
            if node.kind != NodeKind::Branch && self.has_siblings(Place(at)) {
                siblings.push((node.parent, at));
            }
        }
        siblings.sort_unstable();
        path.into_iter().map(|place| self.fork(place, &siblings)).collect()
    }

    fn fork(&self, place: Place, siblings: &[(u32, u32)]) -> Fork {
        let parent = self.nodes.get(place.0 as usize).map_or(ROOT, |node| node.parent);
        let from = siblings.partition_point(|(of, _)| *of < parent);
        let those = siblings.get(from..).unwrap_or_default();
        let those = those.iter().take_while(|(of, _)| *of == parent);
        let places: Vec<Place> = those.map(|(_, at)| Place(*at)).collect();
        Fork {
            message: self.id(place),
            at: places.iter().position(|at| *at == place).unwrap_or_default(),
            siblings: places.into_iter().map(|at| self.id(at)).collect(),
        }
    }

    pub(super) fn has_siblings(&self, place: Place) -> bool {
        let siblings = match self.parent(place) {
            Some(parent) => self.nodes.get(parent.0 as usize).map_or(0, |node| node.children),
            None => self.roots,
        };
        siblings > 1
    }
}

/// The name that the log knows a message by.
pub(super) fn key(n: u64) -> Arc<str> {
    format!("m{n}").into()
}

/// What [`key`] made a name of.
pub(super) fn number(key: &str) -> Option<u64> {
    key.strip_prefix('m')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds messages of these parents; the first is 0.
    fn tree(of: &[(Option<u32>, NodeKind)]) -> Tree {
        let mut tree = Tree::default();
        for (at, (parent, kind)) in (0..).zip(of) {
            let id = MessageId(at * 10 + 5);
            let parent = parent.map(Place);
            assert!(tree.push(NewNode { id, n: at, parent, kind: *kind }).is_some());
        }
        tree
    }

    #[test]
    fn a_node_is_small() {
        assert!(size_of::<Node>() <= 40);
    }

    #[test]
    fn the_newest_node_says_where_the_conversation_ends() {
        use NodeKind::{Branch, Prompt, Reply};
        let tree = tree(&[
            (None, Prompt),
            (Some(0), Reply),
            (Some(0), Reply),
            (Some(2), Prompt),
            (Some(1), Branch),
            (Some(4), Prompt),
            (Some(3), Branch),
        ]);
        assert_eq!(tree.newest(), Some(Place(3)));
        assert_eq!(tree.parent(Place(5)), Some(Place(1)), "a mark is nobody's parent");
        let ids = |places: Vec<Place>| places.iter().map(|place| place.0).collect::<Vec<_>>();
        assert_eq!(ids(tree.upwards(tree.newest()).collect()), [3, 2, 0]);
        assert_eq!(tree.place_of(MessageId(45)), None, "a mark is no message");
        assert_eq!(tree.place_of(MessageId(55)), Some(Place(5)));
        assert_eq!(tree.place_of(MessageId(54)), None);
        assert_eq!(tree.prompt_at(Some(Place(2))), Some(Place(0)));
    }

    #[test]
    fn a_branch_is_gone_to_as_it_was_left() {
        use NodeKind::{Branch, Prompt, Reply};
        let tree = tree(&[
            (None, Prompt),
            (Some(0), Reply),
            (Some(1), Prompt),
            (Some(1), Prompt),
            (Some(0), Reply),
            (Some(2), Branch),
            (Some(4), Branch),
        ]);
        assert_eq!(tree.end_of(Place(1)), Place(2), "the mark says that it was left there");
        assert_eq!(tree.end_of(Place(4)), Place(4));
        assert_eq!(tree.end_of(Place(3)), Place(3));
        assert_eq!(tree.end_of(Place(0)), Place(4));
    }

    #[test]
    fn forks_name_all_that_stand_in_one_place() {
        use NodeKind::{Prompt, Reply};
        let tree = tree(&[
            (None, Prompt),
            (Some(0), Reply),
            (None, Prompt),
            (Some(2), Reply),
            (Some(2), Reply),
            (Some(2), Reply),
        ]);
        let forks = tree.forks(Some(Place(4)));
        let shown: Vec<_> = forks
            .iter()
            .map(|f| (f.message.0, f.at, f.siblings.iter().map(|s| s.0).collect::<Vec<_>>()))
            .collect();
        assert_eq!(shown, [(25, 1, vec![5, 25]), (45, 1, vec![35, 45, 55])]);
        assert!(tree.forks(None).is_empty());
        assert_eq!(tree.forks(Some(Place(1))).len(), 1);
    }

    #[test]
    fn what_does_not_rise_is_left_out() {
        let mut tree = tree(&[(None, NodeKind::Prompt)]);
        let node = NewNode { id: MessageId(5), n: 9, parent: None, kind: NodeKind::Reply };
        assert_eq!(tree.push(node), None);
        assert_eq!(tree.push(NewNode { id: MessageId(6), n: 0, ..node }), None);
        assert!(tree.push(NewNode { id: MessageId(6), ..node }).is_some());
    }
}
