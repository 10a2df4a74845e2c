//! The way to other versions: where it stands, what it asks for, and that nothing jumps.

use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::Queryable as _;
use letterpress::{
    layout::Jump,
    model::{MemorySource, Message, MessageId},
    view::ViewCommand,
};

use super::bed::{Bed, answer, bed, fork, has, key, places, press, prompt, sized, top_of};

/// A conversation whose second prompt was said in two ways.
fn branch(second: u64, words: &str, lines: usize) -> Vec<Message> {
    let long = |n: usize| (0..n).map(|i| format!("Line {i} of it.\n\n")).collect::<String>();
    vec![
        prompt(1, "First question"),
        answer(2, &long(12)),
        prompt(second, words),
        answer(second + 1, &long(lines)),
        prompt(second + 2, "And then"),
        answer(second + 3, &long(lines)),
    ]
}

fn choose(bed: &mut Bed, second: u64, at: usize, lines: usize) {
    let words = format!("Said in way {second}");
    let state = bed.state_mut();
    state.source = MemorySource::new(branch(second, &words, lines));
    state.snapshot.forks = [fork(&[10, 20, 30], at)].into();
    bed.run_steps(3);
}

fn chosen(bed: &mut Bed) -> Vec<u64> {
    let commands = bed.state_mut().commands.drain(..);
    let chosen = commands.filter_map(|command| match command {
        ViewCommand::Choose { message } => Some(message.0),
        _ => None,
    });
    chosen.collect()
}

#[test]
fn a_prompt_said_in_two_ways_shows_which_it_is_and_leads_to_the_other() {
    let mut bed = bed(branch(20, "Said in way 20", 2));
    assert!(!has(&bed, "Previous version"));
    choose(&mut bed, 20, 1, 2);
    press(&mut bed, "Previous version");
    assert_eq!(chosen(&mut bed), [10]);
    press(&mut bed, "Next version");
    assert_eq!(chosen(&mut bed), [30]);
    choose(&mut bed, 30, 2, 2);
    assert!(has(&bed, "Previous version") && !has(&bed, "Next version"));
    choose(&mut bed, 10, 0, 2);
    assert!(!has(&bed, "Previous version") && has(&bed, "Next version"));
}

/// Three times there and back: the way stands where it was clicked, whatever the branches
/// are long.
#[test]
fn there_and_back_three_times_moves_nothing() {
    for (short, long) in [(1, 60), (60, 1), (3, 4)] {
        let mut bed = bed(branch(10, "Said in way 10", short));
        choose(&mut bed, 10, 0, short);
        let view = bed.state_mut().view.as_mut().expect("a view");
        view.jump(Jump::Row(1));
        bed.run_steps(3);
        let above = top_of(&bed, 2);
        let y = bed.get_by_label("Next version").rect().center().y;
        for _ in 0..3 {
            press(&mut bed, "Next version");
            // Nothing moves before the other branch is there.
            assert_eq!(top_of(&bed, 2), above);
            choose(&mut bed, 20, 1, long);
            let there = bed.get_by_label("Previous version").rect().center().y;
            assert!((there - y).abs() < 0.6, "{short} to {long}: {y} became {there}");
            assert_eq!(top_of(&bed, 2), above);
            press(&mut bed, "Previous version");
            choose(&mut bed, 10, 0, short);
            let back = bed.get_by_label("Next version").rect().center().y;
            assert!((back - y).abs() < 0.6, "{long} to {short}: {y} became {back}");
        }
        assert_eq!(chosen(&mut bed), [20, 10, 20, 10, 20, 10]);
    }
}

/// Room that a shorter branch leaves empty is given back by the reader's own scrolling, and
/// never at once.
#[test]
fn empty_room_below_a_short_branch_goes_as_the_reader_scrolls() {
    let mut bed = bed(branch(10, "Said in way 10", 60));
    choose(&mut bed, 10, 0, 60);
    bed.state_mut().view.as_mut().expect("a view").jump(Jump::Row(2));
    bed.run_steps(3);
    press(&mut bed, "Next version");
    choose(&mut bed, 20, 1, 1);
    let before = top_of(&bed, 20).expect("it is on screen");
    let last = |bed: &Bed| places(bed).last().map(|(_, y, height)| y + height).expect("a slug");
    let end = last(&bed);
    // Down: there is nothing further down.
    bed.state_mut().view.as_mut().expect("a view").scroll_by(200.0);
    bed.run_steps(2);
    assert_eq!(top_of(&bed, 20), Some(before));
    bed.state_mut().view.as_mut().expect("a view").scroll_by(-30.0);
    bed.run_steps(2);
    assert!((last(&bed) - end - 30.0).abs() < 0.6, "it follows the hand: {end} {}", last(&bed));
}

/// An answer shows its versions at its head, and its words do not move into them.
#[test]
fn an_answer_made_anew_shows_its_versions_above_its_words() {
    let mut bed = bed(vec![prompt(1, "Question"), answer(5, "Second answer"), prompt(6, "Next")]);
    bed.state_mut().snapshot.forks = [fork(&[2, 5], 1)].into();
    bed.run_steps(3);
    let way = bed.get_by_label("Previous version").rect();
    let words = bed.get_by_label("Second answer").rect();
    assert!(way.top() >= words.top(), "it belongs to the answer's own rows");
    assert!(way.bottom() < words.bottom());
    press(&mut bed, "Previous version");
    assert_eq!(chosen(&mut bed), [2]);
}

#[test]
fn keys_lead_to_the_topmost_fork_that_is_on_screen() {
    let mut bed = bed(branch(20, "Said in way 20", 2));
    choose(&mut bed, 20, 1, 2);
    bed.remove_cursor();
    bed.ctx.memory_mut(|memory| memory.stop_text_input());
    key(&mut bed, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(chosen(&mut bed), [10]);
    key(&mut bed, Modifiers::ALT, Key::ArrowRight);
    assert_eq!(chosen(&mut bed), [30]);
}

/// Forks by the thousand are found by their ids, and those off screen cost nothing.
#[test]
fn many_forks_set_only_what_is_on_screen() {
    let messages = (0..4000).map(|i| match i % 2 {
        0 => prompt(i + 1, "Question"),
        _ => answer(i + 1, "Answer"),
    });
    let mut bed = sized(messages.collect(), true, Vec2::new(900.0, 500.0));
    let forks = (0..2000).map(|i| fork(&[2 * i + 1, 100_000 + i], 0));
    bed.state_mut().snapshot.forks = forks.collect();
    let before = bed.state().view().laid_out();
    bed.run_steps(4);
    let set = bed.state().view().laid_out() - before;
    let shown = bed.state().view().visible_slugs() as u64;
    assert!(set <= 3 * shown, "{set} slugs were set for {shown}");
    let ways = bed.query_all_by_label("Next version").count();
    assert!(ways > 1, "{ways}");
    let last = bed.state().view().visible().placed.last().map(|place| place.id.message);
    assert_eq!(last, Some(MessageId(4000)), "the end is still followed");
}
