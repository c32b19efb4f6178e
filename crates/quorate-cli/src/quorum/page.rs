//! A comparison as one page that needs nothing else.

use super::compare::{Comparison, Line};
use super::figures::{Figures, fails_text};
use super::plot::{Plot, key};
use crate::answer::Failure;

/// Below this a curve of failures ends: the numbers would be rounding.
const LEAST_SHOWN: f64 = 1e-12;

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #111; --paper: #fff; --rule: #ccc; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16181c; --rule: #444; }
  svg text { fill: var(--ink); }
  svg [stroke=\"#000000\"] { stroke: var(--ink); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 0.3rem; font-size: 1.2rem; }
svg { width: 100%; height: auto; }
.key { display: flex; flex-wrap: wrap; gap: 0 1.2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.8rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.1rem 0.6rem; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; }
code { font-size: 0.9em; }
@media print {
  section { break-inside: avoid; } body { margin: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
";

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
pub(super) fn page(comparison: &Comparison, command: &str) -> Result<String, Failure> {
    let mut body = String::new();
    for measure in measures(comparison) {
        body += &section(comparison, &measure)?;
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Quorum systems compared</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Quorum systems compared</h1>\n\
         <p>Made by <code>{}</code>; add <code>--json</code> for the figures as data.</p>\n\
         {body}</body>\n</html>\n",
        escaped(command)
    ))
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

fn section(comparison: &Comparison, measure: &Measure<'_>) -> Result<String, Failure> {
    let curve = |line: &Line| {
        let points = line.points.iter().filter_map(|(n, figures)| {
            let value = (measure.value)(figures.as_ref()?);
            let shown = !measure.powers || value > LEAST_SHOWN;
            shown.then_some((*n as f64, value))
        });
        points.collect()
    };
    let curves = comparison.lines.iter().map(curve).collect();
    let plot = Plot { what: measure.what, powers: measure.powers, curves };
    let legend = comparison.lines.iter().enumerate().map(|(place, line)| {
        let (colour, mark) = key(place);
        format!("<span><b style=\"color:{colour}\">{mark}</b> {}</span>", line.kind)
    });
    Ok(format!(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<p class=\"key\">{}</p>\n{}\n</section>\n{}",
        escaped(&measure.title),
        measure.text,
        legend.collect::<String>(),
        plot.svg()?,
        table(comparison, measure),
    ))
}

fn table(comparison: &Comparison, measure: &Measure<'_>) -> String {
    let kinds: Vec<_> = comparison.lines.iter().map(|line| line.kind.to_string()).collect();
    let heads = kinds.join("</th><th>");
    let row = |(place, n): (usize, &usize)| {
        let cell = |line: &Line| {
            let text = line.points[place].1.as_ref().map_or("–".into(), &measure.cell);
            format!("<td>{}</td>", escaped(&text))
        };
        format!("<tr><td>{n}</td>{}</tr>\n", comparison.lines.iter().map(cell).collect::<String>())
    };
    let rows: String = comparison.sites.iter().enumerate().map(row).collect();
    format!(
        "<details><summary>The figures</summary><div class=\"wide\"><table>\n\
         <tr><th>N</th><th>{heads}</th></tr>\n{rows}</table></div></details>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
