//! Letterpress: a GPU-accelerated native renderer for conversations with language models
//! and agents.
//!
//! Type is set once and printed many times: a finished message is laid out once and
//! replayed from cache in every frame after; tool calls stand with their results, in
//! groups that fold; the cost of a frame does not know how long the history is.
//!
//! Another egui program shows a conversation with [`view::TranscriptView`].
//!
//! # From bytes to pixels
//!
//! ```text
//! file   ─▶ transcript ─▶ engine::reader ─Arc<Message>─┐
//!             index,        a thread: markdown,        ├▶ model::Source ─▶ layout ─▶ view ─▶ pixels
//!             records       colours, pictures          │                    specs,     egui,
//! socket ─▶ wire ─events─▶ presenter ─▶ engine::live ──┘                    slugs,     targets,
//!             framers,      a pure        tasks: turns,  ◀── model::Command  anchor     selection
//!             end states    machine       snapshots
//!                                           │ records, each on the disk before what needs it
//!                                           ▼
//!                                         store: a log that is only appended to, which
//!                                                transcript reads again like any file
//! ```
//!
//! Data flows one way, commands flow back: the view never changes a conversation, it asks
//! for a change with a [`model::Command`] and sees it in the next [`model::Snapshot`].
//!
//! # Code map
//!
//! A module may import only from rows below its own; a test reads the sources for it.
//!
//! | row | module | what it is |
//! |---|---|---|
//! | 5 | [`app`] | windows and headless commands |
//! | 4 | [`view`] | egui: the transcript, its strip, finding, sessions, settings, the wall, the repaint governor, the figures |
//! | 3 | [`engine`] | threads: reading and following, live turns and what is written of them, tools, finding words (no egui) |
//! | 3 | [`layout`] | blocks → specs → slugs; heights, anchors, caches (no `Ui`) |
//! | 3 | [`gpu`] | adapters; plates that stay on the GPU, and the printer that draws them |
//! | 2 | [`presenter`] | blocks that arrive, tools that wait: a pure state machine, effects out |
//! | 1 | [`wire`] | providers over HTTP: requests, framers, replies; the only module that knows HTTP |
//! | 1 | [`markdown`] | text → blocks: hygiene, sealed blocks and an open tail (pure) |
//! | 1 | [`markup`] | terminal colours, tool tags, think tags (pure) |
//! | 1 | [`tools`] | what a model may do: specs, policy, files, commands, pages, servers |
//! | 1 | [`store`] | our sessions on the disk: logs, drafts, locks, recovery; faults come through [`store::Disk`] |
//! | 1 | [`transcript`] | other applications' files and our own logs: sniffed, indexed, read on demand, growing |
//! | 0 | [`model`] | ids, messages, blocks, tool-call states, rows (pure) |
//! | 0 | [`perf`] | the clock, scopes, frames, reasons for them, memory, power |
//!
//! # Invariants
//!
//! The tests that hold each are named behind it; they live in `tests/it`.
//!
//! 1. **One way.** Imports point down. (`architecture`)
//! 2. **One home.** Finished and streaming are states of the same item under the same
//!    [`model::MessageId`]: at every event each message is shown exactly once.
//!    (`presenter`, `live`)
//! 3. **One writer.** Only [`engine::live`] changes a conversation; all others hold
//!    snapshots. (`live`)
//! 4. **The UI never waits.** No file is read and no lock is held across work on the UI
//!    thread. Work in a frame is bounded by what is visible, never by the length of the
//!    conversation or of a message. (`sheet`, `reader`, `minimap`)
//! 5. **Sealed is final.** A sealed [`model::Block`] never changes; its galleys are laid
//!    out once per [`layout::epoch::Epoch`]. (`markdown`, `sheet`)
//! 6. **Incremental equals scratch.** Blocks after any chunking of a text equal the blocks
//!    of the whole text ([`markdown::Stream`]); so do tool tags, wire frames and the index
//!    of a file that grows ([`transcript::Growth`]).
//!    (`markdown`, `markup`, `wire`, `transcripts`)
//! 7. **Nothing moves under the reader.** The place is a [`layout::Anchor`]: a slug and the
//!    points inside it, in f64. What changes above is compensated in the same frame, and
//!    any upward intent releases the end. (`sheet`, `chat`, `branches`)
//! 8. **Idle means zero frames.** Nothing asks for a repaint without a change, and nothing
//!    animates after the end. Only [`view::governor`] asks, never for a window that cannot
//!    be seen. (`governor`, `hud`, `window`, `chat`, `minimap`,
//!    `architecture`)
//! 9. **Reading never fails.** A record that cannot be read costs that record and is shown
//!    as a [`model::Raw`] with its line. What a source that grows ([`engine::follow`]) said
//!    stays on screen until what it says now is known. (`transcripts`, `export`, `follow`)
//! 10. **Showing touches nothing.** No network, no file, no program: only a click does, and
//!     only through [`view::link_gate`]. (`architecture`, `link_gate`, `images`)
//! 11. **Every cache is named, counted in bytes and purgeable.** Every queue is bounded.
//!     (`sheet`, `highlight`, `images`, `reader`)
//! 12. **A galley belongs to one epoch.** Resets of egui's atlas are seen by
//!     [`layout::epoch::Canary`]. What a [`gpu::Printer`] cast from it goes with it.
//!     (`sheet`, `retained`)
//! 13. **Panics in showing one message cost that message.** (`sheet`, `reader`)
//! 14. **Pure layers take `now`.** [`model`], [`markdown`], [`markup`], [`presenter`] and
//!     [`tools::policy`] read no clock and no environment. (`architecture`)
//! 15. **No approval, no run.** [`tools::Bench::run`] takes a [`tools::Approved`] call; only
//!     [`tools::policy`] makes one. (`tools`)
//! 16. **What is counted is what is marked.** [`engine::find`] counts in the words that
//!     [`layout::reading`] says are shown, and the view marks in the same words. (`find`)
//! 17. **Acknowledged is durable.** What [`store::Saved`] said is on the disk survives a kill
//!     and the loss of power; a torn end of a log is put aside, never thrown away. (`store`:
//!     `d1`, `d2`, `d3`, `d4`, `d5`, `d7`; `sessions`)
//! 18. **Nothing is overwritten.** A prompt said in another way and an answer made anew are
//!     branches beside what was there; the newest leaf is the conversation. (`sessions`,
//!     `branches`)
//! 19. **Secrets stay where they are.** What is known to be one, in whatever spelling, reaches
//!     no log, no session, no export and no error. (`canary`, `export`)
//!
//! # What is deliberately absent
//!
//! - Indices as identities. A message is a [`model::MessageId`]; what is open, where the
//!   reader is and what is selected survive everything that moves rows.
//! - A database of conversations. The logs are the truth; the index of their words
//!   ([`store::catalog`]) can be thrown away at any time and is built anew.
//! - Heights of a million rows. [`layout::heights`] knows the reader's neighbourhood and
//!   sums of a thousand rows each.
//! - `egui_commonmark` in the transcript. It shows the manual, and it is the reference
//!   renderer that profiles hold ours against.

pub mod model;
pub mod perf;

pub mod markdown;
pub mod markup;
pub mod store;
pub mod tools;
pub mod transcript;
pub mod wire;

pub mod presenter;

pub mod engine;
pub mod gpu;
pub mod layout;

pub mod view;

pub mod app;
