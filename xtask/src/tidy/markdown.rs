//! Markdown, as far as the rules need it: prose, and code spans in it.

/// The lines outside fenced code blocks, each with its number.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, number) in text.lines().zip(1..) {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| open == *mark)) {
            fence = if fence.is_some() { None } else { Some(mark) };
        } else if fence.is_none() {
            lines.push((number, line));
        }
    }
    lines
}

/// The code spans of the prose, each with the line it begins on. A span may continue on the next
/// line, but not past the end of its paragraph.
pub(crate) fn code_spans(text: &str) -> Vec<(usize, String)> {
    let mut spans = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut previous = 0;
    for (number, line) in prose(text) {
        if line.trim().is_empty() || number != previous + 1 {
            open = None;
        }
        previous = number;
        if let Some((_, span)) = &mut open {
            span.push(' ');
        }
        for (part, text) in line.split('`').enumerate() {
            if part > 0 {
                match open.take() {
                    Some(span) => spans.push(span),
                    None => open = Some((number, String::new())),
                }
            }
            if let Some((_, span)) = &mut open {
                span.push_str(text);
            }
        }
    }
    spans
}

/// The line without its code spans.
pub(crate) fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_code_is_not_prose() {
        assert_eq!(prose("a\n```text\nb\n```\nc"), [(1, "a"), (5, "c")]);
        assert_eq!(prose("```\n~~~\n```\na"), [(4, "a")]);
    }

    #[test]
    fn spans_may_cross_lines_but_not_paragraphs() {
        let text = "`a` and `b\nc` d\n\nan open `e\n\n`f`\n```\n`g`\n```\n";
        let spans: Vec<_> = code_spans(text);
        let expected = [(1, "a"), (1, "b c"), (6, "f")];
        assert_eq!(spans, expected.map(|(line, span)| (line, span.to_owned())));
    }

    #[test]
    fn code_spans_are_taken_out_of_a_line() {
        assert_eq!(without_code("a `b` c `d`"), "a `` c ``");
    }
}
