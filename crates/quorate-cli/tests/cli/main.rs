//! The `quorate` command as a shell sees it: what it prints, and how it exits.

mod check;
mod quorum;
mod random;
mod script;
mod tools;
mod trace;
mod whole;
