//! Pages that need nothing else: no script, no font, no network.

/// How all pages look: light or dark as the reader likes it, on screens of any width, on paper.
const STYLE: &str = include_str!("page.css");

/// A page.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

/// A drawing with its title above it, and under it what else there is to say.
pub(crate) fn figure(svg: &str, title: &str, condition: &str) -> String {
    let (title, condition) = (escaped(title), escaped(condition));
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1);
    format!(
        "<figure>\n<figcaption><b>{title}</b><br>{condition}</figcaption>\n\
         {svg}</figure>\n"
    )
}

/// A drawing as a file of its own, which brings the style that it has on a page.
pub(crate) fn alone(svg: &str) -> String {
    let style = include_str!("figure.css");
    svg.replacen(">\n", &format!(">\n<style>\n{style}</style>\n"), 1)
}

/// What is folded away on a screen, and open on paper.
pub(crate) fn folded(summary: &str, content: &str) -> String {
    format!("<details><summary>{}</summary>\n{content}</details>\n", escaped(summary))
}

/// A table that is as wide as it needs to be; the page around it is not.
pub(crate) fn table(rows: &str) -> String {
    format!("<div class=\"wide\"><table>\n{rows}</table></div>\n")
}

/// Text as text, also within an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
