//! (h,k)-arbiters: their condition by enumeration, and the sizes of the literature.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod families;
mod refused;
mod theorems;
mod thresholds;
mod tools;
