//! The names that the Rust sources define, which documents may mention.

use std::collections::{BTreeMap, BTreeSet};

use super::lex::{Kind, Token};
use super::source::{Source, body, close, reads};

/// The keywords that a defined name follows.
const KEYWORDS: &[&str] =
    &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

/// All definitions of the workspace. Types of the same name count as one.
#[derive(Debug, Default)]
pub(crate) struct Definitions<'a> {
    /// Items, fields and variants.
    items: BTreeSet<&'a str>,
    /// What each type or trait has: methods, constants, fields, variants.
    members: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The traits that each type implements.
    traits: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// All identifiers in code, also names of other crates.
    used: BTreeSet<&'a str>,
    /// Words in string literals: options, keys, metrics.
    spelled: BTreeSet<&'a str>,
}

impl<'a> Definitions<'a> {
    /// Collects the definitions of `sources`.
    pub(crate) fn collect(sources: &[Source<'a>]) -> Self {
        let mut all = Self::default();
        for source in sources {
            for index in 0..source.code.len() {
                all.add(&source.code, index);
            }
        }
        all
    }

    /// Whether an item, a field or a variant has this name.
    pub(crate) fn has_item(&self, name: &str) -> bool {
        self.items.contains(name)
    }

    /// Whether code uses this identifier, which may come from another crate.
    pub(crate) fn has_identifier(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Whether a string literal contains this word.
    pub(crate) fn has_spelled(&self, word: &str) -> bool {
        self.spelled.contains(word)
    }

    /// Whether `owner` is a type, trait or module of ours, or a used one, that has `member`. Of
    /// modules, aliases and types of other crates only the two names are checked.
    pub(crate) fn has_member(&self, owner: &str, member: &str) -> bool {
        let Some(members) = self.members.get(owner) else {
            return self.used.contains(owner) && self.used.contains(member);
        };
        let traits = self.traits.get(owner).into_iter().flatten();
        members.contains(member)
            || traits
                .filter_map(|name| self.members.get(name))
                .any(|provided| provided.contains(member))
    }

    /// Adds what the token at `index` defines or uses.
    fn add(&mut self, code: &[Token<'a>], index: usize) {
        let token = code[index];
        match token.kind {
            Kind::Word => {
                self.used.insert(token.text);
            }
            Kind::Text => {
                let words = token.text.split(|c: char| c != '_' && !c.is_alphanumeric());
                self.spelled.extend(words);
                return;
            }
            _ => return,
        }
        if token.text == "impl" && starts_item(code, index) {
            return self.add_impl(code, index);
        }
        if reads(code, index, "macro_rules !") {
            self.items.extend(code.get(index + 2).map(|name| name.text));
        }
        let name = code.get(index + 1).filter(|name| name.kind == Kind::Word);
        let Some(name) = name.filter(|_| KEYWORDS.contains(&token.text)) else { return };
        self.items.insert(name.text);
        let Some(open) = body(code, index) else { return };
        let members = match token.text {
            "struct" | "union" => fields(code, open),
            "enum" => {
                self.items.extend(fields(code, open));
                variants(code, open)
            }
            "trait" => associated(code, open),
            _ => return,
        };
        self.items.extend(&members);
        self.members.entry(name.text).or_default().extend(members);
    }

    /// Adds the items of the `impl` block at `index` to its type.
    fn add_impl(&mut self, code: &[Token<'a>], index: usize) {
        let Some(open) = body(code, index) else { return };
        let header = &code[index + 1..open];
        let (named, implemented) = match header.iter().position(|token| token.is_word("for")) {
            Some(at) => (&header[at + 1..], path_name(&header[..at])),
            None => (header, None),
        };
        let Some(owner) = path_name(named) else { return };
        self.traits.entry(owner).or_default().extend(implemented);
        self.members.entry(owner).or_default().extend(associated(code, open));
    }
}

/// Whether an item may begin at `index`: `impl` is also written in types.
fn starts_item(code: &[Token<'_>], index: usize) -> bool {
    let before = index.checked_sub(1).map(|before| code[before].text);
    before.is_none_or(|text| ["}", "{", ";", "]", "unsafe"].contains(&text))
}

/// The last name of the path in the header of an `impl`, without generics.
fn path_name<'a>(header: &[Token<'a>]) -> Option<&'a str> {
    let mut depth = 0_usize;
    let mut name = None;
    for token in header {
        match token.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            "where" => break,
            _ if depth == 0 && token.kind == Kind::Word => name = Some(token.text),
            _ => {}
        }
    }
    name
}

/// The named fields between the brace at `open` and its end, at any depth.
fn fields<'a>(code: &[Token<'a>], open: usize) -> Vec<&'a str> {
    let inside = open + 1..close(code, open);
    let is_field = |index: &usize| {
        code[*index].kind == Kind::Word
            && reads(code, index + 1, ":")
            && !reads(code, index + 2, ":")
            && !code[index - 1].is_mark(":")
    };
    inside.filter(is_field).map(|index| code[index].text).collect()
}

/// The variants of the enum whose brace is at `open`.
fn variants<'a>(code: &[Token<'a>], open: usize) -> Vec<&'a str> {
    let is_variant = |index: &usize| {
        let before = code[index - 1];
        code[*index].kind == Kind::Word && ["{", ",", "]"].contains(&before.text)
    };
    top_level(code, open).into_iter().filter(is_variant).map(|index| code[index].text).collect()
}

/// The functions, constants and types of the trait or `impl` whose brace is at `open`.
fn associated<'a>(code: &[Token<'a>], open: usize) -> Vec<&'a str> {
    let named = |index: usize| {
        let keyword = ["fn", "const", "type"].iter().any(|word| code[index].is_word(word));
        code.get(index + 1).filter(|_| keyword).map(|name| name.text)
    };
    top_level(code, open).into_iter().filter_map(named).collect()
}

/// The tokens directly between the brace at `open` and its end, without inner brackets.
fn top_level(code: &[Token<'_>], open: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let end = close(code, open);
    let mut index = open + 1;
    while index < end {
        if ["(", "[", "{"].iter().any(|mark| code[index].is_mark(mark)) {
            index = close(code, index);
        } else {
            found.push(index);
        }
        index += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        pub mod outer;
        struct Arbiter { lock: Option<u8>, pub(crate) early: Vec<std::string::String> }
        #[derive(Debug)] enum Message { #[x(a)] Reply { number: u8 }, Fail(u8), Yield }
        trait Protocol { const LIMIT: u8; fn step(&self); fn view(&self) {} }
        impl<T: Clone> Protocol for Arbiter { fn step(&self) { let inner = 1; } }
        impl Arbiter { fn on_request(&self, of: impl Fn(u8)) { f("yield_pass=off") } }
        macro_rules! table { () => {} }
    "#;

    #[test]
    fn items_fields_and_variants_are_defined() {
        let sources = [Source::new("a.rs", TEXT)];
        let found = Definitions::collect(&sources);
        for name in
            ["outer", "Arbiter", "lock", "early", "number", "Fail", "on_request", "LIMIT", "table"]
        {
            assert!(found.has_item(name), "{name}");
        }
        for name in ["inner", "string", "of", "Clone", "yield_pass"] {
            assert!(!found.has_item(name), "{name}");
        }
        assert!(found.has_identifier("Clone"));
        assert!(found.has_spelled("yield_pass"));
    }

    #[test]
    fn members_belong_to_their_types() {
        let sources = [Source::new("a.rs", TEXT)];
        let found = Definitions::collect(&sources);
        for (owner, member) in [
            ("Arbiter", "lock"),
            ("Arbiter", "on_request"),
            ("Arbiter", "view"), // provided by the trait
            ("Message", "Yield"),
            ("Message", "Reply"),
            ("Protocol", "LIMIT"),
            ("outer", "Arbiter"),
            ("Option", "Clone"),
        ] {
            assert!(found.has_member(owner, member), "{owner}::{member}");
        }
        for (owner, member) in
            [("Arbiter", "Yield"), ("Message", "on_request"), ("Gone", "step"), ("outer", "gone")]
        {
            assert!(!found.has_member(owner, member), "{owner}::{member}");
        }
    }
}
