//! Editing, answering anew, going back: in memory, in the log, and over the end of the
//! program.

use std::sync::Arc;

use letterpress::model::{Command, Fork, MessageId, Snapshot, record::Kind};

use super::{
    bench::{Desk, hangs, is_settled, says},
    told::{Log, assert_same, words},
};

fn said(snapshot: &Snapshot) -> Vec<String> {
    snapshot.messages().map(|message| words(message)).collect()
}

fn id(snapshot: &Snapshot, at: usize) -> MessageId {
    snapshot.entry(at).unwrap().message.id
}

/// Message, place among its siblings, and how many they are.
fn forks(snapshot: &Snapshot) -> Vec<(MessageId, usize, usize)> {
    let fork = |fork: &Fork| (fork.message, fork.at, fork.siblings.len());
    snapshot.forks.iter().map(fork).collect()
}

fn replies() -> Vec<Vec<super::bench::Step>> {
    ["one", "two", "three", "four", "five"].map(says).to_vec()
}

#[test]
fn an_edited_prompt_is_a_branch_and_the_other_can_be_gone_back_to() {
    let mut desk = Desk::new(replies());
    desk.ask("a");
    let long = desk.ask("b");
    let draft = desk.draft("b2");
    let ticket = draft.ticket;
    desk.command(Command::Edit { message: id(&long, 2), draft });
    let edited = desk.until(|s| is_settled(s, ticket));
    assert_eq!(said(&edited), ["user: a", "assistant: one", "user: b2", "assistant: three"]);
    assert_eq!(forks(&edited), [(id(&edited, 2), 1, 2)]);
    assert_eq!(edited.forks[0].siblings[0], id(&long, 2));
    assert_same(&edited, &Log::read(&desk.path()));
    desk.command(Command::Choose { message: id(&long, 2) });
    let back = desk.until(|s| s.len() == 4 && id(s, 2) == id(&long, 2));
    assert_eq!(said(&back), said(&long));
    assert_eq!(forks(&back), [(id(&long, 2), 0, 2)]);
    let end = desk.rests();
    assert_same(&end, &Log::read(&desk.path()));
    // It goes on from there.
    let more = desk.ask("c");
    assert_eq!(said(&more)[3..], ["assistant: two", "user: c", "assistant: four"]);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
    let log = Log::read(&desk.path());
    assert_eq!(log.kinds.iter().filter(|kind| **kind == Kind::Branch).count(), 1);
    let edit = log.bodies.iter().find(|body| body.get("replaces").is_some()).unwrap();
    assert_eq!(edit["replaces"], "m4");
}

#[test]
fn an_answer_is_given_anew_and_all_of_them_stay() {
    let mut desk = Desk::new(replies());
    let first = desk.ask("a");
    desk.ask("b");
    desk.command(Command::Regenerate { message: id(&first, 1) });
    let anew = desk.until(|s| s.len() == 2 && !s.phase.is_busy());
    assert_eq!(said(&anew), ["user: a", "assistant: three"]);
    desk.command(Command::Retry);
    let again = desk.until(|s| {
        s.arriving.is_none() && said(s).last().is_some_and(|last| last == "assistant: four")
    });
    let forks = &again.forks;
    assert_eq!((forks[0].at, forks[0].siblings.len()), (2, 3));
    // The first of them is gone back to as it was left.
    desk.command(Command::Choose { message: id(&first, 1) });
    let back = desk.until(|s| s.len() == 4);
    assert_eq!(said(&back), ["user: a", "assistant: one", "user: b", "assistant: two"]);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
}

#[test]
fn the_first_prompt_can_be_edited_and_gone_back_to() {
    let mut desk = Desk::new(replies());
    let first = desk.ask("a");
    let draft = desk.draft("z");
    let ticket = draft.ticket;
    desk.command(Command::EditLast(draft));
    let edited = desk.until(|s| is_settled(s, ticket));
    assert_eq!(said(&edited), ["user: z", "assistant: two"]);
    desk.command(Command::Choose { message: id(&first, 0) });
    let back = desk.until(|s| id(s, 0) == id(&first, 0));
    assert_eq!(said(&back), said(&first));
    assert_same(&desk.rests(), &Log::read(&desk.path()));
}

#[test]
fn branches_are_still_there_after_a_restart() {
    let mut desk = Desk::new(replies());
    let first = desk.ask("a");
    let long = desk.ask("b");
    let draft = desk.draft("b2");
    let ticket = draft.ticket;
    desk.command(Command::Edit { message: id(&long, 2), draft });
    desk.until(|s| is_settled(s, ticket));
    desk.restart();
    let opened = desk.until(|s| !s.forks.is_empty());
    assert_eq!((opened.forks[0].at, opened.forks[0].siblings.len()), (1, 2));
    assert_eq!(opened.base.as_ref().unwrap().leaf, None);
    // Something that is only in the log.
    desk.command(Command::Choose { message: id(&long, 2) });
    let back = desk.until(|s| s.base.as_ref().is_some_and(|base| base.leaf.is_some()));
    assert_eq!(back.base.as_ref().unwrap().leaf.as_deref(), Some("m5"));
    assert_eq!(forks(&back), [(id(&long, 2), 0, 2)]);
    let more = desk.ask("c");
    assert_eq!(said(&more), ["user: c", "assistant: four"]);
    let request = desk.world.requests.lock().last().unwrap().clone();
    let read: Vec<_> = request.turns.iter().map(|turn| words(&turn.message)).collect();
    assert_eq!(read, ["user: a", "assistant: one", "user: b", "assistant: two", "user: c"]);
    assert_eq!(Log::read(&desk.path()).words()[..5], read[..]);
    // An answer of the log anew, which stands before all that is in memory.
    desk.command(Command::Regenerate { message: id(&first, 1) });
    // While it arrives its words may be there, and its record is not.
    let anew = desk.until(|s| s.arriving.is_none() && said(s) == ["assistant: five"]);
    assert_eq!(anew.base.as_ref().unwrap().leaf.as_deref(), Some("m1"));
    assert_eq!(Log::read(&desk.path()).words(), ["user: a", "assistant: five"]);
    // And the first prompt: nothing of the log is shown any more.
    let draft = desk.draft("z");
    let ticket = draft.ticket;
    desk.command(Command::Edit { message: id(&first, 0), draft });
    let edited = desk.until(|s| is_settled(s, ticket));
    assert_eq!(edited.base, None);
    assert_eq!(said(&edited), ["user: z", "assistant: Done."]);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
    // Back to where it was, half of it in the log and half in memory.
    let c = id(&more, 0);
    desk.command(Command::Choose { message: c });
    let back = desk.until(|s| s.len() == 2 && id(s, 0) == c);
    assert_eq!(back.base.as_ref().unwrap().leaf.as_deref(), Some("m5"));
    assert_eq!(Log::read(&desk.path()).words().len(), 6);
}

#[test]
fn what_is_edited_in_the_middle_of_a_turn_stops_it() {
    let mut desk = Desk::new(vec![says("one"), hangs("wro"), says("right")]);
    desk.ask("a");
    desk.say("b");
    let arriving = desk.until(|s| s.arriving.is_some());
    let draft = desk.draft("a2");
    let ticket = draft.ticket;
    desk.command(Command::Edit { message: id(&arriving, 0), draft });
    let end = desk.until(|s| is_settled(s, ticket));
    assert_eq!(said(&end), ["user: a2", "assistant: right"]);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
    desk.command(Command::Choose { message: id(&arriving, 0) });
    let back = desk.until(|s| s.len() == 4);
    assert_eq!(said(&back)[3], "assistant: wro", "what had come is kept");
}

#[test]
fn without_a_log_branches_are_the_same() {
    let mut bench = crate::live::bench::Bench::new(
        ["one", "two", "three"].map(|words| crate::live::server::whole(&[words])).to_vec(),
    );
    let first = bench.ask("a");
    let long = bench.ask("b");
    bench.command(Command::Regenerate { message: id(&first, 1) });
    let anew = bench.until(|s| s.len() == 2 && !s.phase.is_busy());
    assert_eq!(said(&anew), ["user: a", "assistant: three"]);
    assert_eq!(forks(&anew), [(id(&anew, 1), 1, 2)]);
    let aside: Vec<_> = anew.aside.iter().map(|aside| aside.entries.len()).collect();
    assert_eq!(aside, [3]);
    bench.command(Command::Choose { message: id(&first, 1) });
    let back = bench.until(|s| s.len() == 4);
    assert_eq!(said(&back), said(&long));
    let kept = back.entry(0).zip(first.entry(0));
    assert!(kept.is_some_and(|(a, b)| Arc::ptr_eq(&a.message, &b.message)));
    assert_eq!(back.aside.iter().map(|aside| aside.entries.len()).collect::<Vec<_>>(), [1]);
}
