//! The contract of each protocol with its driver.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod group_contract;
mod ledger_contract;
mod mutex_contract;
mod plausible;
mod pool_contract;
mod role_contract;
mod token_contract;
