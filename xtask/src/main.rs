//! The project's own automation: `cargo xtask test`.

fn main() {}
