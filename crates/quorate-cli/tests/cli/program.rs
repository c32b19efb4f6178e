//! Runs the program under test.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The exit status and output of a finished command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("the answer is JSON")
    }

    /// Asserts that it was refused as bad input, with an error that contains all of `words`.
    #[track_caller]
    pub(crate) fn refused(&self, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
    }
}

/// Runs the program with these arguments, separated by spaces.
pub(crate) fn quorate(line: &str) -> Done {
    quorate_with(line, &[])
}

/// The same, with more arguments, which may contain spaces.
pub(crate) fn quorate_with(line: &str, more: &[&str]) -> Done {
    let mut command = Command::new(crate::PROGRAM);
    let output = command.args(line.split_whitespace()).args(more).output();
    let output = output.expect("the command was built");
    let text = |bytes| String::from_utf8(bytes).expect("it speaks UTF-8");
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Writes a file, and returns its path. Every test uses its own names.
pub(crate) fn file(name: &str, content: &str) -> String {
    let path = path(name);
    fs::write(&path, content).expect("the directory is for tests");
    path
}

/// The path at which a test may write a file of this name.
pub(crate) fn path(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// The keys of a JSON object that are missing.
pub(crate) fn missing<'a>(value: &Value, keys: &[&'a str]) -> Vec<&'a str> {
    keys.iter().filter(|key| value.get(key).is_none()).copied().collect()
}
