//! The laboratory: algorithms of the literature, driven and judged like our own protocols.
//!
//! A mutual exclusion algorithm is a small value that implements [`Algorithm`]; [`Baseline`] makes
//! a protocol of it. [`find`] finds all of them by name, and our own protocols too.
//! [`EXPERIMENTS`] set what papers claim beside what was measured.

mod algorithm;
mod baseline;
pub mod baselines;
mod catalogue;
mod diagram;
mod experiment;
mod figure;
pub mod fuzz;

pub use algorithm::{ALL_SITES, Algorithm, SiteConfig, StepContext};
pub use baseline::{Baseline, Envelope};
pub use catalogue::{BASELINES, find, protocols};
pub use diagram::{
    Arrow, Delivery, Diagram, DiagramRecorder, Interval, Moment, SiteState, Span, StepRecorder,
};
pub use experiment::{
    Axis, EXPERIMENTS, Experiment, Finding, Line, Plot, Row, Settings, Sink, Verdict,
};
pub use figure::{Palette, text_width};
