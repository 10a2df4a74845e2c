//! The blocks of a reply in order of arrival.
//!
//! Blocks are only ever appended, and a complete one never changes: so ids are stable and
//! nothing already presented can move or vanish.

use std::sync::Arc;

use super::{
    block::{Block, Body, CallBlock, CallSource, CleanUp, Prose},
    effect::{BlockId, Flaw, RowKind},
};
use crate::{
    markup::{Arrival, Place, TagCall, TagEvent, is_blank},
    model::MessageId,
};

/// Blocks of one reply; what is said behind them goes into the last prose.
const MAX_BLOCKS: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(super) struct BlockList {
    message: MessageId,
    blocks: Vec<Block>,
    /// How texts of this reply are cleaned up.
    clean_up: CleanUp,
    /// The last block, while it is prose that more may be appended to.
    open: Option<usize>,
    /// The call made of tags that is being filled.
    open_call: Option<usize>,
    /// Blocks that changed since they were last asked for, once each.
    touched: Vec<usize>,
}

impl BlockList {
    pub(super) fn new(message: MessageId, clean_up: CleanUp) -> Self {
        let (blocks, touched) = Default::default();
        Self { message, blocks, clean_up, open: None, open_call: None, touched }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// True when there are as many blocks as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= MAX_BLOCKS
    }

    pub(super) fn message(&self) -> MessageId {
        self.message
    }

    pub(super) fn get(&self, index: usize) -> Option<&Block> {
        self.blocks.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Block> {
        self.blocks.get_mut(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    /// The id of the block at a place, whether it has arrived or not.
    pub(super) fn id(&self, index: usize) -> BlockId {
        BlockId { message: self.message, ordinal: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        self.blocks.iter_mut()
    }

    pub(super) fn take_touched(&mut self) -> Vec<usize> {
        let touched = std::mem::take(&mut self.touched);
        for index in &touched {
            self.blocks[*index].is_touched = false;
        }
        touched
    }

    /// The prose that is open, if it is of this kind.
    fn open_prose(&self, kind: RowKind) -> Option<usize> {
        self.open.filter(|open| match &self.blocks[*open].body {
            Body::Prose(prose) => prose.kind == kind || self.is_full(),
            Body::Call(_) | Body::Apart => false,
        })
    }

    /// Appends to the open prose of this kind, or opens one with the first words.
    pub(super) fn push_prose(&mut self, kind: RowKind, piece: &str) {
        let index = match self.open_prose(kind) {
            Some(index) => index,
            None if is_blank(piece) => return,
            None => self.begin_prose(kind),
        };
        if let Body::Prose(prose) = &mut self.blocks[index].body {
            prose.text.push(piece);
        }
        self.touch(index);
    }

    /// Opens a prose; one that is open is complete then.
    pub(super) fn begin_prose(&mut self, kind: RowKind) -> usize {
        self.close_prose();
        if let Some(open) = self.open {
            return open;
        }
        let clean_up = if kind == RowKind::Text { self.clean_up } else { CleanUp::Verbatim };
        let index = self.push(Body::Prose(Prose::new(kind, clean_up)));
        self.open = Some(index);
        index
    }

    /// Completes the open prose, unless it has to hold all that is still to come.
    pub(super) fn close_prose(&mut self) {
        if self.is_full() {
            return;
        }
        if let Some(open) = self.open.take() {
            self.complete(open);
        }
    }

    /// Notes where the open text ends.
    pub(super) fn set_place(&mut self, place: Place) {
        let open = self.open_prose(RowKind::Text);
        if let Some(Body::Prose(prose)) = open.map(|open| &mut self.blocks[open].body) {
            prose.place = place;
        }
    }

    /// Replaces the open prose of this kind.
    pub(super) fn replace_prose(&mut self, kind: RowKind, text: &str) {
        let Some(index) = self.open_prose(kind) else {
            self.push_prose(kind, text);
            return;
        };
        if self.is_full() {
            return;
        }
        if let Body::Prose(prose) = &mut self.blocks[index].body {
            prose.replace(text);
        }
        self.touch(index);
    }

    /// True when the block is reasoning.
    pub(super) fn is_reasoning(&self, index: usize) -> bool {
        self.get(index).is_some_and(|block| match &block.body {
            Body::Prose(prose) => prose.kind == RowKind::Reasoning,
            Body::Call(_) | Body::Apart => false,
        })
    }

    /// What a call's parameters are read from.
    pub(super) fn call_source(&mut self, index: usize) -> Option<&mut CallSource> {
        match &mut self.blocks.get_mut(index)?.body {
            Body::Call(call) => Some(&mut call.source),
            Body::Prose(_) | Body::Apart => None,
        }
    }

    pub(super) fn push_call(&mut self, id: Arc<str>, name: Arc<str>, source: CallSource) -> usize {
        let call = CallBlock::new(id, name, source);
        self.push(Body::Call(Box::new(call)))
    }

    /// A place for what is shown apart.
    pub(super) fn push_apart(&mut self) -> usize {
        self.push(Body::Apart)
    }

    /// A call made of tags; its id names its place.
    pub(super) fn push_tag_call(&mut self, name: &Arc<str>) {
        let id = format!("tag-{}-{}", self.message.0, self.blocks.len()).into();
        let source = CallSource::Tags(TagCall::new(Arc::clone(name)));
        self.open_call = Some(self.push_call(id, Arc::clone(name), source));
    }

    /// The call made of tags that is being filled, with its place.
    pub(super) fn open_tag_call(&mut self) -> Option<(usize, &mut CallBlock)> {
        let index = self.open_call?;
        match &mut self.blocks.get_mut(index)?.body {
            Body::Call(call) => Some((index, call)),
            Body::Prose(_) | Body::Apart => None,
        }
    }

    /// Fills the open call made of tags; its closing tag makes it complete and sound.
    pub(super) fn apply_to_tag_call(&mut self, event: TagEvent<'_>) {
        let Some((index, call)) = self.open_tag_call() else { return };
        call.apply(event);
        self.touch(index);
        if matches!(event, TagEvent::ToolClose { .. }) {
            self.open_call = None;
            self.judge(index, |_| Ok(()));
            self.complete(index);
        }
    }

    /// Decides, once, whether a call can run.
    pub(super) fn judge(
        &mut self,
        index: usize,
        verdict: impl FnOnce(&CallBlock) -> Result<(), Flaw>,
    ) {
        let Some(Block { id, body: Body::Call(call), .. }) = self.blocks.get_mut(index) else {
            return;
        };
        if call.verdict.is_none() {
            call.verdict = Some(verdict(call).map(|()| call.complete(*id)));
        }
    }

    /// Completes a block; of a complete one nothing changes.
    pub(super) fn complete(&mut self, index: usize) {
        if let Some(block) = self.blocks.get_mut(index)
            && block.arrival == Arrival::Partial
        {
            block.arrival = Arrival::Complete;
            self.touch(index);
        }
    }

    pub(super) fn touch(&mut self, index: usize) {
        if let Some(block) = self.blocks.get_mut(index)
            && !block.is_touched
        {
            block.is_touched = true;
            self.touched.push(index);
        }
    }

    fn push(&mut self, body: Body) -> usize {
        let index = self.blocks.len();
        let id = self.id(index);
        self.blocks.push(Block { id, arrival: Arrival::Partial, body, is_touched: false });
        self.touch(index);
        index
    }
}
