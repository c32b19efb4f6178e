//! The file descriptors that a process may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of this process to the highest that the system allows, and returns it. A
/// process that may not raise it keeps the one it has.
pub fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let now = getrlimit(Resource::Nofile).current;
    now.map_or(usize::MAX, |now| usize::try_from(now).unwrap_or(usize::MAX))
}
