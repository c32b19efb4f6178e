//! The algorithm as printed.
