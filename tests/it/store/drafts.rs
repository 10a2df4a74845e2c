//! D9: what is being written survives, at most a second old.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use letterpress::store::{DraftClock, Home, RealDisk, Store, StoredAttachment, StoredDraft};

use super::{
    Dice, NOW,
    child::{self, say},
    id, meta, real,
    sim::{SimDisk, Verdict, What},
    wait, writer,
};

fn draft(key: &str, text: &str) -> StoredDraft {
    StoredDraft {
        key: key.into(),
        text: text.into(),
        caret: text.chars().count(),
        at_ms: NOW,
        ..StoredDraft::default()
    }
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// Types a key each few milliseconds, and says when each was typed.
pub(super) fn type_until_killed(words: &[&str]) {
    let store = real(Path::new(words[0]));
    let pause: u64 = words[1].parse().unwrap();
    let home = Home::New(id("d"));
    let drafts = store.drafts();
    let mut text = String::new();
    say("open");
    loop {
        text.push('x');
        drafts.edit(&home, draft("k", &text));
        say(&now_ms().to_string());
        thread::sleep(Duration::from_millis(pause));
    }
}

/// Kills somebody who types; how old the first lost key was, in milliseconds.
fn kill_typing(dice: &mut Dice) -> u128 {
    let folder = tempfile::tempdir().unwrap();
    let pause = [5, 50, 50, 120, 450][dice.below(5) as usize];
    let mut child = child::start("type", folder.path(), &pause.to_string(), "");
    assert_eq!(child.hear().as_deref(), Some("open"));
    thread::sleep(Duration::from_millis(dice.below(1800)));
    let killed = now_ms();
    let typed: Vec<u128> = child.kill().iter().filter_map(|said| said.parse().ok()).collect();
    let found = real(folder.path()).new_drafts();
    let kept = found.first().map_or(0, |(_, draft)| draft.text.len());
    assert!(kept <= typed.len() + 1);
    typed.get(kept).map_or(0, |at| killed.saturating_sub(*at))
}

#[test]
fn d9_two_hundred_kills_cost_a_second_of_typing_at_most() {
    let lanes: Vec<_> = (0..8u64)
        .map(|lane| {
            thread::spawn(move || {
                let mut dice = Dice(0xdaf7 + lane);
                dice.roll();
                (0..25).map(|_| kill_typing(&mut dice)).collect::<Vec<_>>()
            })
        })
        .collect();
    let lost: Vec<u128> = lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect();
    let (most, mean) = (lost.iter().max().unwrap(), lost.iter().sum::<u128>() / 200);
    println!("lost: {mean} ms on the average, {most} ms at most");
    assert!(lost.len() == 200 && *most <= 1000 && mean <= 500, "{most} {mean}");
}

#[test]
fn a_draft_is_due_after_a_pause_and_never_late() {
    let start = letterpress::perf::now();
    let at = |ms: u64| start + Duration::from_millis(ms);
    let mut clock = DraftClock::default();
    assert_eq!(clock.due(), None);
    clock.change(at(0));
    assert_eq!(clock.due(), Some(at(0) + DraftClock::PAUSE));
    assert!(!clock.is_due(at(299)) && clock.is_due(at(300)));
    // Somebody who never pauses is saved all the same.
    let mut last_saved = at(0);
    for ms in (0..60_000).step_by(50) {
        if clock.is_due(at(ms)) {
            clock.saved();
            assert!(at(ms) - last_saved <= Duration::from_secs(1), "{ms}");
            last_saved = at(ms);
        }
        clock.change(at(ms));
        assert!(clock.due().unwrap() <= at(ms) + DraftClock::MOST);
    }
}

/// Waits for something that another thread does.
fn until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never came");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_draft_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let home = Home::Session(id("a"));
    writer(store.create(id("a"), meta(), NOW).unwrap());
    let drafts = store.drafts();
    let sha = drafts.keep(&home, b"a picture".as_slice().into());
    let mut written = draft("k1", "Zürich\n\"日本\"\u{0}");
    written.caret = 3;
    written.attachments = vec![
        StoredAttachment {
            name: "pasted.png".into(),
            path: None,
            sha256: sha.as_str().into(),
            media_type: "image/png".into(),
        },
        StoredAttachment {
            name: "a.txt".into(),
            path: Some("/home/somebody/a.txt".into()),
            sha256: "00".into(),
            media_type: "".into(),
        },
    ];
    drafts.edit(&home, written.clone());
    drafts.save_now();
    let again = real(folder.path());
    assert_eq!(again.draft(&id("a")), Some(written));
    assert_eq!(again.draft_blob(&home, &sha).as_deref(), Some(b"a picture".as_slice()));
    assert_eq!(again.new_drafts(), []);
}

#[test]
fn what_was_sent_stays_until_it_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let (home, drafts) = (Home::New(id("d")), store.drafts());
    let keys = || -> Vec<String> {
        store.drafts_at(&home).iter().map(|draft| draft.key.to_string()).collect()
    };
    drafts.edit(&home, draft("sent", "First"));
    drafts.edit(&home, draft("next", "Second"));
    drafts.save_now();
    assert_eq!(keys(), ["next", "sent"]);
    // An empty composer takes nothing of it away.
    drafts.edit(&home, draft("next", ""));
    drafts.save_now();
    assert_eq!(keys(), ["sent"]);
    drafts.edit(&home, draft("next", "Third"));
    drafts.clear(&home, "sent");
    drafts.save_now();
    assert_eq!(keys(), ["next"]);
    drafts.clear(&home, "sent");
    drafts.clear(&home, "next");
    drafts.save_now();
    assert_eq!(keys(), [""; 0]);
    assert!(!folder.path().join("drafts/d.json").exists());
}

#[test]
fn a_thread_saves_it_and_the_last_handle_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let home = Home::New(id("d"));
    store.drafts().edit(&home, draft("k", "typed"));
    until(|| !store.drafts_at(&home).is_empty());
    store.drafts().edit(&home, draft("k", "typed more"));
    drop(store);
    let store = real(folder.path());
    until(|| store.drafts_at(&home).first().is_some_and(|it| &*it.text == "typed more"));
}

#[test]
fn a_full_disk_keeps_the_draft_in_memory_and_says_so() {
    let disk = SimDisk::new();
    let store = Store::open("/data".into(), Arc::new(disk.clone())).unwrap();
    let (home, drafts) = (Home::New(id("d")), store.drafts());
    let mut trouble = drafts.trouble();
    disk.hook(|call| match call.what {
        What::Write => Verdict::Fail(std::io::ErrorKind::StorageFull),
        _ => Verdict::Go,
    });
    drafts.edit(&home, draft("k", "kept"));
    wait(trouble.wait_for(Option::is_some)).unwrap();
    assert_eq!(store.drafts_at(&home), []);
    disk.unhook();
    wait(trouble.wait_for(Option::is_none)).unwrap();
    assert_eq!(&*store.drafts_at(&home)[0].text, "kept");
}

#[test]
fn a_draft_that_cannot_be_read_is_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_owned(), Arc::new(RealDisk)).unwrap();
    let path = folder.path().join("drafts/d.json");
    std::fs::create_dir(folder.path().join("drafts")).unwrap();
    std::fs::write(&path, b"{\"v\":1,\"drafts\":[{\"te").unwrap();
    assert_eq!(store.new_drafts(), []);
    let names = std::fs::read_dir(folder.path().join("drafts")).unwrap();
    let names: Vec<_> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.len() == 1 && names[0].starts_with("torn-draft-"), "{names:?}");
}
