//! Locks as people speak of them: names, kinds, groups, roles, units.

mod group;
mod kind;
mod name;
mod role;
mod stamp;
mod units;
mod why;

pub use group::{Access, Group, Groups};
pub use kind::{GROUPS_MAX, Got, Kind, TIME_MAX, UNITS_MAX, Want};
pub use name::Name;
pub use role::Role;
pub use stamp::{Epoch, Stamp};
pub use units::Units;
pub use why::Why;
