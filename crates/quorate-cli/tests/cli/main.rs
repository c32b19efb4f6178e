//! The `quorate` command as a shell sees it: what it prints, and how it exits.

mod baselines;
mod bench;
mod boxes;
mod browser;
mod check;
mod crowd;
mod faults;
mod groups;
mod lab;
mod lock;
mod quorum;
mod random;
mod report;
mod roles;
mod script;
mod serve;
mod sites;
mod tell;
mod tokens;
mod tools;
mod trace;
mod units;
mod whole;
