//! Health of processes: memory and descriptors stay flat, nobody panics or ends by itself, and a
//! site with a foreign folder is refused.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::Violation;
use crate::history::{Event, What};

/// So much more memory than twice what it was at first is growth, in kilobytes.
const MEMORY_SLACK: u64 = 32 << 10;
/// So many more descriptors than twice what they were at first.
const DESCRIPTOR_SLACK: u64 = 32;

/// Violations, and notes about what is worth a look.
pub(super) fn check(events: &[Event]) -> (Vec<Violation>, Vec<String>) {
    let (mut violations, mut notes) = (Vec::new(), Vec::new());
    let mut samples: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for event in events {
        let (at, who) = (event.at, &event.who);
        match &event.what {
            What::Sampled { kilobytes, descriptors } => {
                samples.entry(who).or_default().push((*kilobytes, *descriptors));
            }
            What::Refused { refused: false } => {
                let text = format!("{who} joined with an empty folder");
                violations.push(Violation { at, rule: "wiped folders are refused", text });
            }
            What::Exited { status } if is_clean(status) => {
                notes.push(format!("{who} ended by itself: {status}"));
            }
            What::Exited { status } => {
                let text = format!("{who} ended by itself: {status}");
                violations.push(Violation { at, rule: "no process fails", text });
            }
            _ => {}
        }
    }
    let end = events.last().map_or(0, |event| event.at);
    for (who, samples) in samples {
        let memory: Vec<u64> = samples.iter().map(|sample| sample.0).collect();
        let descriptors: Vec<u64> = samples.iter().map(|sample| sample.1).collect();
        notes.push(format!("{who}: {}", summary(&memory, &descriptors)));
        for (what, values, slack) in
            [("kB", &memory, MEMORY_SLACK), ("descriptors", &descriptors, DESCRIPTOR_SLACK)]
        {
            if let Some((before, after)) = grown(values, slack) {
                let text = format!("{who}: {before} {what} at first, {after} at the end");
                violations.push(Violation { at: end, rule: "memory and descriptors", text });
            }
        }
    }
    (violations, notes)
}

/// Whether a site ended with a status of its own, such as that of a disk that is full.
fn is_clean(status: &str) -> bool {
    ["exit status: 0", "exit status: 1", "exit status: 2", "exit status: 125"].contains(&status)
}

fn summary(memory: &[u64], descriptors: &[u64]) -> String {
    let range = |values: &[u64]| {
        let (least, most) = (values.iter().min(), values.iter().max());
        format!("{} to {}", least.copied().unwrap_or(0), most.copied().unwrap_or(0))
    };
    format!("{} kB of memory, {} descriptors", range(memory), range(descriptors))
}

/// The medians of the first and the last quarter, if the last one is much higher.
fn grown(values: &[u64], slack: u64) -> Option<(u64, u64)> {
    let quarter = values.len() / 4;
    if quarter < 5 {
        return None; // too short to tell
    }
    let (before, after) = (median(&values[..quarter]), median(&values[values.len() - quarter..]));
    (after > before * 2 + slack).then_some((before, after))
}

fn median(values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Lines in the logs of a folder that report a panic, each with its file.
pub(crate) fn panics(logs: &Path) -> io::Result<Vec<Violation>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(logs)? {
        let path = entry?.path();
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        for line in text.lines().filter(|line| line.contains("panicked at")) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let text = format!("{file}: {line}");
            found.push(Violation { at: 0, rule: "no panic", text });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::forged::{broken, event};

    #[test]
    fn growth_is_found_and_flat_is_not() {
        let samples = |slope: u64| {
            let sample =
                |second: u64| What::Sampled { kilobytes: 10_000 + slope * second, descriptors: 40 };
            (0..100).map(|second| event(second * 1000, "site-1", sample(second))).collect()
        };
        assert!(broken(samples(10)).is_empty());
        assert_eq!(broken(samples(1_000)), ["memory and descriptors"]);
    }

    #[test]
    fn a_site_that_fails_or_joins_with_an_empty_folder_is_found() {
        let exited = |status: &str| What::Exited { status: status.into() };
        assert_eq!(
            broken(vec![event(1, "site-1", exited("signal: 6 (SIGABRT)"))]),
            ["no process fails"]
        );
        assert!(broken(vec![event(1, "site-1", exited("exit status: 1"))]).is_empty());
        let joined = What::Refused { refused: false };
        assert_eq!(broken(vec![event(1, "site-1", joined)]), ["wiped folders are refused"]);
    }
}
