//! Documentation: every public item has a sentence.

use std::mem;

use super::Finding;
use super::lex::{Kind, Token, lex};
use super::source::{Source, close, reads};
use super::tree::Tree;

/// The items that need a sentence; rustc checks fields and variants.
const ITEMS: &[&str] =
    &["fn", "struct", "enum", "union", "trait", "const", "static", "type", "mod"];

/// Qualifiers between `pub` and the item's keyword; `const` may be one too.
const QUALIFIERS: &[&str] = &["async", "unsafe", "extern", "safe"];

/// A public item and its documentation.
struct Public<'a> {
    keyword: &'a str,
    name: &'a str,
    /// Where its `pub` stands.
    index: usize,
    doc: Vec<Token<'a>>,
    /// Whether an attribute documents or hides it.
    by_attribute: bool,
}

/// Finds public items without documentation, and documentation that begins without a sentence.
///
/// A module may have its documentation at the beginning of its file instead.
pub(crate) fn sentences(source: &Source<'_>, tree: &Tree) -> Vec<Finding> {
    let inner = source.documented.iter().take_while(|token| token.kind == Kind::InnerDoc);
    let mut findings: Vec<_> =
        open_end(source, &inner.copied().collect::<Vec<_>>()).into_iter().collect();
    for item in public_items(&source.documented) {
        let inside = item.keyword == "mod" && has_inner_doc(source, &item, tree);
        if item.doc.is_empty() && !item.by_attribute && !inside {
            let what =
                format!("`{}` is public and says nothing; write a sentence above it", item.name);
            findings.push(source.finding(source.documented[item.index].line, what));
        }
        findings.extend(open_end(source, &item.doc));
    }
    findings
}

/// The public items in `tokens`, which are code and documentation.
fn public_items<'a>(tokens: &[Token<'a>]) -> Vec<Public<'a>> {
    let mut items = Vec::new();
    let mut doc = Vec::new();
    let mut by_attribute = false;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if token.kind == Kind::Doc {
            doc.push(*token);
        } else if reads(tokens, index, "# [") {
            by_attribute |= tokens.get(index + 2).is_some_and(|first| first.is_word("doc"));
            index = close(tokens, index + 1);
        } else if reads(tokens, index, "macro_rules !") {
            // The output of a macro is documented where it is called.
            index = close(tokens, (index + 3).min(tokens.len() - 1));
        } else {
            if let Some((keyword, name)) = public_item(tokens, index) {
                let doc = mem::take(&mut doc);
                items.push(Public { keyword, name, index, doc, by_attribute });
            }
            doc.clear();
            by_attribute = false;
        }
        index += 1;
    }
    items
}

/// The keyword and the name of the public item that begins at `index`, if one does.
fn public_item<'a>(tokens: &[Token<'a>], index: usize) -> Option<(&'a str, &'a str)> {
    if !tokens[index].is_word("pub") {
        return None;
    }
    let mut keyword = None;
    for token in &tokens[index + 1..] {
        if ITEMS.contains(&token.text) || QUALIFIERS.contains(&token.text) {
            keyword = Some(token.text);
        } else if token.kind != Kind::Text {
            return keyword
                .filter(|keyword| ITEMS.contains(keyword))
                .map(|word| (word, token.text));
        }
    }
    None
}

/// Whether the module `item` is documented inside: between its braces, or in its file.
fn has_inner_doc(source: &Source<'_>, item: &Public<'_>, tree: &Tree) -> bool {
    let inside = source.documented.get(item.index + 4);
    let here = inside.is_some_and(|token| token.kind == Kind::InnerDoc);
    let path = format!("{}/{}", source.home(), item.name);
    let files = [format!("{path}.rs"), format!("{path}/mod.rs")];
    here || tree.files.iter().any(|file| {
        files.contains(&file.path)
            && lex(&file.text).iter().any(|token| token.kind == Kind::InnerDoc)
    })
}

/// The finding that the first paragraph of `doc` does not end like a sentence.
fn open_end(source: &Source<'_>, doc: &[Token<'_>]) -> Option<Finding> {
    let first = doc.first()?;
    let text: Vec<&str> = doc.iter().flat_map(|token| stripped(token.text)).collect();
    let text = text.into_iter().skip_while(|line| line.is_empty());
    let paragraph: Vec<_> = text.take_while(|line| !ends_paragraph(line)).collect();
    let end = paragraph.last()?.trim_end_matches([')', '*', '_', '"']);
    if end.ends_with(['.', '?', ':']) {
        return None;
    }
    let what = "the documentation's first paragraph is no sentence; end it with a full stop, \
        a question mark or a colon";
    Some(source.finding(first.line + paragraph.len() - 1, what))
}

/// Whether a paragraph is over before `line`: it is empty, or begins a block of another kind.
fn ends_paragraph(line: &str) -> bool {
    line.is_empty() || ["```", "- ", "* ", "# ", "|"].iter().any(|start| line.starts_with(start))
}

/// The lines of a doc comment without the comment's own marks.
fn stripped(comment: &str) -> impl Iterator<Item = &str> {
    let block = comment.starts_with("/*");
    let text = if block { comment[3..].trim_end_matches("*/") } else { &comment[3..] };
    text.split('\n').map(move |line| {
        let line = line.trim();
        if block { line.trim_start_matches('*').trim_start() } else { line }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("a/told.rs", "//! Told."), ("a/silent/mod.rs", "// Silent.")]);
        let found = sentences(&Source::new("a.rs", text), &tree);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn public_items_need_a_sentence() {
        let what = "is public and says nothing; write a sentence above it";
        assert_eq!(found("pub fn f() {}"), [format!("a.rs:1: `f` {what}")]);
        assert_eq!(found("\npub const fn f() {}"), [format!("a.rs:2: `f` {what}")]);
        assert_eq!(found("#[x]\npub const N: u8 = 1;"), [format!("a.rs:2: `N` {what}")]);
        assert_eq!(found("pub unsafe extern \"C\" fn f();"), [format!("a.rs:1: `f` {what}")]);
        assert_eq!(found("// Plain.\npub struct S;"), [format!("a.rs:2: `S` {what}")]);
        assert_eq!(found("/// Doc.\nfn g() {} pub enum E {}"), [format!("a.rs:2: `E` {what}")]);
    }

    #[test]
    fn other_items_do_not() {
        assert!(found("fn f() {} pub(crate) fn g() {} pub use a::b; pub(super) mod m;").is_empty());
        assert!(found("struct S { pub name: u8 } impl S { fn f() {} }").is_empty());
        assert!(found("macro_rules! m { ($n:ident) => { pub fn f() {} } }").is_empty());
    }

    #[test]
    fn documented_items_pass() {
        assert!(found("/// Does it.\n#[x(a)]\n// Why.\npub fn f() {}").is_empty());
        assert!(found("#[doc = include_str!(\"a.md\")]\npub fn f() {}").is_empty());
        assert!(found("/// Does it,\n/// slowly.\n///\n/// More\npub fn f() {}").is_empty());
        assert!(found("/// Is it?\npub fn f() {} /** One of:\n * - a */ pub fn g() {}").is_empty());
        assert!(found("/// Does it (well.)\n/// ```\n/// f()\n/// ```\npub fn f() {}").is_empty());
    }

    #[test]
    fn modules_may_have_their_sentence_inside() {
        assert!(found("pub mod told;\npub mod inline { //! Inside.\n }").is_empty());
        assert!(found("/// Outside.\npub mod silent;").is_empty());
        assert_eq!(found("pub mod silent;\npub mod inline { fn f() {} }").len(), 2);
    }

    #[test]
    fn a_first_paragraph_must_end() {
        let what = "the documentation's first paragraph is no sentence; end it with a full stop, \
            a question mark or a colon";
        assert_eq!(found("/// Does it\npub fn f() {}"), [format!("a.rs:1: {what}")]);
        assert_eq!(
            found("/// Does\n/// `it`\n///\n/// Well.\npub fn f() {}"),
            [format!("a.rs:2: {what}")]
        );
        assert_eq!(found("//! The module\n\nuse a;"), [format!("a.rs:1: {what}")]);
    }
}
