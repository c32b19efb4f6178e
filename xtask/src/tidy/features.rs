//! Features: the service is built without `mutations`, which undoes repairs.

use std::collections::BTreeMap;

use super::Finding;
use crate::workspace::Workspace;

/// The feature that undoes repairs, and the packages that have it.
const FEATURE: &str = "mutations";
const PACKAGES: [&str; 3] = ["quorate-protocol", "quorate-session", "quorate-site"];

/// The builds of the service: the manifest, and the arguments of cargo.
const BUILDS: [(&str, &str); 2] =
    [("crates/quorate-cli/Cargo.toml", "--package quorate-cli"), ("Cargo.toml", "")];

/// Finds builds of the service that enable the feature. If `cargo tree` cannot run, for example
/// without the sources of the dependencies, it prints that the rule is skipped.
pub(crate) fn service(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, selection) in BUILDS {
        match tree(workspace, selection) {
            Ok(tree) => findings.extend(enabled(path, &tree)),
            Err(why) => {
                println!("tidy: skipped the features of {path}: `cargo tree` fails: {why}");
            }
        }
    }
    findings
}

/// The output of `cargo tree`, a line `package|features` for each dependency, or its error.
fn tree(workspace: &Workspace, selection: &str) -> Result<String, String> {
    let mut cargo = workspace.cargo("tree --locked --edges normal,build --prefix none --format");
    cargo.arg("{p}|{f}").args(selection.split_whitespace());
    cargo.env("CARGO_TERM_COLOR", "never").env("CARGO_NET_RETRY", "0");
    let output = cargo.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().find(|line| line.starts_with("error")).unwrap_or("no reason given").to_owned())
}

/// The findings for `path` in the output of [`tree`].
fn enabled(path: &str, tree: &str) -> Vec<Finding> {
    let mut mutated = BTreeMap::new();
    for (package, features) in tree.lines().filter_map(|line| line.rsplit_once('|')) {
        let name = package.split_whitespace().next().unwrap_or_default();
        let features = features.trim_end_matches("(*)").trim_end(); // it was listed before
        *mutated.entry(name).or_insert(false) |= features.split(',').any(|one| one == FEATURE);
    }
    let finding = |package| {
        let what = match mutated.get(package) {
            Some(false) => return None,
            Some(true) => format!(
                "the service enables `{FEATURE}` of {package}; leave that to sim, check and lab"
            ),
            None => format!("`cargo tree` does not list {package}; fix this rule"),
        };
        Some(Finding { path: path.to_owned(), line: 1, what })
    };
    PACKAGES.into_iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tree: &str) -> Vec<String> {
        enabled("Cargo.toml", tree).iter().map(ToString::to_string).collect()
    }

    const OTHERS: &str = "quorate-site v0.1.0 (crates/quorate-site)|\n\
                          quorate-session v0.1.0 (crates/quorate-session)|\n";
    const PROTOCOL: &str = "quorate-protocol v0.1.0 (crates/quorate-protocol)|";

    #[test]
    fn the_feature_is_found_wherever_it_stands() {
        let enables = "Cargo.toml:1: the service enables `mutations` of quorate-protocol; \
                       leave that to sim, check and lab";
        for features in ["mutations", "default,mutations", "a,mutations,z", "mutations (*)"] {
            assert_eq!(found(&format!("{OTHERS}{PROTOCOL}{features}")), [enables], "{features}");
        }
        // One listing of a package that was built twice is enough.
        assert_eq!(found(&format!("{OTHERS}{PROTOCOL}mutations\n{PROTOCOL}")), [enables]);
        let both = format!("{OTHERS}{PROTOCOL}mutations").replace("site)|", "site)|mutations");
        assert_eq!(found(&both).len(), 2);
    }

    #[test]
    fn other_features_and_other_packages_are_free() {
        for features in ["", " (*)", "default", "no-mutations,mutations2", "default,serde (*)"] {
            let others = "other v1.0.0|mutations\nquorate-quorum v0.1.0|serde\n";
            assert!(
                found(&format!("{others}{OTHERS}{PROTOCOL}{features}")).is_empty(),
                "{features}"
            );
        }
    }

    #[test]
    fn a_tree_that_cannot_be_read_proves_nothing() {
        assert_eq!(found("").len(), 3);
        assert!(found(OTHERS)[0].contains("`cargo tree` does not list quorate-protocol"));
    }
}
