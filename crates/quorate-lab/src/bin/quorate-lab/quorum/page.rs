//! A comparison as one self-contained page.

use maud::{Markup, html};
use quorate_laboratory::{Axis, Palette, Plot};

use super::compare::{Comparison, Line};
use super::figures::{Figures, fails_text};
use crate::html::{self, figure, folded};

/// A curve of failures ends below this: smaller numbers are rounding errors.
const LEAST_SHOWN: f64 = 1e-12;

/// One measure, taken of all kinds.
struct Measure<'a> {
    title: String,
    text: &'a str,
    what: &'a str,
    powers: bool,
    value: Box<dyn Fn(&Figures) -> f64 + 'a>,
    cell: Box<dyn Fn(&Figures) -> String + 'a>,
}

/// The page; `command` reproduces its figures.
pub(super) fn page(comparison: &Comparison, command: &str) -> String {
    let measures = measures(comparison);
    let plots: Vec<Plot> = measures.iter().map(|measure| plot(comparison, measure)).collect();
    let palette = Palette::of(&plots);
    let body = html! {
        p {
            "Made by " code { (command) } "; add " code { "--json" } " for the figures as data."
        }
        @for (measure, plot) in measures.iter().zip(&plots) {
            section {
                @match plot.svg(&palette) {
                    Some(svg) => (figure(&svg, &plot.title, measure.text)),
                    None => p { "Nothing to draw." },
                }
                (folded("The figures", &figures(comparison, measure)))
            }
        }
    };
    html::page("Quorum systems compared", &body)
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

fn figures(comparison: &Comparison, measure: &Measure<'_>) -> Markup {
    let cell = |figures: &Option<Figures>| figures.as_ref().map_or("–".into(), &measure.cell);
    let rows = html! {
        tr {
            th { "N" }
            @for line in &comparison.lines { th.number { (line.kind) } }
        }
        @for (place, n) in comparison.sites.iter().enumerate() {
            tr {
                td { (n) }
                @for line in &comparison.lines { td.number { (cell(&line.points[place].1)) } }
            }
        }
    };
    html::table(&rows)
}
