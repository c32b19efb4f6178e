//! HTML pages that need nothing else: no script, no font, no network.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

/// The style of all pages: light or dark as the reader prefers, for any screen width, and for
/// paper.
const STYLE: &str = include_str!("page.css");

/// A page.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string() + "\n"
}

/// A drawing with its title above it and its condition below the title.
pub(crate) fn figure(svg: &str, title: &str, condition: &str) -> Markup {
    let label = title.render().into_string();
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1);
    html! {
        figure {
            figcaption { b { (title) } br; (condition) }
            (PreEscaped(svg))
        }
    }
}

/// A drawing as a file of its own, with the style that it has on a page.
pub(crate) fn alone(svg: &str) -> String {
    let style = include_str!("figure.css");
    svg.replacen(">\n", &format!(">\n<style>\n{style}</style>\n"), 1)
}

/// Content that is folded away on a screen, and open on paper.
pub(crate) fn folded(summary: &str, content: &Markup) -> Markup {
    html! {
        details {
            summary { (summary) }
            (content)
        }
    }
}

/// A table that may be wider than the page: it scrolls in a box of its own.
pub(crate) fn table(rows: &Markup) -> Markup {
    html! {
        div.wide { table { (rows) } }
    }
}
