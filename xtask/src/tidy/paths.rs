//! Paths: none of a single machine.

use super::Finding;
use super::tree::File;

/// Top-level directories that are not in the repository.
const PRIVATE: &[&str] = &["home", "root", "Users", "work"];

/// Finds paths that only exist on one machine.
pub(crate) fn machine_paths(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in file.text.lines().zip(1..) {
        for directory in PRIVATE {
            let path = format!("/{directory}/");
            let absolute = |(at, _): (usize, &str)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~})>*".contains(c))
            };
            if line.match_indices(&path).any(absolute) {
                let what = format!("`{path}` is a place on one machine; use a path from the root");
                findings.push(Finding { path: file.path.clone(), line: number, what });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        machine_paths(&File { path: "a.md".to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn machine_paths_are_found() {
        for directory in PRIVATE {
            assert_eq!(count(&format!("see /{directory}/me/a.txt")), 1, "{directory}");
            assert_eq!(count(&format!("\"/{directory}/\"")), 1, "{directory}");
        }
    }

    #[test]
    fn other_paths_are_fine() {
        for directory in PRIVATE {
            assert_eq!(count(&format!("https://example.org/{directory}/a")), 0, "{directory}");
            assert_eq!(count(&format!("docs/{directory}/a and ./{directory}/b")), 0, "{directory}");
        }
        assert_eq!(count("/usr/lib and $HOME/.cargo"), 0);
    }
}
