//! Terminal output shared by the programs `quorate` and `quorate-lab`: results and exit status of
//! commands, numbers, tables, colours and progress bars.

pub mod answer;
pub mod facts;
pub mod figures;
pub mod paint;
pub mod progress;
pub mod quorums;
pub mod shell;
pub mod table;
