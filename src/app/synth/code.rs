//! Made-up code in the languages that agents write most.
//!
//! In a piece `{i}` is an identifier, `{d}` a number, and `{<}` and `{>}` stand for braces.

/// A language and what is written in it.
pub(super) struct Language {
    pub(super) name: &'static str,
    pub(super) pieces: &'static [&'static str],
}

pub(super) const LANGUAGES: &[&Language] =
    &[&RUST, &RUST, &PYTHON, &TYPESCRIPT, &SHELL, &SQL, &JSON, &DIFF];

pub(super) const RUST: Language = Language {
    name: "rust",
    pieces: &[
        "/// Gives the {n} its {a} state.\npub fn {i}(rows: &[Row], limit: usize) -> Option<usize> {<}\n    let mut total = {d};\n    for row in rows.iter().take(limit) {<}\n        total += row.{i}();\n        if total > {d} {<}\n            return Some(total);\n        {>}\n    {>}\n    None\n{>}\n",
        "impl Cache {<}\n    fn {i}(&mut self, key: u64) {<}\n        // The {n} is {a} here.\n        let slot = self.slots.entry(key).or_insert_with(|| Slot::new({d}));\n        slot.age = 0;\n        self.bytes += slot.{i}();\n    {>}\n{>}\n",
        "#[test]\nfn {i}_holds() {<}\n    let text = \"a {a} {n}\\n\";\n    assert_eq!({i}(text), {d});\n    assert!({i}(\"\").is_none());\n{>}\n",
        "let Some(next) = self.{i}(index) else {<}\n    tracing::warn!(index, \"the {n} is {a}\");\n    return Err(Error::Missing({d}));\n{>};\n",
    ],
};

pub(super) const PYTHON: Language = Language {
    name: "python",
    pieces: &[
        "def {i}(rows: list[dict], limit: int = {d}) -> int:\n    \"\"\"Count the rows that the {n} keeps.\"\"\"\n    total = 0\n    for row in rows[:limit]:\n        if row.get('{a}', False):\n            total += 1\n    return total\n",
        "class {i}_error(Exception):\n    def __init__(self, name: str, *, code: int = {d}) -> None:\n        super().__init__(f\"{<}name{>}: the {n} is {a}\")\n        self.code = code\n",
        "with open(path, encoding=\"utf-8\") as file:\n    for number, line in enumerate(file, start=1):\n        if number % {d} == 0:\n            print({i}(line.strip()))\n",
    ],
};

pub(super) const TYPESCRIPT: Language = Language {
    name: "typescript",
    pieces: &[
        "export async function {i}(id: string, limit = {d}): Promise<Row[]> {<}\n  const response = await fetch(`/api/rows/${<}id{>}?limit=${<}limit{>}`);\n  if (!response.ok) throw new Error(\"the {n} is {a}\");\n  return (await response.json()).rows ?? [];\n{>}\n",
        "type Entry = {<} id: number; name: string; {a}?: boolean {>};\n\nconst entries = new Map<number, Entry>();\nfor (const [id, entry] of entries) {<}\n  if (id > {d}) entries.delete(id); // {n}\n{>}\n",
    ],
};

pub(super) const SHELL: Language = Language {
    name: "bash",
    pieces: &[
        "for file in src/**/*.rs; do\n  lines=$(wc -l < \"$file\")\n  [ \"$lines\" -gt {d} ] && echo \"$file: $lines\"\ndone\n",
        "cargo test --all -- {i} --nocapture\ngit diff --stat HEAD~{d}\n",
    ],
};

pub(super) const SQL: Language = Language {
    name: "sql",
    pieces: &[
        "SELECT s.id, count(m.id) AS messages\nFROM sessions AS s\nLEFT JOIN messages AS m ON m.session_id = s.id\nWHERE s.updated_at > {d} -- only the {a} ones\nGROUP BY s.id\nORDER BY messages DESC\nLIMIT {d};\n",
    ],
};

pub(super) const JSON: Language = Language {
    name: "json",
    pieces: &[
        "{<}\n  \"name\": \"{i}\",\n  \"limit\": {d},\n  \"nested\": {<} \"kind\": \"{a}\", \"of\": [\"{n}\", null, true, {d}.5] {>}\n{>}\n",
    ],
};

pub(super) const DIFF: Language = Language {
    name: "diff",
    pieces: &[
        "--- a/{f}\n+++ b/{f}\n@@ -{d},4 +{d},5 @@\n fn {i}(&self) {<}\n-    self.{i}({d});\n+    let limit = {d};\n+    self.{i}(limit);\n {>}\n",
    ],
};
