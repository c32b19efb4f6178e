//! What a check of a configuration found.

/// Everything that a check found, so that it can be mended at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// A site cannot run, or would be in danger.
    pub errors: Vec<String>,
    /// A site can run, but something should be looked at.
    pub warnings: Vec<String>,
}

impl Findings {
    /// Adds an error.
    pub fn error(&mut self, what: impl Into<String>) {
        self.errors.push(what.into());
    }

    /// Adds a warning.
    pub fn warning(&mut self, what: impl Into<String>) {
        self.warnings.push(what.into());
    }

    /// Adds all that another check found.
    pub fn extend(&mut self, other: Findings) {
        self.errors.extend(other.errors);
        self.warnings.extend(other.warnings);
    }
}
