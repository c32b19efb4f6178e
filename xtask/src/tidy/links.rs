//! Links in documents lead to existing files.

use super::Finding;
use super::markdown::{prose, without_code};
use super::tree::{File, Tree};

/// Finds relative links of a Markdown file to missing files.
pub(crate) fn links(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose(&file.text) {
        for target in targets(&without_code(line)) {
            if !is_relative(&target) {
                continue;
            }
            let place = target.split('#').next().unwrap_or_default().replace("%20", " ");
            if resolve(&file.path, &place).is_none_or(|path| !tree.has(&path)) {
                let what =
                    format!("the link leads to `{target}`, which does not exist; fix its path");
                findings.push(Finding { path: file.path.clone(), line: number, what });
            }
        }
    }
    findings
}

/// Where the links of a line lead: `[text](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let rest = &line[at + 2..];
        let end = rest.find(')').unwrap_or(rest.len());
        found.extend(rest[..end].split_whitespace().next());
    }
    if line.starts_with('[')
        && let Some((_, rest)) = line.split_once("]:")
    {
        found.extend(rest.split_whitespace().next());
    }
    found.into_iter().map(|target| target.trim_matches(['<', '>']).to_owned()).collect()
}

fn is_relative(target: &str) -> bool {
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    });
    !scheme && !target.starts_with('#') && !target.starts_with("//")
}

/// The path from the root of `target` as seen from `file`; none if it leads out of the repository.
fn resolve(file: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("README.md", ""), ("docs/a.md", ""), ("docs/two words.md", "")]);
        let file = File { path: "docs/a.md".to_owned(), text: text.to_owned() };
        links(&file, &tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for text in [
            "[a](a.md) and ![b](../README.md#top \"title\")",
            "[the docs](../docs/) and [root](/README.md) and [words](two%20words.md)",
            "[a]: <../README.md>",
            "[x](https://example.org/x.md) [y](#here) [z](mailto:a@example.org)",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_do_not() {
        let what = "the link leads to `b.md`, which does not exist; fix its path";
        assert_eq!(found("x\n[b](b.md)"), [format!("docs/a.md:2: {what}")]);
        assert_eq!(found("[b]: b.md"), [format!("docs/a.md:1: {what}")]);
        assert_eq!(found("[a](a.md) [out](../../x.md) [r](README.md)").len(), 2);
    }

    #[test]
    fn code_has_no_links() {
        assert!(found("```text\n[b](b.md)\n```\n`[b](b.md)`").is_empty());
        assert_eq!(found("```\n~~~\n```\n[b](b.md)").len(), 1);
    }
}
