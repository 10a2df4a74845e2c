//! A window whose tools do what their arguments say, and write down what they did.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use egui::Vec2;
use egui_kittest::Harness;
use letterpress::{
    app::{
        cli::ProviderFlags,
        window::{Opened, Opener, Post, Start, Window},
    },
    engine::live::workbench::{
        Later, Permit, Question, Restored, Said, Terms, Tool, Weighed, Workbench,
    },
    model::{
        Approval, Change, Concern, Decision, Offer, Output, Scope, Snapshot, Subject, ToolResult,
        ToolUse,
    },
    perf,
    presenter::{Call, Touch},
    tools::Stop,
    wire::ToolSpec,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use crate::live::server::{self, Act, Server};

/// A bench that does what the arguments of a call say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripted {
    log: Arc<Mutex<Vec<String>>>,
    keeps: Arc<AtomicBool>,
}

struct Scheduled {
    bench: Scripted,
    call: Arc<Call>,
}

impl Scripted {
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().clone()
    }

    /// Makes checkpoints from now on.
    pub(crate) fn keep(&self) {
        self.keeps.store(true, Ordering::Relaxed);
    }
}

impl Workbench for Scripted {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str| Tool {
            spec: ToolSpec {
                name: name.into(),
                description: "x".into(),
                parameters: json!({"type": "object"}),
            },
            touch: Touch::Anything,
        };
        vec![tool("execute_command"), tool("edit_file"), tool("look"), tool("gh__issue")]
    }

    fn weigh(&self, call: Arc<Call>, _terms: Terms) -> Later<Weighed> {
        let bench = self.clone();
        Box::pin(async move {
            let asks = call.arguments.get("asks").cloned().unwrap_or(Value::Null);
            let approval = approval(&call, &asks);
            let scheduled = Box::new(Scheduled { bench, call });
            match asks {
                Value::Null => Weighed::Allowed(scheduled),
                _ => Weighed::Asked(approval, scheduled),
            }
        })
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        let log = Arc::clone(&self.log);
        self.keeps.load(Ordering::Relaxed).then(|| -> Later<_> {
            Box::pin(async move {
                log.lock().push("checkpoint".to_owned());
                Ok("first".into())
            })
        })
    }

    fn restore(&self, checkpoint: &str) -> Option<Later<Result<Restored, Arc<str>>>> {
        let (log, name) = (Arc::clone(&self.log), checkpoint.to_owned());
        Some(Box::pin(async move {
            log.lock().push(format!("restore {name}"));
            Ok(Restored { before: "second".into(), files: vec!["a.txt".into()] })
        }))
    }

    fn place(&self) -> Option<Arc<str>> {
        Some("/home/anna/letterpress".into())
    }
}

/// What is asked, as the arguments of the call tell it.
fn approval(call: &Call, asks: &Value) -> Approval {
    let subject = match &*call.name {
        "execute_command" => Subject::Command,
        "edit_file" => Subject::Change,
        "gh__issue" => Subject::Remote,
        _ => Subject::Look,
    };
    let change = |change: &Value| Change {
        path: change["path"].as_str().unwrap_or_default().into(),
        moved_to: None,
        before: change["before"].as_str().map(Into::into),
        after: change["after"].as_str().map(Into::into),
    };
    let offer = |(scope, words): (Scope, &str)| Offer { scope, words: words.into() };
    let changes = asks["changes"].as_array().into_iter().flatten().map(change);
    let warning = asks["warning"].as_str().map(|words| (words, true));
    let reasons = warning.into_iter().chain([("It runs a program.", false)]);
    let concern = |(words, is_warning): (&str, bool)| Concern { words: words.into(), is_warning };
    let is_command = subject == Subject::Command;
    Approval {
        call_id: Arc::clone(&call.id),
        tool: Arc::clone(&call.name),
        subject,
        what: asks["what"].as_str().unwrap_or("?").into(),
        place: "/home/anna/letterpress".into(),
        timeout_secs: is_command.then_some(120),
        is_inside: asks["outside"] != json!(true),
        environment: if is_command { [("CI".into(), "1".into())].into() } else { Arc::new([]) },
        changes: changes.collect(),
        concerns: reasons.map(concern).collect(),
        offers: [
            (Scope::Session, "run cargo fmt with any arguments"),
            (Scope::Always, "run cargo fmt with any arguments"),
        ]
        .map(offer)
        .into(),
        ..Approval::default()
    }
}

impl Question for Scheduled {
    fn answer(self: Box<Self>, decision: Decision) -> Option<Box<dyn Permit>> {
        self.bench.log.lock().push(format!("{decision:?}"));
        (decision != Decision::Reject).then_some(self as Box<dyn Permit>)
    }
}

impl Permit for Scheduled {
    fn run(self: Box<Self>, mut stop: Stop, said: Sender<Said>) -> Later<ToolResult> {
        Box::pin(async move {
            let arguments = &self.call.arguments;
            self.bench.log.lock().push(format!("run {}", self.call.name));
            for piece in arguments["says"].as_array().into_iter().flatten() {
                let bytes = piece.as_str().unwrap_or_default().as_bytes().to_vec();
                said.send(Said::Output(bytes)).await.ok();
                if let Some(millis) = arguments["pause"].as_u64() {
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                }
            }
            let mut is_stopped = false;
            if arguments["hangs"] == json!(true) {
                stop.due().await;
                is_stopped = true;
            }
            let gives = arguments["gives"].as_str().unwrap_or("done");
            ToolResult {
                call_id: Arc::clone(&self.call.id),
                tool_name: Arc::clone(&self.call.name),
                is_error: is_stopped,
                output: Output::plain(if is_stopped { "[stopped]" } else { gives }),
                told: None,
                images: Vec::new(),
                details: arguments.get("details").cloned().unwrap_or(Value::Null),
            }
        })
    }
}

/// A reply that makes these calls, in this order.
pub(crate) fn calls(of: &[(&str, Value)]) -> Vec<Act> {
    let mut acts = vec![server::sse(), Act::Send(server::text("Let me see to it."))];
    for (index, (tool, arguments)) in (0..).zip(of) {
        acts.push(Act::Send(server::call(index, Some(tool), &arguments.to_string())));
    }
    acts.extend([Act::Send(server::finish("tool_calls")), Act::Finish]);
    acts
}

/// A command that asks first.
pub(crate) fn asked(what: &str) -> Vec<Act> {
    let arguments = json!({"command": ["cargo", "fmt"], "asks": {"what": what}});
    calls(&[("execute_command", arguments)])
}

pub(crate) struct Desk {
    pub(crate) harness: Harness<'static, Window>,
    pub(crate) scripted: Scripted,
    pub(crate) server: Server,
}

impl Desk {
    /// A window with one conversation whose tools may be used, answered by these replies.
    pub(crate) fn new(answers: Vec<Vec<Act>>) -> Self {
        Self::with(answers, Post::new(|_| {}), egui::Theme::Dark)
    }

    pub(crate) fn with(answers: Vec<Vec<Act>>, post: Post, theme: egui::Theme) -> Self {
        let server = Server::new(answers);
        let scripted = Scripted::default();
        let bench = scripted.clone();
        let opener = Opener::new(move |_, _| {
            Ok(Opened {
                bench: Arc::new(bench.clone()),
                servers: None,
                keep_pins: None,
                warnings: Vec::new(),
            })
        });
        let flags = ProviderFlags {
            provider: Some("openai".to_owned()),
            base_url: Some(format!("{}/v1", server.base)),
            model: Some("m".to_owned()),
            ..ProviderFlags::default()
        };
        let workspace = Some(PathBuf::from("/home/anna/letterpress"));
        let start = Start { chat: Some(flags), opener, post, workspace, ..Start::default() };
        let builder = Harness::builder()
            .with_size(Vec2::new(1200.0, 860.0))
            .with_theme(theme)
            .allow_missing_glyphs();
        let builder = if pictures().is_some() { builder.wgpu() } else { builder };
        let mut harness = builder.build_eframe(|creation| Window::new(&creation.egui_ctx, start));
        harness.run_steps(4);
        let mut desk = Self { harness, scripted, server };
        desk.until("the server and the folder are chosen", |window| {
            window.snapshot().is_some_and(|snapshot| {
                let settings = &snapshot.settings;
                &*settings.provider == "openai" && settings.tools == ToolUse::Ask
            })
        });
        desk
    }

    /// Runs frames until something holds; fails after a while.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Window) -> bool) {
        let limit = perf::now() + Duration::from_secs(60);
        while !holds(self.harness.state()) {
            assert!(perf::now() < limit, "never: {what}");
            self.harness.run_steps(1);
            std::thread::park_timeout(Duration::from_millis(4));
        }
        self.harness.run_steps(2);
    }

    /// Says something, and waits for the question that comes of it.
    pub(crate) fn ask(&mut self, words: &str) {
        assert!(self.harness.state_mut().say(words));
        self.until("a call asks", has_question);
    }

    /// Waits for as long as the card takes to be armed, and a little.
    pub(crate) fn arm(&mut self) {
        let armed = perf::now() + letterpress::view::approval::ARMING + Duration::from_millis(60);
        while perf::now() < armed {
            self.harness.run_steps(1);
            std::thread::park_timeout(Duration::from_millis(20));
        }
        self.harness.run_steps(1);
    }

    pub(crate) fn ended(&mut self) -> Arc<Snapshot> {
        self.until("the turn ends", |window| {
            window.snapshot().is_some_and(|s| s.end.is_some() && !s.phase.is_busy())
        });
        Arc::clone(self.harness.state().snapshot().unwrap())
    }

    /// Draws the window into a file, when pictures are asked for by the environment.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = pictures() else { return };
        self.harness.run_steps(6);
        let image = on_ground(self.harness.render().unwrap(), &self.harness.ctx);
        image.save(folder.join(format!("{name}.png"))).unwrap();
    }
}

pub(crate) fn has_question(window: &Window) -> bool {
    window.snapshot().is_some_and(|snapshot| snapshot.question.is_some())
}

/// A picture on the ground that the window is cleared with.
pub(crate) fn on_ground(mut image: image::RgbaImage, ctx: &egui::Context) -> image::RgbaImage {
    let ground = ctx.style_of(ctx.theme()).visuals.panel_fill;
    for pixel in image.pixels_mut() {
        let [red, green, blue, alpha] = pixel.0;
        let over = |ours: u8, theirs: u8| {
            ours.saturating_add((u16::from(theirs) * u16::from(255 - alpha) / 255) as u8)
        };
        let (r, g, b) = (ground.r(), ground.g(), ground.b());
        pixel.0 = [over(red, r), over(green, g), over(blue, b), 255];
    }
    image
}

pub(crate) fn pictures() -> Option<PathBuf> {
    std::env::var_os("LETTERPRESS_PICTURES").map(PathBuf::from)
}
