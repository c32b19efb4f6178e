//! Two groups of packages, each with features and a profile of its own.
//!
//! Cargo unifies the features of all packages in one build. So the groups are never built together:
//! the core is tested with the feature `mutations`, and the service as released.

/// Packages that are built and tested together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    packages: &'static [&'static str],
    /// The profile of its tests, as an argument of cargo.
    profile: &'static str,
}

/// The packages that users install, without the feature `mutations`. Their tests start release
/// builds.
pub(crate) const SERVICE: Group = Group {
    name: "service",
    packages: &[
        "quorate-cli",
        "quorate-client",
        "quorate-net",
        "quorate-server",
        "quorate-terminal",
        "quorate-torture",
        "quorate-wire",
    ],
    profile: "--release",
};

/// The packages that are simulated and searched, and their tools, with the feature `mutations`.
/// Their tests check for overflow and keep debug assertions.
pub(crate) const CORE: Group = Group {
    name: "core",
    packages: &[
        "quorate-check",
        "quorate-lab",
        "quorate-protocol",
        "quorate-quorum",
        "quorate-session",
        "quorate-sim",
        "quorate-site",
        "xtask",
    ],
    profile: "--profile test",
};

/// Both groups in the order of testing: the one that fails faster comes first.
pub(crate) const GROUPS: [&Group; 2] = [&SERVICE, &CORE];

impl Group {
    /// Arguments of cargo that choose the packages.
    pub(crate) fn packages(&self) -> String {
        self.packages.iter().map(|package| format!("-p {package}")).collect::<Vec<_>>().join(" ")
    }

    /// Arguments of cargo that test the `targets` of these packages.
    pub(crate) fn test(&self, targets: &str) -> String {
        format!("test {} {} {targets}", self.profile, self.packages())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn every_package_is_in_one_group() {
        let crates = fs::read_dir(Workspace::new().root.join("crates")).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut there: Vec<String> = crates.map(|entry| name(entry.unwrap())).collect();
        there.push("xtask".to_owned());
        there.sort();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|group| group.packages).copied().collect();
        grouped.sort_unstable();
        assert_eq!(there, grouped);
    }

    #[test]
    fn a_group_says_what_cargo_shall_test() {
        let group = Group { name: "two", packages: &["a", "b"], profile: "--release" };
        assert_eq!(group.test("--doc"), "test --release -p a -p b --doc");
    }
}
