//! (h,k)-arbiters: their condition by enumeration, and the sizes of the literature.

mod refused;
mod thresholds;
