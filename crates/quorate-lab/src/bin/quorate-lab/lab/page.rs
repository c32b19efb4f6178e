//! Experiments as one page that needs nothing else.

use quorate_laboratory::{Palette, Row, Verdict};

use super::outcome::{Outcome, counts, rows};
use crate::html::{self, escaped, figure, folded};
use quorate_terminal::figures::counted;

const TITLE: &str = "What papers claim, and what was measured";

/// A table with more rows is folded away.
const ROWS_OPEN: usize = 12;

/// How a history is to be read.
const DIAGRAM_KEY: &str = "Time runs downwards; a hollow bar waits, a solid one is inside.";

/// The verdicts: each with a mark that needs no colour, what many of them do, and what it means.
const VERDICTS: [(Verdict, char, &str, &str); 3] = [
    (Verdict::Holds, '✓', "hold", "the same figure, but for chance, or within the bound claimed"),
    (Verdict::Differs, '≠', "differ", "another figure than the one claimed"),
    (Verdict::Refuted, '✗', "refuted", "a bound was broken, or what should never happen did"),
];

/// The page; `command` makes it again.
pub(super) fn page(outcomes: &[Outcome], seed: u64, command: &str) -> String {
    let mut body = format!(
        "<header>\n<p>Made by <code>{}</code>, which makes the same page again. Times are in T, \
         the delay of a message.</p>\n</header>\n{}{}",
        escaped(command),
        summary(outcomes),
        contents(outcomes),
    );
    for outcome in outcomes {
        body += &section(outcome, seed);
    }
    html::page(TITLE, &body)
}

/// How many claims hold, and what matters most.
fn summary(outcomes: &[Outcome]) -> String {
    let tile = |(verdict, mark, word, meaning): (Verdict, char, &str, &str)| {
        let count: usize = outcomes.iter().map(|outcome| outcome.count(verdict)).sum();
        format!(
            "<li class=\"{verdict}\"><b>{mark} {count}</b> {word}<br>\
             <small>{meaning}</small></li>\n"
        )
    };
    let tiles: String = VERDICTS.into_iter().map(tile).collect();
    let headlines: String = outcomes.iter().map(headlines).collect();
    format!(
        "<section id=\"summary\">\n<h2>Summary</h2>\n{headlines}\
         <ul class=\"tiles\">\n{tiles}</ul>\n{}</section>\n",
        refuted(outcomes)
    )
}

/// What was refuted: a reader asks for that first.
fn refuted(outcomes: &[Outcome]) -> String {
    let entry = |(name, row): (&str, &Row)| {
        let Row { name: what, claim, measured, unit, .. } = row;
        let words = escaped(&format!("{what}: claimed {claim}, measured {measured} {unit}"));
        format!("<li><b><a href=\"#{name}\">{name}</a></b> {words}</li>\n")
    };
    let all = rows(outcomes).filter(|(_, row)| row.verdict == Verdict::Refuted);
    let entries: Vec<String> = all.map(entry).collect();
    match entries.len() {
        0 => String::new(),
        count => folded(
            &format!("Refuted: {}", counted(count as u64, "claim", "claims")),
            &format!("<ul>\n{}</ul>\n", entries.concat()),
        ),
    }
}

fn contents(outcomes: &[Outcome]) -> String {
    let entry = |outcome: &Outcome| {
        let (name, about) = (outcome.experiment.name, escaped(outcome.experiment.about));
        let verdicts = escaped(&verdicts(outcome));
        format!(
            "<li><a href=\"#{name}\">{name}</a>: {about} <span class=\"soft\">{verdicts}</span>\
             </li>\n"
        )
    };
    let entries: String = outcomes.iter().map(entry).collect();
    format!("<nav>\n<h2>Contents</h2>\n<ul>\n{entries}</ul>\n</nav>\n")
}

/// `✓ 12 ≠ 3`, without those that are none.
fn verdicts(outcome: &Outcome) -> String {
    let some = VERDICTS.iter().filter_map(|(verdict, mark, ..)| {
        let count = outcome.count(*verdict);
        (count > 0).then(|| format!("{mark}\u{a0}{count}"))
    });
    some.collect::<Vec<_>>().join(" ")
}

fn section(outcome: &Outcome, seed: u64) -> String {
    let (name, about) = (outcome.experiment.name, sentence(outcome.experiment.about));
    let (headlines, figures) = (headlines(outcome), figures(outcome, seed));
    let table = table(&outcome.rows);
    let table = match outcome.rows.len() {
        0 => String::new(),
        rows if rows > ROWS_OPEN => {
            let counts = counts(std::slice::from_ref(outcome));
            folded(&format!("All {rows} rows: {counts}"), &table)
        }
        _ => table,
    };
    format!(
        "<section id=\"{name}\">\n<h2>{name}</h2>\n<p>{about}</p>\n\
         {headlines}{figures}{table}</section>\n"
    )
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    escaped(&format!("{}{}.", first.collect::<String>(), rest.as_str()))
}

fn headlines(outcome: &Outcome) -> String {
    let lines: Vec<String> = outcome.headlines.iter().map(|text| escaped(text)).collect();
    match lines.len() {
        0 => String::new(),
        _ => format!("<p class=\"headline\">{}</p>\n", lines.join("<br>")),
    }
}

fn figures(outcome: &Outcome, seed: u64) -> String {
    let palette = Palette::of(&outcome.plots);
    let drawn = outcome.plots.iter().filter_map(|plot| {
        let condition = format!("{}; seed {seed}", plot.condition);
        Some(figure(&plot.svg(&palette)?, &plot.title, &condition))
    });
    let told = outcome.diagrams.iter().map(|diagram| {
        let condition = format!("{}; seed {seed}. {DIAGRAM_KEY}", diagram.condition);
        figure(&diagram.svg(), &diagram.title, &condition)
    });
    match drawn.chain(told).collect::<String>() {
        none if none.is_empty() => none,
        figures => format!("<div class=\"figures\">\n{figures}</div>\n"),
    }
}

/// The rows. A condition is a letter in them, and spelt out below.
fn table(rows: &[Row]) -> String {
    let mut conditions: Vec<&str> = Vec::new();
    for row in rows {
        if !conditions.contains(&row.condition.as_str()) {
            conditions.push(&row.condition);
        }
    }
    let place = |row: &Row| conditions.iter().position(|known| *known == row.condition);
    let head = "<tr><th></th><th>Claim</th><th class=\"number\">Measured</th><th>Verdict</th>\
                <th>When</th><th>Note</th></tr>\n";
    let lines = rows.iter().map(|row| line(row, &letters(place(row).unwrap_or_default())));
    let table = html::table(&format!("{head}{}", lines.collect::<String>()));
    let spelt = conditions.iter().enumerate().map(|(place, condition)| {
        format!("<li><b>{}</b>: {}</li>\n", letters(place), escaped(condition))
    });
    format!("{table}<ul class=\"conditions\">\n{}</ul>\n", spelt.collect::<String>())
}

fn line(row: &Row, condition: &str) -> String {
    let (verdict, mark) = (row.verdict, mark(row.verdict));
    format!(
        "<tr><td>{}</td><td>{}</td><td class=\"number\">{} {}</td>\
         <td class=\"{verdict}\">{mark}\u{a0}{verdict}</td><td>{condition}</td><td>{}</td></tr>\n",
        escaped(&row.name),
        escaped(&row.claim),
        row.measured,
        escaped(row.unit),
        escaped(&row.note),
    )
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
