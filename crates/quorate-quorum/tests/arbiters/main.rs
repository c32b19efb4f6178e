//! (h,k)-arbiters: their condition by enumeration, and the sizes of the literature.

mod families;
mod refused;
mod theorems;
mod thresholds;
mod tools;
