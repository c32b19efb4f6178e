//! Text in figures: nothing overlaps, nothing is cut, by the SVG's own numbers.
//!
//! No font is at hand here, so the box of a text is an estimate: as wide as `text_width` says,
//! rather too wide, and as high as letters with descenders are in common fonts: from two thirds
//! of the font's size above its middle to half of it below.

use std::fs;

use quorate_laboratory::{Axis, Palette, Plot, StepRecorder, find, text_width};
use quorate_sim::script::Script;

use crate::report::PAGE;

/// Left, upper, right and lower edge.
type Edges = [f64; 4];

/// What is wrong with a figure.
pub(crate) fn faults(svg: &str) -> Vec<String> {
    let sheet = view_box(svg);
    let texts = texts(svg);
    let mut faults = Vec::new();
    for (at, (text, edges)) in texts.iter().enumerate() {
        if !within(edges, &sheet) {
            faults.push(format!("`{text}` is cut"));
        }
        let others = texts[at + 1..].iter().filter(|(_, other)| overlap(edges, other));
        faults.extend(others.map(|(other, _)| format!("`{text}` and `{other}` overlap")));
    }
    let points = points(svg).into_iter().filter(|&(x, y)| !within(&[x, y, x, y], &sheet));
    faults.extend(points.map(|(x, y)| format!("something is drawn at {x}, {y}")));
    faults
}

fn overlap(one: &Edges, other: &Edges) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

fn within(edges: &Edges, sheet: &Edges) -> bool {
    edges[0] >= sheet[0] && edges[1] >= sheet[1] && edges[2] <= sheet[2] && edges[3] <= sheet[3]
}

/// The figures of a page.
pub(crate) fn svgs(page: &str) -> Vec<&str> {
    let rest = |start: usize| &page[start..];
    let starts = page.match_indices("<svg ").map(|(start, _)| rest(start));
    starts.map(|svg| &svg[..svg.find("</svg>").expect("figures end")]).collect()
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let start = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[start..].split('"').next()
}

fn number(element: &str, name: &str) -> f64 {
    let value = attribute(element, name).unwrap_or_else(|| panic!("no {name} in {element}"));
    value.parse().unwrap_or_else(|_| panic!("{name} is no number in {element}"))
}

fn view_box(svg: &str) -> Edges {
    let edges = attribute(svg, "viewBox").expect("a figure has a view box");
    let edges: Vec<f64> = edges.split(' ').map(|edge| edge.parse().unwrap()).collect();
    [edges[0], edges[1], edges[0] + edges[2], edges[1] + edges[3]]
}

/// Each element's tag with its attributes, and what is between it and the next.
fn elements(svg: &str) -> impl Iterator<Item = (&str, &str)> {
    svg.split('<').filter_map(|element| element.split_once('>'))
}

fn texts(svg: &str) -> Vec<(String, Edges)> {
    let texts = elements(svg).filter(|(tag, _)| tag.starts_with("text "));
    let boxed = |(tag, text): (&str, &str)| {
        let text = text.trim().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let (x, y, size) = (number(tag, "x"), number(tag, "y"), number(tag, "font-size"));
        assert_eq!(attribute(tag, "dy"), Some("0.5ex"), "text stands around its height: {tag}");
        let width = text_width(&text, size);
        let (above, below) = (size * 0.67, size * 0.5);
        if attribute(tag, "transform").is_some_and(|turn| turn.starts_with("rotate(270")) {
            assert_eq!(attribute(tag, "text-anchor"), Some("middle"));
            return (text, [x - above, y - width / 2.0, x + below, y + width / 2.0]);
        }
        let left = match attribute(tag, "text-anchor") {
            Some("start") => x,
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            other => panic!("unknown anchor {other:?}"),
        };
        (text, [left, y - above, left + width, y + below])
    };
    texts.map(boxed).collect()
}

/// The corners of everything that is no text.
fn points(svg: &str) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for (tag, _) in elements(svg) {
        match tag.split(' ').next() {
            Some("polyline" | "polygon") => {
                let pairs = attribute(tag, "points").expect("it has points").split_whitespace();
                points.extend(pairs.map(|pair| {
                    let (x, y) = pair.split_once(',').expect("a point is a pair");
                    (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap())
                }));
            }
            Some("circle") => {
                let (x, y, r) = (number(tag, "cx"), number(tag, "cy"), number(tag, "r"));
                points.extend([(x - r, y - r), (x + r, y + r)]);
            }
            Some("svg" | "/svg" | "text" | "/text") | None => {}
            Some(other) => panic!("figures have no {other}"),
        }
    }
    points
}

#[test]
fn no_text_of_the_report_overlaps_or_is_cut() {
    let figures = svgs(&PAGE);
    assert!(figures.len() > 8, "plots and diagrams: {}", figures.len());
    for svg in figures {
        let title = attribute(svg, "aria-label").expect("a figure has a title");
        assert!(texts(svg).len() > 4, "{title} has text");
        assert_eq!(faults(svg), [""; 0], "{title}");
    }
}

#[test]
fn every_story_can_be_drawn() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let folders = fs::read_dir(folder).expect("there are scenarios").map(|folder| folder.unwrap());
    let mut drawn = 0;
    for file in folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap()) {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let story = Script::parse_with(find, &text).unwrap();
        let mut recorder = StepRecorder::new(story.cluster().n);
        story.watch(|_| (), &mut recorder).unwrap();
        assert_eq!(faults(&recorder.finish().svg()), [""; 0], "{}", path.display());
        drawn += 1;
    }
    assert!(drawn > 100, "{drawn} stories");
}

/// A plot of lines that all end in one point, on axes of either kind.
fn crowded(lines: usize, powers: bool) -> String {
    let axis = if powers { Axis::powers } else { Axis::even };
    let mut plot = Plot::new("crowded", "", axis("what is laid off"), axis("what is measured"));
    for line in 0..lines {
        let name = format!("line {line} with a name that is rather long");
        for step in 1..=20_u8 {
            let x = f64::from(step) * 1000.0;
            plot.measured(&name, x, (20.0 - f64::from(step)) * (line + 1) as f64 * 1e-7 + 1e-9);
        }
        plot.claimed(&format!("line {line}"), 1000.0, 1e-9);
    }
    let palette = Palette::of([&plot]);
    plot.svg(&palette).expect("there are points")
}

#[test]
fn ten_lines_with_long_names_and_claims_find_room() {
    for lines in [1, 2, 5, 10] {
        for powers in [false, true] {
            assert_eq!(faults(&crowded(lines, powers)), [""; 0], "{lines} lines, {powers}");
        }
    }
}

#[test]
fn text_that_overlaps_or_is_cut_is_caught() {
    let fine = crowded(10, false);
    let large = fine.replace("font-size=\"12\"", "font-size=\"26\"");
    assert_ne!(fine, large, "the size of text is 12");
    let found = faults(&large).join("\n");
    assert!(found.contains("overlap") && found.contains("is cut"), "{found}");
    let narrow = fine.replacen("viewBox=\"0 0 520", "viewBox=\"0 0 300", 1);
    let found = faults(&narrow).join("\n");
    assert!(found.contains("is cut") && found.contains("something is drawn at"), "{found}");
}
