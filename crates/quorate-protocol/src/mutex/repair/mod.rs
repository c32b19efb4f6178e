//! What happens when sessions end. `docs/protocols/mutex.md`, section "When sessions end", lists
//! the inputs and their handlers.

mod arbiter;
mod requester;

pub(super) use self::arbiter::HolderQuery;
