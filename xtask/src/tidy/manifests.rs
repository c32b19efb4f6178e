//! Layers between crates: which crate may use which.

use super::Finding;
use super::tree::{File, Tree};

/// Our crates, by directory without the `quorate-`, and those each may use. Dev-dependencies are
/// free. A new line, or a new word in one, needs a page in `docs/decisions/`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("quorum", &[]),
    ("session", &["quorum"]),
    ("protocol", &["quorum", "session"]),
    ("site", &["protocol", "quorum", "session"]),
    ("sim", &["quorum", "session", "protocol", "site"]),
    ("check", &["sim", "site", "protocol", "session", "quorum"]),
    ("wire", &["session"]),
    ("net", &["session", "wire"]),
    ("server", &["quorum", "session", "site", "wire", "net"]),
    ("client", &["session", "wire", "net", "server"]),
    ("terminal", &["quorum"]),
    ("lab", &["quorum", "session", "protocol", "site", "sim", "check", "terminal", "wire"]),
    ("torture", &["client"]),
    ("cli", &["quorum", "protocol", "net", "server", "client", "terminal"]),
];

/// Finds crates that use one they must not see.
pub(crate) fn uses(tree: &Tree) -> Vec<Finding> {
    let ours: Vec<(&str, &str, &File)> = tree.files.iter().filter_map(member).collect();
    let mut findings = Vec::new();
    for (short, _, file) in &ours {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| name == short) else {
            let what = format!(
                "the crate `{short}` is in no layer; give it a line in xtask/src/tidy/manifests.rs"
            );
            findings.push(Finding { path: file.path.clone(), line: 1, what });
            continue;
        };
        for (line, package) in dependencies(&file.text) {
            let Some((used, ..)) = ours.iter().find(|(_, name, _)| *name == package) else {
                continue;
            };
            if !allowed.contains(used) {
                let may =
                    if allowed.is_empty() { "none of ours".into() } else { allowed.join(", ") };
                let what = format!("`{short}` must not use `{used}`; it may use {may}");
                findings.push(Finding { path: file.path.clone(), line, what });
            }
        }
    }
    findings
}

/// The short name and the package name, if `file` is the manifest of one of our crates.
fn member(file: &File) -> Option<(&str, &str, &File)> {
    let directory = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    let short = directory.strip_prefix("quorate-").unwrap_or(directory);
    let name = file.text.lines().find_map(|line| value(line, "name"))?;
    Some((short, name, file))
}

/// The packages a manifest depends on, other than for its tests, each with its line.
fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut section = "";
    for (line, number) in manifest.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').trim();
            if let Some((table, name)) = section.rsplit_once('.')
                && is_dependencies(table)
            {
                found.push((number, name.trim_matches('"')));
            }
        } else if let Some((key, rest)) = line.split_once('=') {
            if is_dependencies(section) {
                let renamed = rest.split(['{', ',', '}']).find_map(|part| value(part, "package"));
                let key = key.split('.').next().unwrap_or_default().trim().trim_matches('"');
                found.push((number, renamed.unwrap_or(key)));
            } else if section.contains("dependencies.") && !section.contains("dev-dependencies") {
                found.extend(value(line, "package").map(|package| (number, package)));
            }
        }
    }
    found
}

fn is_dependencies(section: &str) -> bool {
    matches!(section.rsplit('.').next(), Some("dependencies" | "build-dependencies"))
}

/// The string in `key = "string"`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?;
    rest.trim().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifests: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = manifests
            .iter()
            .map(|(name, rest)| {
                let text = format!("[package]\nname = \"quorate-{name}\"\n{rest}");
                (format!("crates/quorate-{name}/Cargo.toml"), text)
            })
            .collect();
        let files: Vec<_> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        uses(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_lower_layer_must_not_use_a_higher() {
        let found = found(&[
            ("quorum", "[dependencies]\nquorate-protocol.workspace = true"),
            ("protocol", "[dependencies]\nquorate-quorum.workspace = true"),
        ]);
        let what = "`quorum` must not use `protocol`; it may use none of ours";
        assert_eq!(found, [format!("crates/quorate-quorum/Cargo.toml:4: {what}")]);
    }

    #[test]
    fn no_form_of_dependency_hides_a_crate() {
        for rest in [
            "[dependencies]\nquorate-cli = { path = \"../quorate-cli\" }",
            "[dependencies]\nfine = { package = \"quorate-cli\", path = \"../quorate-cli\" }",
            "[dependencies.quorate-cli]\npath = \"../quorate-cli\"",
            "[dependencies.fine]\npackage = \"quorate-cli\"",
            "[build-dependencies]\nquorate-cli.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nquorate-cli.workspace = true",
        ] {
            assert_eq!(found(&[("lab", rest), ("cli", "")]).len(), 1, "{rest}");
        }
    }

    #[test]
    fn tests_and_strangers_are_free() {
        for rest in [
            "[dev-dependencies]\nquorate-cli.workspace = true",
            "[dev-dependencies.quorate-cli]\nworkspace = true",
            "[dependencies]\nserde = \"1\" # not quorate-cli",
            "[features]\nquorate-cli = []",
        ] {
            assert!(found(&[("quorum", rest), ("cli", "")]).is_empty(), "{rest}");
        }
    }

    #[test]
    fn a_crate_without_a_layer_is_asked_for_one() {
        let found = found(&[("gossip", "")]);
        assert!(found[0].contains("the crate `gossip` is in no layer"), "{found:?}");
    }
}
