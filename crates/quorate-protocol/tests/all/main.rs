//! The contract of each protocol with its driver.

mod group_contract;
mod mutex_contract;
mod pool_contract;
mod role_contract;
mod token_contract;
