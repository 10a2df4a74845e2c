//! `letterpress watch`: a wall that follows what agents write, in a window, on a display of
//! its own, or as a picture.
//!
//! Nothing here can act. The types hold what is followed and a wall, and no engine, no
//! tools, no keys, no link gate and no dialogs: what they do not hold cannot be reached by
//! any key or click.

mod chord;
mod kiosk;
pub(crate) mod local_time;
mod picture;
mod pin;
mod watchdog;
mod window;

use egui::{Context, Theme};

use super::{
    cli,
    error::{Error, Result},
};
use crate::{
    engine::{
        Waker,
        follow::{Config, FollowError, Following, Wanted},
    },
    perf::Reason,
    view::{
        governor, theme,
        wall::{Arrangement, Settings},
    },
};

pub use self::{
    chord::{Chord, HOLD_SECS},
    kiosk::Kiosk,
    local_time::LocalTime,
    pin::{LOCK_SECS, Pin, PinLock, TRIES, Verdict},
    watchdog::{Heartbeat, PATIENCE_MS},
    window::Watch,
};

/// Watches until the window is closed, or draws the picture that was asked for and gives
/// what to say about it.
///
/// # Errors
/// A source that cannot be followed, no display, no GPU, a PIN that cannot be read, or a
/// picture that cannot be written.
pub fn run(args: &cli::Watch, has_display: bool) -> Result<Option<std::path::PathBuf>> {
    let wanted = args.sources.iter().map(|source| Wanted::parse(source));
    let wanted = wanted.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| wrong(&e))?;
    if let Some(output) = &args.screenshot {
        picture::draw(args, wanted, output)?;
        return Ok(Some(output.clone()));
    }
    if !has_display {
        return Err(Error::failed("there is no display; use --screenshot OUT.png", ""));
    }
    if args.kiosk {
        let pin = pin::read(args.pin.as_deref())?;
        window::run_kiosk(args, wanted, pin)?;
    } else {
        window::run(args, wanted)?;
    }
    Ok(None)
}

/// Begins to follow; `context` is woken when something arrives.
fn follow(wanted: Vec<Wanted>, context: &Context) -> Result<Following> {
    let waker: Waker = governor::waker(context, Reason::Page);
    Following::start(wanted, waker, Config::default()).map_err(|error| wrong(&error))
}

fn wrong(error: &FollowError) -> Error {
    match error {
        FollowError::Thread(_) => Error::failed(error.to_string(), ""),
        FollowError::Nothing
        | FollowError::Address(..)
        | FollowError::Pattern(..)
        | FollowError::StdinTwice => Error::usage(error.to_string(), ""),
    }
}

/// Fonts and style of a wall.
fn install(context: &Context, args: &cli::Watch) {
    theme::install(context);
    context.set_theme(match args.theme {
        cli::Theme::Light => Theme::Light,
        cli::Theme::Dark => Theme::Dark,
    });
    // The wall has its own zoom, which keeps the panes where they are.
    context.options_mut(|options| options.zoom_with_keyboard = false);
}

fn settings(args: &cli::Watch) -> Settings {
    Settings {
        columns: args.columns.map(usize::from),
        places: args.places.map(usize::from),
        arrangement: match args.layout {
            cli::WallLayout::Grid => Arrangement::Grid,
            cli::WallLayout::Focus => Arrangement::Focus,
        },
        masked: !args.unmasked,
        night: args.dim,
        cycle_secs: args.cycle,
        resizable: !args.kiosk,
    }
}
