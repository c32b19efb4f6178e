//! A comparison as one page that needs nothing else.

use quorate_laboratory::{Axis, Palette, Plot};

use super::compare::{Comparison, Line};
use super::figures::{Figures, fails_text};
use crate::html::{self, escaped, figure, folded};

/// Below this a curve of failures ends: the numbers would be rounding.
const LEAST_SHOWN: f64 = 1e-12;

/// One measure of all kinds.
struct Measure<'a> {
    title: String,
    text: &'a str,
    what: &'a str,
    powers: bool,
    value: Box<dyn Fn(&Figures) -> f64 + 'a>,
    cell: Box<dyn Fn(&Figures) -> String + 'a>,
}

/// The page; `command` shows the same figures again.
pub(super) fn page(comparison: &Comparison, command: &str) -> String {
    let measures = measures(comparison);
    let plots: Vec<Plot> = measures.iter().map(|measure| plot(comparison, measure)).collect();
    let palette = Palette::of(&plots);
    let section = |(measure, plot): (&Measure<'_>, &Plot)| {
        let drawn = match plot.svg(&palette) {
            Some(svg) => figure(&svg, &plot.title, measure.text),
            None => "<p>Nothing to draw.</p>\n".to_owned(),
        };
        let figures = folded("The figures", &figures(comparison, measure));
        format!("<section>\n{drawn}{figures}</section>\n")
    };
    let sections: String = measures.iter().zip(&plots).map(section).collect();
    let command = escaped(command);
    let made = format!(
        "<p>Made by <code>{command}</code>; add <code>--json</code> for the figures as data.</p>\n"
    );
    html::page("Quorum systems compared", &(made + &sections))
}

fn measures(comparison: &Comparison) -> Vec<Measure<'_>> {
    let mut all = vec![
        Measure {
            title: "Sites asked".into(),
            text: "How many sites a claim asks while all are up, the claimant included: in the \
                   mean over all sites. Messages grow with it.",
            what: "sites",
            powers: false,
            value: Box::new(|figures| figures.asked),
            cell: Box::new(|figures| format!("{:.1}", figures.asked)),
        },
        Measure {
            title: "Load".into(),
            text: "The share of all accesses that reaches the busiest site, when quorums are \
                   chosen as well as can be. The capacity of the whole is its inverse.",
            what: "load",
            powers: false,
            value: Box::new(|figures| figures.load.upper),
            cell: Box::new(|figures| format!("{:.4}", figures.load.upper)),
        },
    ];
    all.extend(comparison.down.iter().enumerate().map(|(place, p)| Measure {
        title: format!("Failures, with each site down {p} of the time"),
        text: "How often no quorum is left. A range is a 95 % interval of samples, and its curve \
               what was seen.",
        what: "no quorum",
        powers: true,
        value: Box::new(move |figures| figures.fails[place].1.about()),
        cell: Box::new(move |figures| fails_text(figures.fails[place].1)),
    }));
    all
}

fn plot(comparison: &Comparison, measure: &Measure<'_>) -> Plot {
    let axis = if measure.powers { Axis::powers } else { Axis::even };
    let mut plot = Plot::new(&measure.title, measure.text, Axis::even("sites"), axis(measure.what));
    for Line { kind, points } in &comparison.lines {
        for (n, figures) in points {
            let value = figures.as_ref().map(&measure.value);
            if let Some(value) = value.filter(|value| !measure.powers || *value > LEAST_SHOWN) {
                plot.measured(&kind.to_string(), *n as f64, value);
            }
        }
    }
    plot
}

fn figures(comparison: &Comparison, measure: &Measure<'_>) -> String {
    let head = |line: &Line| format!("<th class=\"number\">{}</th>", line.kind);
    let heads: String = comparison.lines.iter().map(head).collect();
    let row = |(place, n): (usize, &usize)| {
        let cell = |line: &Line| {
            let text = line.points[place].1.as_ref().map_or("–".into(), &measure.cell);
            format!("<td class=\"number\">{}</td>", escaped(&text))
        };
        format!("<tr><td>{n}</td>{}</tr>\n", comparison.lines.iter().map(cell).collect::<String>())
    };
    let rows: String = comparison.sites.iter().enumerate().map(row).collect();
    html::table(&format!("<tr><th>N</th>{heads}</tr>\n{rows}"))
}
