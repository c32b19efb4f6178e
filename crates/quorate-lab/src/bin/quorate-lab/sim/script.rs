//! `quorate sim script`: scripted histories.

use std::fs;
use std::io;

use clap::Args;
use quorate_laboratory::{StepRecorder, find};
use quorate_quorum::SiteId;
use quorate_sim::script::{Line, Report, Script as Story, ScriptError, bless_with};
use serde_json::{Value, json};

use crate::html;
use crate::output_file::OutputFile;
use crate::panics::with_quiet_panics;
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::figures::counted;
use quorate_terminal::paint::Paint;

/// Run scripts: commands, with the expected trace below each
///
/// A script ends at the first line that differs from the run, or at an unexpected violation. The
/// syntax is in docs/scenarios.md.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Script {
    /// The scripts to run
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Show every line of the run
    #[arg(long)]
    trace: bool,
    /// Write the trace into the files, below each command
    #[arg(long, conflicts_with_all = ["trace", "json"])]
    bless: bool,
    /// Print JSON: one event per line, and a summary after each file
    #[arg(long)]
    json: bool,
    /// Draw the run of one script into this file: sites as lines, messages as arrows
    #[arg(long, value_name = "OUT", conflicts_with = "bless")]
    svg: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  quorate sim script scenarios/mutex/hand_over.txt --trace
  quorate sim script scenarios/mutex/*.txt
  quorate sim script --bless my_story.txt
  quorate sim script scenarios/mutex/hand_over.txt --svg hand_over.svg

Exit status: 0 all went as written, 1 something did not, 2 a file cannot be understood.";

impl Script {
    /// Runs all files, also after a failure, and prints the result of each.
    pub(crate) fn run(&self) -> Answer {
        if let (Some(_), [_, _, ..]) = (&self.svg, &self.files[..]) {
            let why = format!("--svg draws one script, not {}", self.files.len());
            return Err(why.into());
        }
        let output = self.svg.as_deref().map(OutputFile::new).transpose()?;
        let mut worst = Verdict::Clean;
        let mut changed = 0;
        for file in &self.files {
            let result = match fs::read_to_string(file) {
                Ok(text) if self.bless => Self::bless(file, &text, &mut changed)?,
                Ok(text) => self.run_story(file, &text, output.as_ref())?,
                Err(error) => self.unreadable(file, &error)?,
            };
            worst = worst.max(result);
        }
        if self.bless {
            print(&match changed {
                0 => format!("no trace changed, of {}\n", self.files.len()),
                _ => format!("{changed} of {} traces changed\n", self.files.len()),
            })?;
        }
        Ok(worst)
    }

    fn unreadable(&self, file: &str, error: &io::Error) -> Answer {
        eprintln!("{file}: {error}");
        if self.json {
            let error = error.to_string();
            let summary = json!({ "summary": file, "result": "bad input", "error": error });
            print(&format!("{summary}\n"))?;
        }
        Ok(Verdict::BadInput)
    }

    fn run_story(&self, file: &str, text: &str, output: Option<&OutputFile>) -> Answer {
        let (mut shown, mut recorder) = (Vec::new(), None);
        let result = with_quiet_panics(|| {
            let story = Story::parse_with(find, text)?;
            let recorder = recorder.insert(StepRecorder::new(story.cluster().n));
            story.watch(|line| shown.push(line.clone()), recorder)
        });
        if let (Some(output), Some(recorder)) = (output, recorder) {
            output.write(&html::alone(&recorder.finish().svg()))?;
        }
        if self.json {
            let events = shown.iter().map(|line| event(file, line));
            let all = events.chain([summary(file, &result)]).map(|value| value.to_string());
            print_lines(&all.collect::<Vec<_>>())?;
        } else if self.trace {
            print_lines(&shown.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        }
        match result {
            Ok(_) if self.json => Ok(Verdict::Clean),
            Ok(report) => {
                let width = self.files.iter().map(String::len).max().unwrap_or_default();
                let ok = Paint::for_stdout().good("ok");
                print(&format!("{ok} {file:<width$}  {}\n", summary_line(&report)))?;
                Ok(Verdict::Clean)
            }
            Err(error) => Ok(blame(file, &error)),
        }
    }

    fn bless(file: &str, text: &str, changed: &mut usize) -> Answer {
        match with_quiet_panics(|| bless_with(find, text)) {
            Ok(blessed) if blessed == text => Ok(Verdict::Clean),
            Ok(blessed) => {
                let failed = |error| Failure::Input(format!("{file}: {error}"));
                fs::write(file, blessed).map_err(failed)?;
                *changed += 1;
                print(&format!("changed {file}\n"))?;
                Ok(Verdict::Clean)
            }
            Err(error) => Ok(blame(file, &error)),
        }
    }
}

/// The error in a script, with its line.
fn blame(file: &str, error: &ScriptError) -> Verdict {
    eprintln!("{file}:{}: {}", error.line, error.kind);
    if error.is_bad_input() { Verdict::BadInput } else { Verdict::Broken }
}

/// The result of a script, as text.
fn summary_line(report: &Report) -> String {
    let messages = counted(report.tally.messages_total(), "message", "messages");
    let entries = counted(report.tally.served, "entry", "entries");
    let broken = report.broken.as_ref();
    let broken = broken.map(|(_, breach)| format!(", {} broken as expected", breach.property));
    format!("{messages}, {entries}{}", broken.unwrap_or_default())
}

/// One line of a run, as JSON.
fn event(file: &str, line: &Line) -> Value {
    let number = |site: Option<SiteId>| site.map(|site| site.index() + 1);
    json!({
        "file": file,
        "line": line.number,
        "depth": line.depth,
        "event": line.word,
        "text": line.text,
        "site": number(line.site),
        "peer": number(line.peer),
        "kind": line.kind,
    })
}

/// The result of a script, as JSON.
fn summary(file: &str, result: &Result<Report, ScriptError>) -> Value {
    match result {
        Ok(report) => json!({
            "summary": file,
            "result": "ok",
            "messages": report.tally.messages_total(),
            "messages_by_kind": report.tally.messages,
            "entries": report.tally.served,
            "broken": report.broken.as_ref().map(|(line, breach)| json!({
                "line": line,
                "property": breach.property,
                "what": breach.what,
            })),
        }),
        Err(error) => json!({
            "summary": file,
            "result": if error.is_bad_input() { "bad input" } else { "failed" },
            "line": error.line,
            "error": error.kind.to_string(),
        }),
    }
}
