//! `quorate lab run all --html`: one page with everything.

use std::fs;
use std::sync::LazyLock;

use quorate_laboratory::EXPERIMENTS;

use crate::json_lines;
use crate::tools::{Done, path, quorate_with};

/// The quick page, made once for all tests.
pub(crate) static PAGE: LazyLock<String> = LazyLock::new(|| made("all --quick", "report.html").1);

/// Makes a page of this name.
fn made(flags: &str, name: &str) -> (Done, String) {
    let file = path(name);
    let done = quorate_with(&format!("lab run {flags} --html"), &[&file]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let page = fs::read_to_string(&file).expect("the page was written");
    (done, page)
}

#[test]
fn the_page_has_every_experiment_with_its_table_and_figures() {
    for experiment in EXPERIMENTS {
        let start = PAGE.find(&format!("<section id=\"{}\">", experiment.name));
        let section = &PAGE[start.expect("every experiment has a section")..];
        let section = &section[..section.find("</section>").expect("sections end")];
        for part in ["<svg ", "<figcaption>", "<table>", "; seed 1"] {
            assert!(section.contains(part), "{} has no {part}", experiment.name);
        }
        assert!(PAGE.contains(&format!("<a href=\"#{}\">", experiment.name)));
    }
    let order = ["id=\"summary\"", "<nav>", "id=\"handover\""].map(|part| PAGE.find(part).unwrap());
    assert!(order.is_sorted(), "the summary comes first");
    assert!(PAGE.contains("in T; Maekawa's algorithm takes 2T"), "the headline");
}

#[test]
fn verdicts_are_told_by_word_and_mark() {
    assert!(PAGE.contains("<td class=\"holds\">✓\u{a0}holds</td>"));
    assert!(PAGE.contains("<td class=\"differs\">≠\u{a0}differs</td>"));
}

#[test]
fn the_page_needs_nothing_else() {
    for part in ["src=", "<link", "<script", "@import", "url(", "http-equiv"] {
        assert!(!PAGE.contains(part), "{part}");
    }
    let elsewhere = PAGE.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"));
    assert!(PAGE.contains("prefers-color-scheme: dark") && PAGE.contains("@media print"));
}

/// No date, no host, no duration: what is on the page follows from the seed, whatever else is
/// asked for.
#[test]
fn the_same_seed_gives_the_same_page() {
    let (done, again) = made("all --quick --seed 1 --json", "report-again.html");
    assert_eq!(*PAGE, again);
    for row in json_lines(&done) {
        let name = row["name"].as_str().unwrap().replace('>', "&gt;");
        assert!(PAGE.contains(&format!("<td>{name}</td>")), "{name}");
    }
    let one = |seed| made(&format!("table1 --quick --seed {seed} --csv"), "report-one.html").1;
    assert_ne!(one(1), one(2));
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_work() {
    let refused = |file: &str, words: &[&str]| {
        let done = quorate_with("lab run all --html", &[file]);
        done.refused(words);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    };
    refused("/nosuch/page.html", &["/nosuch/page.html", "its folder does not exist"]);
    refused(env!("CARGO_TARGET_TMPDIR"), &["is no file"]);
    refused("/dev/null", &["is no file"]);
}
