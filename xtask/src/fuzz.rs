//! `cargo xtask fuzz`: changed frames and packets, for as long as wanted.

use std::fs;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::laboratory::Laboratory;
use crate::report::{Outcome, Report, Work};
use crate::workspace::{self, Workspace};

/// The text of `--help`.
pub(crate) const HELP: &str = "
cargo xtask fuzz [--minutes N]

Builds `quorate-lab` in the profile `test`, which checks for overflow. Then it repeats the kept
cases in crates/quorate-lab/tests/fuzz, decodes ten million changed frames, and sends changed
packets to whole sites for N minutes (5 unless told). The first seed is the present time, and is
shown. What is found goes to target/fuzz, as short as possible. docs/fuzzing.md says more.
";

/// Where kept cases are.
const CASES: &str = "crates/quorate-lab/tests/fuzz";

/// Runs all parts; false if something was found.
pub(crate) fn run(workspace: &Workspace, minutes: u64) -> io::Result<bool> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let mut files = Vec::new();
    for file in fs::read_dir(workspace.root.join(CASES))? {
        files.push(format!("{CASES}/{}", file?.file_name().to_string_lossy()));
    }
    files.sort();
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let parts = [
        ("kept cases", [words("fuzz replay".to_owned()), files].concat()),
        ("frames", words(format!("fuzz frames --count 10000000 --seed {seed}"))),
        (
            "packets",
            words(format!("fuzz sites --minutes {minutes} --seed {seed} --cases target/fuzz")),
        ),
    ];
    let mut report = Report::new(workspace.paint);
    let mut built = None;
    report.part("build", Work::Compile, || {
        let line = "build --profile test -p quorate-lab";
        built = Some(Laboratory::built_by(workspace, line)?);
        Ok(Outcome::Passed)
    });
    println!("the first seed is {seed}");
    if let Some(laboratory) = built {
        for (name, arguments) in parts {
            report.part(name, Work::Run, || workspace::streamed(laboratory.command(&arguments)));
        }
    }
    println!("\n{}{}", report.table(), report.verdict());
    Ok(report.passed())
}
