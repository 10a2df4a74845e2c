//! Servers of tools that nobody has accepted yet.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{User, say};
use crate::{
    app::{
        error::{Error, Result},
        toolbox::PinFile,
    },
    tools::{
        mcp::{Acceptance, CallError, ServerState, Servers},
        policy::visible,
    },
};

/// How long servers may take to end.
const PARTING: Duration = Duration::from_secs(3);

/// Shows the user what he has not accepted, and has it accepted or left out. Without anybody
/// to ask it is left out, which is said.
pub(super) async fn introduce(
    servers: &Servers,
    pins: &PinFile,
    mut user: Option<&mut User>,
) -> Result<()> {
    let accepted = servers.pins();
    for server in servers.overview().iter() {
        let is_known = accepted.servers.get(&server.name).is_some_and(|it| it.start.is_some());
        if is_known || server.state == ServerState::Disabled {
            continue;
        }
        let name = visible(&server.name).text;
        match &mut user {
            Some(user) => meet(servers, &server.name, pins, user).await?,
            None => say(&format!(
                "letterpress: the server {name} was never accepted, so its tools are left out"
            )),
        }
    }
    Ok(())
}

async fn meet(servers: &Servers, name: &Arc<str>, pins: &PinFile, user: &mut User) -> Result<()> {
    let shown = visible(name).text;
    let acceptance = match servers.start(name).await {
        Ok(()) => return Ok(()),
        Err(CallError::NotAccepted(acceptance)) => acceptance,
        Err(error) => {
            say(&format!("letterpress: {}", visible(&format!("{name}: {error}")).text));
            return Ok(());
        }
    };
    let failed = |error: std::io::Error| Error::failed(format!("cannot ask: {error}"), "");
    if !user.agrees(&question(&acceptance)).await.map_err(failed)? {
        say(&format!("letterpress: the server {shown} is left out"));
        return Ok(());
    }
    if servers.accept_start(name, acceptance.launch.digest()).is_none() {
        say(&format!("letterpress: the server {shown} has changed meanwhile and is left out"));
        return Ok(());
    }
    if let Err(error) = servers.start(name).await {
        say(&format!("letterpress: {}", visible(&format!("{name}: {error}")).text));
    }
    // Where it has no tools or could not start, its start alone is what was accepted.
    let kept = servers.accept_first_tools(name).unwrap_or_else(|| servers.pins());
    pins.keep(&kept)
        .map_err(|error| Error::failed(format!("cannot keep what was accepted: {error}"), ""))
}

fn question(acceptance: &Acceptance) -> String {
    let mut text = format!(
        "\nThe server {} brings tools. To use them, this is started:\n",
        visible(&acceptance.launch.server).text
    );
    for (about, line) in acceptance.launch.lines() {
        // Writing into a string cannot fail.
        let _infallible = writeln!(text, "  {about:<9} {}", line.text);
    }
    text.push_str("Start it, now and from now on? y or n\n> ");
    text
}

/// Ends the servers.
pub(super) async fn part(servers: &Servers) {
    // Those that take longer are ended with the program.
    drop(timeout(PARTING, servers.shut_down()).await);
}
