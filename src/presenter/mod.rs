//! The block presenter: from the events of a reply to what is shown and run, in order.
//!
//! A reply is a list of blocks that only grows. A cursor walks it: it says texts, shows
//! calls while they arrive, has complete calls decided on and run, and advances. There is
//! no queue: one lock, held while something that was started is outstanding, and one flag
//! for what came meanwhile, which is worth exactly one more look.
//!
//! Nothing here does anything or reads a clock. [`Presenter::wake`] and
//! [`Presenter::resolved`] return [`Effect`]s; whoever carries them out reports back.
//!
//! ```
//! use letterpress::{
//!     model::{MessageId, stream::{ReplyBlock, ReplyKind, StreamEvent}},
//!     perf,
//!     presenter::{Effect, Outcome, Presenter, Setup, Task},
//! };
//!
//! let mut presenter = Presenter::new(Setup::default(), MessageId(1));
//! let block = ReplyBlock(0);
//! presenter.feed(&StreamEvent::BlockOpen { block, kind: ReplyKind::Text });
//! presenter.feed(&StreamEvent::Text { block, delta: "Hel".to_owned() });
//! let effects = presenter.wake(perf::now());
//! let [Effect::Start { id, task: Task::Say(saying), .. }] = effects.as_slice() else { panic!() };
//! assert_eq!(saying.append, "Hel");
//! presenter.feed(&StreamEvent::Text { block, delta: "lo".to_owned() });
//! assert!(presenter.wake(perf::now()).is_empty(), "it is locked until this resolves");
//! let effects = presenter.resolved(*id, Outcome::Done, perf::now());
//! let [Effect::Start { task: Task::Say(saying), .. }] = effects.as_slice() else { panic!() };
//! assert_eq!((saying.keep, saying.append.as_str()), (3, "lo"));
//! ```

mod arguments;
mod block;
mod call;
mod cursor;
mod effect;
mod intake;
mod list;
mod machine;
pub mod pace;
mod repeats;
mod setup;
mod show;
pub mod slot;
pub mod stage;
mod words;

pub use effect::{
    Answer, BlockId, Call, CallForm, CallView, Effect, EffectId, Feedback, Note, NoteKind, Outcome,
    Reply, RowKind, Saying, Task,
};
pub use intake::Dialect;
pub use machine::{CHECKPOINT_LIMIT, Interrupt, Presenter};
pub use setup::{Planning, Setup, ToolMode, Touch, tag_tools};
