//! Experiments as one self-contained page.

use maud::{Markup, html};
use quorate_laboratory::{Experiment, Palette, Row, Verdict};
use quorate_terminal::figures::counted;

use super::outcome::{Outcome, counts, rows};
use crate::html::{self, figure, folded};

const TITLE: &str = "What papers claim, and what was measured";

/// A table with more rows is folded away.
const ROWS_OPEN: usize = 12;

/// The key to a diagram.
const DIAGRAM_KEY: &str = "Time runs downwards; a hollow bar waits, a solid one is inside.";

/// The verdicts, each with a mark that needs no colour, its plural verb, and its meaning.
const VERDICTS: [(Verdict, char, &str, &str); 3] = [
    (Verdict::Holds, '✓', "hold", "the same figure, but for chance, or within the bound claimed"),
    (Verdict::Differs, '≠', "differ", "another figure than the one claimed"),
    (Verdict::Refuted, '✗', "refuted", "a bound was broken, or what should never happen did"),
];

/// The page; `command` reproduces it.
pub(super) fn page(outcomes: &[Outcome], seed: u64, command: &str) -> String {
    let body = html! {
        header {
            p {
                "Made by " code { (command) } ", which makes the same page again. "
                "Times are in T, the delay of a message."
            }
        }
        (summary(outcomes))
        (contents(outcomes))
        @for outcome in outcomes { (section(outcome, seed)) }
    };
    html::page(TITLE, &body)
}

/// How many claims hold, and the headlines.
fn summary(outcomes: &[Outcome]) -> Markup {
    let count = |verdict| -> usize { outcomes.iter().map(|outcome| outcome.count(verdict)).sum() };
    html! {
        section #summary {
            h2 { "Summary" }
            @for outcome in outcomes { (headlines(outcome)) }
            ul.tiles {
                @for (verdict, mark, word, meaning) in VERDICTS {
                    li class=(verdict) {
                        b { (mark) " " (count(verdict)) } " " (word) br;
                        small { (meaning) }
                    }
                }
            }
            (refuted(outcomes))
        }
    }
}

/// The refuted claims, which readers ask for first.
fn refuted(outcomes: &[Outcome]) -> Markup {
    let all: Vec<(&str, &Row)> =
        rows(outcomes).filter(|(_, row)| row.verdict == Verdict::Refuted).collect();
    if all.is_empty() {
        return Markup::default();
    }
    let entries = html! {
        ul {
            @for (name, Row { name: what, claim, measured, unit, .. }) in &all {
                li {
                    b { a href={ "#" (name) } { (name) } }
                    " " (what) ": claimed " (claim) ", measured " (measured) " " (unit)
                }
            }
        }
    };
    folded(&format!("Refuted: {}", counted(all.len() as u64, "claim", "claims")), &entries)
}

fn contents(outcomes: &[Outcome]) -> Markup {
    html! {
        nav {
            h2 { "Contents" }
            ul {
                @for outcome in outcomes {
                    @let Experiment { name, about, .. } = outcome.experiment;
                    li {
                        a href={ "#" (name) } { (name) } ": " (about) " "
                        span.soft { (verdicts(outcome)) }
                    }
                }
            }
        }
    }
}

/// The counts, as `✓ 12 ≠ 3`, without zeros.
fn verdicts(outcome: &Outcome) -> String {
    let some = VERDICTS.iter().filter_map(|(verdict, mark, ..)| {
        let count = outcome.count(*verdict);
        (count > 0).then(|| format!("{mark}\u{a0}{count}"))
    });
    some.collect::<Vec<_>>().join(" ")
}

fn section(outcome: &Outcome, seed: u64) -> Markup {
    let Experiment { name, about, .. } = outcome.experiment;
    let count = outcome.rows.len();
    html! {
        section id=(name) {
            h2 { (name) }
            p { (sentence(about)) }
            (headlines(outcome))
            (figures(outcome, seed))
            @if count > ROWS_OPEN {
                @let counts = counts(std::slice::from_ref(outcome));
                (folded(&format!("All {count} rows: {counts}"), &table(&outcome.rows)))
            } @else if count > 0 {
                (table(&outcome.rows))
            }
        }
    }
}

/// The text with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), rest.as_str())
}

fn headlines(outcome: &Outcome) -> Markup {
    html! {
        @if let [first, rest @ ..] = &outcome.headlines[..] {
            p.headline {
                (first)
                @for line in rest { br; (line) }
            }
        }
    }
}

fn figures(outcome: &Outcome, seed: u64) -> Markup {
    let palette = Palette::of(&outcome.plots);
    let plots = outcome.plots.iter().filter_map(|plot| {
        let condition = format!("{}; seed {seed}", plot.condition);
        Some(figure(&plot.svg(&palette)?, &plot.title, &condition))
    });
    let diagrams = outcome.diagrams.iter().map(|diagram| {
        let condition = format!("{}; seed {seed}. {DIAGRAM_KEY}", diagram.condition);
        figure(&diagram.svg(), &diagram.title, &condition)
    });
    let figures: Vec<Markup> = plots.chain(diagrams).collect();
    html! {
        @if !figures.is_empty() {
            div.figures { @for figure in &figures { (figure) } }
        }
    }
}

/// The rows. A letter stands for each condition, spelled out below.
fn table(rows: &[Row]) -> Markup {
    let mut conditions: Vec<&str> = Vec::new();
    for row in rows {
        if !conditions.contains(&row.condition.as_str()) {
            conditions.push(&row.condition);
        }
    }
    let place = |row: &Row| conditions.iter().position(|known| *known == row.condition);
    let lines = html! {
        tr {
            th {} th { "Claim" } th.number { "Measured" } th { "Verdict" } th { "When" }
            th { "Note" }
        }
        @for row in rows { (line(row, &letters(place(row).unwrap_or_default()))) }
    };
    html! {
        (html::table(&lines))
        ul.conditions {
            @for (place, condition) in conditions.iter().enumerate() {
                li { b { (letters(place)) } ": " (condition) }
            }
        }
    }
}

fn line(row: &Row, condition: &str) -> Markup {
    html! {
        tr {
            td { (row.name) }
            td { (row.claim) }
            td.number { (row.measured) " " (row.unit) }
            td class=(row.verdict) { (mark(row.verdict)) "\u{a0}" (row.verdict) }
            td { (condition) }
            td { (row.note) }
        }
    }
}

fn mark(verdict: Verdict) -> char {
    let found = VERDICTS.iter().find(|(known, ..)| *known == verdict);
    found.map(|(_, mark, ..)| *mark).expect("every verdict has a mark")
}

/// `a`, `b`, …, `z`, `aa`, …
fn letters(place: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(place % 26).expect("a letter"));
    let before = if place < 26 { String::new() } else { letters(place / 26 - 1) };
    format!("{before}{letter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_do_not_run_out() {
        assert_eq!([0, 1, 25, 26, 27, 52].map(letters), ["a", "b", "z", "aa", "ab", "ba"]);
    }
}
