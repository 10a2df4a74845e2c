//! The programs that only look, with the arguments that keep them so.
//!
//! A row is a program, its flags, and its operands. Whatever is not in a row is asked about,
//! so an abbreviated flag, a flag of a newer version, or one that writes, runs or follows
//! links is never allowed by not being known.
//!
//! Flags: `-x` stands alone; `-x:kind` takes a value, in the same argument or the next;
//! `--name` stands alone; `--name:kind` takes a value behind `=` or in the next argument;
//! `--name=kind` may take one behind `=` only; `-#` is a number such as `-20`.
//! Operands: kinds in order; the last may end in `*` (any number) or `?` (one or none).
//! Kinds: `path` is looked up and must be within the workspace; `text` is anything; `number`
//! is digits; `format` starts with `+`; `print` is a script of sed that only prints lines;
//! `regex` is text, or a path once `-e` gave the expression.

/// A program, its flags, its operands.
pub(super) type Row = (&'static str, &'static str, &'static str);

pub(super) const ROWS: &[Row] = &[
    (
        "ls",
        "-1 -a -A -l -h -t -r -S -R -d -F -p -G -g -o -i -s -n -c -u -X -B --all --almost-all \
        --human-readable --recursive --directory --reverse --size --classify --inode --color=text \
        --group-directories-first --full-time --time-style:text --sort:text",
        "path*",
    ),
    (
        "cat",
        "-n -b -s -A -E -T -v -e -t --number --number-nonblank --show-all --show-ends \
        --show-tabs --squeeze-blank",
        "path*",
    ),
    ("head", "-# -n:number -c:number -q -v --lines:number --bytes:number --quiet", "path*"),
    ("tail", "-# -n:offset -c:offset -q -v --lines:offset --bytes:offset --quiet", "path*"),
    ("wc", "-l -w -c -m -L --lines --words --bytes --chars --max-line-length", "path*"),
    ("nl", "-b:text -n:text -w:number -s:text", "path*"),
    ("tac", "", "path*"),
    (
        "cut",
        "-d:text -f:text -c:text -b:text -s --delimiter:text --fields:text --characters:text \
        --bytes:text --only-delimited --complement --output-delimiter:text",
        "path*",
    ),
    (
        "sort",
        "-r -n -u -f -h -g -M -V -b -d -i -s -k:text -t:text --reverse --numeric-sort --unique \
        --ignore-case --human-numeric-sort --version-sort --stable --key:text \
        --field-separator:text --check",
        "path*",
    ),
    ("uniq", "-c -d -u -i --count --repeated --unique --ignore-case", "path?"),
    ("comm", "-1 -2 -3", "path path"),
    ("cmp", "-s -l -b --silent --quiet --verbose", "path path"),
    (
        "diff",
        "-u -q -w -b -B -i -N -a -s -y -U:number --unified=number --brief \
        --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --new-file \
        --text --side-by-side --color=text",
        "path path",
    ),
    ("sed", "-n -E -r --quiet --silent", "print path*"),
    ("grep", GREP, "regex path*"),
    ("egrep", GREP, "regex path*"),
    ("fgrep", GREP, "regex path*"),
    (
        "rg",
        "-n -N -i -s -S -w -x -v -l -c -o -F -U -P -H -I -A:number -B:number -C:number \
        -g:text -t:text -T:text -e:text -m:number -d:number --line-number --ignore-case \
        --smart-case --case-sensitive --word-regexp --line-regexp --invert-match \
        --files-with-matches --files-without-match --count --count-matches --only-matching \
        --fixed-strings --multiline --multiline-dotall --pcre2 --files --type-list --heading \
        --no-heading --with-filename --no-filename --column --stats --json --vimgrep --trim \
        --max-depth:number --max-count:number --after-context:number --before-context:number \
        --context:number --glob:text --iglob:text --type:text --type-not:text --regexp:text \
        --color:text --sort:text --sortr:text --max-columns:number",
        "regex path*",
    ),
    (
        "tree",
        "-a -d -f -i -p -s -h -D -F -r -t -C -n -L:number -P:text -I:text --noreport \
        --dirsfirst --gitignore --prune --filelimit:number --charset:text",
        "path*",
    ),
    (
        "du",
        "-a -b -c -h -k -m -s -S -x -d:number --all --apparent-size --total --human-readable \
        --summarize --max-depth:number --bytes",
        "path*",
    ),
    ("df", "-h -H -k -T -i --human-readable --print-type --inodes", "path*"),
    ("stat", "-c:text -t --format:text --printf:text --terse", "path*"),
    ("file", "-b -i -h --brief --mime --mime-type --mime-encoding", "path*"),
    ("readlink", "-f -e -m -n --canonicalize", "path*"),
    ("realpath", "-e -m -s -q --canonicalize-existing --canonicalize-missing --quiet", "path*"),
    ("basename", "-a -s:text --suffix:text --multiple", "text*"),
    ("dirname", "", "text*"),
    ("md5sum", "-b -t", "path*"),
    ("sha1sum", "-b -t", "path*"),
    ("sha256sum", "-b -t", "path*"),
    ("sha512sum", "-b -t", "path*"),
    ("cksum", "", "path*"),
    ("strings", "-a -n:number -t:text", "path*"),
    ("hexdump", "-C -n:number -s:number -v", "path*"),
    ("od", "-c -x -A:text -t:text -N:number -j:number -v", "path*"),
    ("echo", "-n -e -E", "text*"),
    ("pwd", "-L -P", ""),
    ("true", "", "text*"),
    ("false", "", "text*"),
    ("whoami", "", ""),
    ("id", "-u -g -n -G", ""),
    ("uname", "-a -s -n -r -v -m -p -o", ""),
    ("arch", "", ""),
    ("nproc", "--all", ""),
    ("uptime", "-p -s", ""),
    ("date", "-u -R -I --utc --iso-8601=text --rfc-3339:text --rfc-email", "format?"),
    ("which", "-a", "text*"),
    (
        "git status",
        "-s -b -u -v --short --branch --porcelain=text --long --ignored=text \
        --untracked-files=text --no-renames",
        "path*",
    ),
    ("git diff", GIT_DIFF, "path*"),
    ("git show", GIT_LOG, "path*"),
    ("git log", GIT_LOG, "path*"),
    ("git blame", "-L:text -l -s -w -e -C -M --date:text --line-porcelain --porcelain", "path*"),
    ("git branch", "-a -r -v --all --remotes --list --show-current --verbose", ""),
    ("git tag", "-l --list", ""),
    ("git remote", "-v --verbose", ""),
    ("git stash list", "", ""),
    (
        "git rev-parse",
        "--show-toplevel --show-prefix --git-dir --is-inside-work-tree \
        --abbrev-ref=text --short=number --verify -q",
        "path*",
    ),
    (
        "git ls-files",
        "-c -d -m -o -s -t -u -z --cached --deleted --modified --others --stage \
        --exclude-standard",
        "path*",
    ),
    ("git ls-tree", "-r -d -t -l -z --name-only --full-tree", "path*"),
    ("git describe", "--tags --all --always --long --dirty --abbrev=number", "path?"),
    ("git shortlog", "-s -n -e --summary --numbered --email", "path path*"),
    ("git merge-base", "--is-ancestor", "path path"),
    ("git rev-list", "--count --all -n:number --max-count:number", "path*"),
    ("git cat-file", "-p -t -s -e", "path"),
];

const GREP: &str = "-r -n -i -l -L -c -v -w -x -o -E -F -P -G -H -h -q -s -a -I -z -e:text -A:number \
    -B:number -C:number -m:number -# --recursive --line-number --ignore-case --files-with-matches \
    --files-without-match --count --invert-match --word-regexp --line-regexp --only-matching \
    --extended-regexp --fixed-strings --perl-regexp --with-filename --no-filename --quiet \
    --no-messages --text --regexp:text --after-context:number --before-context:number \
    --context:number --max-count:number --include:text --exclude:text --exclude-dir:text \
    --color=text --binary-files:text";

const GIT_DIFF: &str = "-p -u -w -b -U:number -M -C -z -R --patch --unified:number --stat=text \
    --numstat --shortstat --summary --name-only --name-status --cached --staged --word-diff=text \
    --color=text --no-color --ignore-all-space --ignore-space-change --ignore-blank-lines \
    --diff-filter:text --no-ext-diff --no-textconv --no-renames --find-renames=text --check \
    --exit-code --quiet --minimal --histogram --patience --relative --merge-base";

const GIT_LOG: &str = "-# -p -u -w -b -U:number -M -C -z -n:number -S:text -G:text -i -E -F -L:text -s \
    --patch --no-patch --unified:number --stat=text --numstat --shortstat --summary --name-only \
    --name-status --oneline --graph --all --decorate=text --no-decorate --abbrev-commit --reverse \
    --merges --no-merges --first-parent --follow --format:text --pretty=text --date:text \
    --author:text --committer:text --grep:text --since:text --after:text --until:text \
    --before:text --max-count:number --skip:number --branches=text --tags=text --remotes=text \
    --word-diff=text --color=text --no-color --diff-filter:text --no-ext-diff --no-textconv \
    --no-renames --topo-order --date-order --left-right --cherry-pick --regexp-ignore-case";

/// Tests and actions of find that only look. Its flags are words, and its paths come first.
pub(super) const FIND: &str = "-name:text -iname:text -path:text -ipath:text -wholename:text \
    -regex:text -iregex:text -regextype:text -type:text -maxdepth:number -mindepth:number \
    -size:text -mtime:text -mmin:text -atime:text -amin:text -ctime:text -cmin:text -newer:path \
    -perm:text -user:text -group:text -links:text -empty -readable -writable -executable -print \
    -print0 -ls -prune -quit -not -o -a -or -and -true -false -depth -mount -xdev -daystart -P";

/// Programs whose arguments are programs, or that reach out, or that act as somebody else.
/// No rule may stand for them: a prefix of theirs says nothing about what they do.
pub(super) const RUN_OTHERS: &[&str] = &[
    // Wrappers and those who act as somebody else.
    "env",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "chroot",
    "nohup",
    "setsid",
    "nice",
    "ionice",
    "time",
    "timeout",
    "stdbuf",
    "script",
    "watch",
    "flock",
    "unshare",
    "nsenter",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "xargs",
    "parallel",
    "exec",
    "eval",
    "command",
    "builtin",
    "source",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "taskset",
    "chrt",
    "setpriv",
    "capsh",
    "firejail",
    "bwrap",
    "proot",
    "busybox",
    "toybox",
    "entr",
    "direnv",
    "mise",
    "asdf",
    "xvfb-run",
    "dbus-run-session",
    // Shells.
    "sh",
    "bash",
    "zsh",
    "fish",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "csh",
    "tcsh",
    "rbash",
    "nu",
    "elvish",
    "xonsh",
    "pwsh",
    "powershell",
    "cmd",
    "cmd.exe",
    "powershell.exe",
    "wsl",
    // Languages.
    "python",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "osascript",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "jshell",
    "groovy",
    "scala",
    "ghci",
    "runghc",
    "irb",
    "julia",
    "r",
    "rscript",
    "octave",
    "guile",
    "racket",
    "sbcl",
    "emacs",
    "vi",
    "vim",
    "nvim",
    "ed",
    "ex",
    "pypy",
    "ipython",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "tsx",
    "ts-node",
    // The net.
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "curl",
    "wget",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "aria2c",
    "http",
    "https",
    "xh",
    "rclone",
    "openssl",
    "dig",
    "nslookup",
    "host",
    // Containers and clouds.
    "docker",
    "podman",
    "kubectl",
    "nerdctl",
    "aws",
    "gcloud",
    "az",
];
