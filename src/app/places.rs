//! Where the program keeps its own files.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::cli::General;

/// The folder that everything is kept in, where the user wants one.
const DATA_DIR: &str = "LETTERPRESS_DATA_DIR";

/// Where the program keeps its own files. Nothing of it need be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The settings file.
    pub config: PathBuf,
    /// The folder of sessions, drafts and their index.
    pub data: PathBuf,
    /// The folder for what has to survive a restart and is no conversation.
    pub state: PathBuf,
    /// The user's home; none where the system knows none.
    pub home: Option<PathBuf>,
}

impl Places {
    /// By the command line, else by the environment, else where the platform wants them.
    /// None when none of them says where.
    #[must_use]
    pub fn find(general: &General) -> Option<Self> {
        let named = env::var_os(DATA_DIR).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let folder = general.data_dir.clone().or(named);
        let usual = directories::ProjectDirs::from("", "", "letterpress");
        let state = match (&folder, &usual) {
            (Some(folder), _) => folder.join("state"),
            (None, Some(usual)) => {
                usual.state_dir().unwrap_or_else(|| usual.data_local_dir()).to_owned()
            }
            (None, None) => return None,
        };
        let data = match (&folder, &usual) {
            (Some(folder), _) => folder.clone(),
            (None, Some(usual)) => usual.data_dir().to_owned(),
            (None, None) => return None,
        };
        let config = match (&general.config, folder, usual) {
            (Some(file), ..) => file.clone(),
            (None, Some(folder), _) => folder.join("config.toml"),
            (None, None, Some(usual)) => usual.config_dir().join("config.toml"),
            (None, None, None) => return None,
        };
        let home = directories::BaseDirs::new().map(|user| user.home_dir().to_owned());
        Some(Self { config, data, state, home })
    }

    /// The folders that hold them.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let config = self.config.parent().filter(|folder| !folder.as_os_str().is_empty());
        let own = [self.data.as_path(), self.state.as_path()];
        config.into_iter().chain(own).map(Path::to_owned).collect()
    }
}
