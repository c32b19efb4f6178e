//! What the programs `quorate` and `quorate-lab` share: how a command answers and exits, and how
//! numbers, tables, facts and progress look at a terminal.

pub mod answer;
pub mod facts;
pub mod figures;
pub mod paint;
pub mod progress;
pub mod quorums;
pub mod shell;
pub mod table;
