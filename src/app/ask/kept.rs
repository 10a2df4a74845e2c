//! The session that a turn is part of.

use std::{io::IsTerminal as _, sync::Arc};

use super::{say, tool_use};
use crate::{
    app::{
        cli::{Ask, General, ProviderFlags, ToolGrammar},
        error::{Error, Result},
        sessions::{self, Named},
        timestamp,
    },
    engine::live::stored_settings,
    model::{CallGrammar, Settings, record::Meta},
    store::{Access, Opened, SessionId, Store},
};

/// The session that a turn is part of.
#[derive(Debug)]
pub enum Kept {
    /// None: nothing of it is kept.
    Not,
    /// One that begins with it.
    New(Store, SessionId),
    /// One that is there, and what it was set to.
    There(Box<Opened>, Option<Settings>),
}

impl Kept {
    /// The session that the command line wants.
    ///
    /// # Errors
    /// When it cannot be had, or somebody else writes it.
    pub(super) fn find(args: &Ask, general: &General) -> Result<Self> {
        if args.no_save {
            return Ok(Self::Not);
        }
        let Some(name) = &args.session else { return Ok(Self::begin(general)) };
        let places = sessions::places(general)?;
        let store = sessions::store(&places)?;
        match sessions::named(&store, &places, name)? {
            Named::New(id) => Ok(Self::New(store, id)),
            Named::There(id) => Self::open(&store, &id),
        }
    }

    /// A new session; where none can be kept the answer is worth more than keeping it.
    fn begin(general: &General) -> Self {
        let store = sessions::places(general).and_then(|places| sessions::store(&places));
        match store {
            Ok(store) => Self::New(store, SessionId::fresh(timestamp::now_ms())),
            Err(error) => {
                say(&format!("letterpress: it will not be kept: {error}"));
                Self::Not
            }
        }
    }

    fn open(store: &Store, id: &SessionId) -> Result<Self> {
        let opened = store.open_session(id, timestamp::now_ms());
        let opened = opened.map_err(|error| Error::failed(error.to_string(), id.to_string()))?;
        if let Access::Read { why, .. } = &opened.log {
            let words = why.trim_end_matches('.').to_owned();
            return Err(Error::failed(words, id.to_string()));
        }
        let settings = stored_settings(&opened);
        Ok(Self::There(Box::new(opened), settings))
    }

    /// What answers: what the command line says, else what answered before.
    pub(super) fn flags(&self, flags: &ProviderFlags) -> ProviderFlags {
        let mut flags = flags.clone();
        let Self::There(_, Some(settings)) = self else { return flags };
        if flags.provider.is_none() && flags.base_url.is_none() && !settings.provider.is_empty() {
            flags.provider = Some(settings.provider.to_string());
            flags.model = flags.model.or_else(|| Some(settings.model.to_string()));
        }
        flags
    }

    /// How the conversation goes on: what the command line says, else as it was.
    pub(super) fn settings(&self, chosen: Settings, args: &Ask) -> Settings {
        let tools = tool_use(args.tools);
        let calls = match args.tool_grammar {
            ToolGrammar::Native => CallGrammar::Native,
            ToolGrammar::Tags => CallGrammar::Tags,
        };
        let chosen = Settings { tools, calls, ..chosen };
        match self {
            Self::There(_, Some(before)) => Settings {
                system: chosen.system.or_else(|| before.system.clone()),
                max_tokens: chosen.max_tokens.or(before.max_tokens),
                thinking: before.thinking,
                ..chosen
            },
            Self::There(_, None) | Self::New(..) | Self::Not => chosen,
        }
    }

    /// The session, to go on with.
    ///
    /// # Errors
    /// When a new one cannot be made although it was asked for by name.
    pub(super) fn opened(self, settings: &Settings, args: &Ask) -> Result<Option<Opened>> {
        let (store, id) = match self {
            Self::Not => return Ok(None),
            Self::There(opened, _) => return Ok(Some(*opened)),
            Self::New(store, id) => (store, id),
        };
        let meta = Meta {
            settings: Some(settings.clone()),
            program: Some(Arc::from(concat!("letterpress ", env!("CARGO_PKG_VERSION")))),
            ..Meta::default()
        };
        match store.create(id.clone(), meta.to_body(), timestamp::now_ms()) {
            Ok(opened) => {
                if args.session.is_none() && std::io::stderr().is_terminal() {
                    say(&format!("letterpress: session {id}"));
                }
                Ok(Some(opened))
            }
            Err(error) if args.session.is_some() => {
                Err(Error::io("cannot keep the session", &error, &store.folder(&id)))
            }
            Err(error) => {
                say(&format!("letterpress: it will not be kept: {error}"));
                Ok(None)
            }
        }
    }
}
