//! The report as one page.

use std::fs;
use std::io;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::timeline::timelines;
use super::{LISTED, by_rule, command, names, since};
use crate::judge::Judgement;
use crate::options::Options;

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1220px;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
code { background: #f4f4f4; padding: .1rem .3rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } thead { border-bottom: 1px solid #888; }
tbody tr:nth-child(even) { background: #f7f7f7; }
.good { color: #17643a; } .bad { color: #a31515; } .long { background: #fbe3c8; }
svg { display: block; max-width: 100%; height: auto; margin-bottom: 2px; }
.free { fill: #eee; } .held { fill: #4a7ba6; } .fault { fill: #d9822b; opacity: .28; }
.fault-name, .time { font-size: 9px; fill: #555; } .broken { fill: #c00; }
small { color: #666; }
";

/// The page.
pub(crate) fn page(
    judgement: &Judgement,
    options: &Options,
    missing: &[String],
    folder: &Path,
) -> io::Result<String> {
    let logs = logs(folder)?;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "quorate torture, seed " (options.seed) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Torture, seed " (options.seed) }
                (summary(judgement, options, missing))
                (violations(judgement))
                h2 { "Gaps" }
                (gaps(judgement))
                h2 { "Timelines" }
                p { small {
                    "Blue: somebody holds the lock. Bands: faults; point at one for what it is. \
                     Red: a violation."
                } }
                @for name in names(judgement) { h3 { (name) } (timelines(judgement, name)) }
                (faults(judgement))
                h2 { "Logs" }
                ul {
                    li { a href="history.jsonl" { "the history" } }
                    @for log in logs { li { a href=(format!("logs/{log}")) { (log) } } }
                }
                h2 { "Notes" }
                ul { @for note in &judgement.notes { li { (note) } } }
            }
        }
    };
    Ok(markup.into_string())
}

fn logs(folder: &Path) -> io::Result<Vec<String>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(folder.join("logs"))? {
        logs.push(entry?.file_name().to_string_lossy().into_owned());
    }
    logs.sort();
    Ok(logs)
}

fn summary(judgement: &Judgement, options: &Options, missing: &[String]) -> Markup {
    let lost = judgement.grants.iter().filter(|grant| grant.lost).count();
    html! {
        p { code { (command(options)) } }
        p {
            (judgement.grants.len()) " grants, " (lost) " of them lost; " (judgement.denied)
            " claims denied; " (judgement.writes) " writes, " (judgement.refused)
            " of them refused by the storage; " (judgement.faults.len()) " faults in "
            (format!("{:.0}", since(judgement, judgement.until))) " s."
        }
        @for what in missing { p { "Missing: " (what) } }
    }
}

fn violations(judgement: &Judgement) -> Markup {
    if judgement.violations.is_empty() {
        return html! { p.good { strong { "No violation." } } };
    }
    html! {
        p.bad { strong {
            "Violated: "
            @for (rule, count) in by_rule(judgement) { (rule) " (" (count) ") " }
        } }
        ol {
            @for violation in judgement.violations.iter().take(LISTED) {
                li {
                    (format!("{:.3} s", since(judgement, violation.at))) ", "
                    strong { (violation.rule) } ": " (violation.text)
                }
            }
        }
        @if judgement.violations.len() > LISTED {
            p { "and " (judgement.violations.len() - LISTED) " more" }
        }
    }
}

fn gaps(judgement: &Judgement) -> Markup {
    let names = names(judgement);
    html! {
        p { small {
            "The longest time in which nobody held the lock, in leases, from the beginning of the \
             fault until three leases after its end; below it grants, and how many were lost. \
             `none`: before the first fault. `several`: faults that came together."
        } }
        table {
            thead { tr {
                th { "fault" } th { "times" } th { "leases" }
                @for name in &names { th { (name) } }
            } }
            tbody {
                @for row in &judgement.gaps {
                    tr {
                        td { (row.fault) } td { (row.times) } td { (format!("{:.1}", row.length)) }
                        @for name in &names {
                            @let cell = row.cells.get(*name).cloned().unwrap_or_default();
                            td.long[cell.gap > 2.5] {
                                (format!("{:.2}", cell.gap)) br;
                                small { (cell.grants) ", " (cell.lost) " lost" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn faults(judgement: &Judgement) -> Markup {
    html! {
        h2 { "Faults" }
        table {
            thead { tr { th { "fault" } th { "from" } th { "until" } th { "what" } } }
            tbody {
                @for fault in &judgement.faults {
                    tr {
                        td { (fault.name) }
                        td { (format!("{:.1} s", since(judgement, fault.from))) }
                        td { (format!("{:.1} s", since(judgement, fault.until))) }
                        td style="text-align: left" { (fault.text) }
                    }
                }
            }
        }
    }
}
