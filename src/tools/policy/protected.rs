//! Places that other programs obey, and places that hold keys.
//!
//! File systems differ in what they take for the same name, so names are compared without
//! case, and without the dots and blanks at their end that Windows passes over.

/// Folders whose whole content is obeyed by some program.
const OBEYED_FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".husky",
    ".ssh",
    ".gnupg",
    ".vscode",
    ".idea",
    ".zed",
    ".cursor",
    ".claude",
    ".devcontainer",
    "autostart",
    "systemd",
    "launchagents",
    "launchdaemons",
    ".docker",
    ".kube",
    ".aws",
    ".cargo",
];

/// Files that some program obeys.
const OBEYED_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    "config.fish",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    "crontab",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".emacs",
    ".tmux.conf",
    ".lldbinit",
    ".gdbinit",
    ".pre-commit-config.yaml",
    "sitecustomize.py",
    "authorized_keys",
    "microsoft.powershell_profile.ps1",
    "profile.ps1",
    "autorun.inf",
];

/// Folders that hold keys.
const PRIVATE_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    "keyrings",
    "gcloud",
];

/// Files that hold keys.
const PRIVATE_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".envrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".bash_history",
    ".zsh_history",
    ".vault-token",
    "shadow",
];

const PRIVATE_EXTENSIONS: &[&str] =
    &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "asc", "gpg"];

/// Names of examples that hold no keys.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// True when some program obeys what stands at this path, so that writing there is more than
/// writing. `/` or `\` stands between its names.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let names: Vec<String> = names(path).collect();
    let is_shell_folder = |pair: &[String]| matches!(pair, [a, b] if a == ".config" && b == "fish");
    names.iter().any(|name| OBEYED_FOLDERS.contains(&name.as_str()) || is_short_git(name))
        || names.windows(2).any(is_shell_folder)
        || names.last().is_some_and(|name| OBEYED_FILES.contains(&name.as_str()))
}

/// True when what stands at this path may hold keys, so that reading it is more than reading.
///
/// It is asked about where it is named. A command that goes through a whole folder, as
/// `grep -r` does, may come by it all the same.
#[must_use]
pub fn is_private(path: &str) -> bool {
    let names: Vec<String> = names(path).collect();
    let Some(last) = names.last() else { return false };
    let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_env = last == ".env" || last.starts_with(".env.") && !EXAMPLES.contains(&extension);
    let is_git_config = matches!(names.as_slice(), [.., git, file]
        if (git == ".git" || is_short_git(git)) && file == "config");
    is_env
        || is_git_config
        || PRIVATE_FILES.contains(&last.as_str())
        || PRIVATE_EXTENSIONS.contains(&extension)
        || names.iter().any(|name| PRIVATE_FOLDERS.contains(&name.as_str()))
}

/// True when `path` is `folder` or lies in it. Both are absolute.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    let (mut path, folder) = (names(path), names(folder));
    let mut depth = 0;
    for name in folder {
        depth += 1;
        if path.next().as_ref() != Some(&name) {
            return false;
        }
    }
    depth > 0
}

fn names(path: &str) -> impl Iterator<Item = String> {
    let names = path.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".");
    names.map(|name| {
        // `hooks::$INDEX_ALLOCATION` is `hooks` to Windows.
        let name = name.split(':').next().unwrap_or_default();
        let shown: String = name.chars().filter(|c| !super::visible::is_hidden(*c)).collect();
        shown.trim_end_matches(['.', ' ']).to_lowercase()
    })
}

/// What Windows may call `.git` for programs of old.
fn is_short_git(name: &str) -> bool {
    name.strip_prefix("git~").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}
