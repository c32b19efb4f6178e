//! Whether a message can be true, as far as its receiver knows.

use std::time::Duration;

use quorate_session::session::Lease;

use super::requester::has_passed;
use super::state::Inside;
use super::{Admission, Epoch, Message, Stamp, Token, TokenLock, Waiter};
use crate::{Field, NUMBER_MAX, Shared, Tick, Violation};

/// No epoch is above this one; then no token of this lock is made any more.
pub const EPOCH_MAX: u64 = (1 << 32) - (1 << 16);

/// By how much an epoch may lie above all that are known.
const EPOCHS_AHEAD_MAX: u64 = 1 << 28;

impl TokenLock {
    /// Checks sites, epochs, rounds, numbers of requests, leases, and the queue of a token.
    pub(super) fn check_message(
        &self,
        site: &Shared,
        now: Tick,
        message: &Message,
    ) -> Result<(), Violation> {
        match message {
            Message::Request { sn, groups, .. } => {
                check_number(site, *sn)?;
                check_groups(groups.is_empty())
            }
            Message::Prepare { epoch, sn, groups } => {
                self.check_epoch(site, *epoch)?;
                check_number(site, *sn)?;
                check_groups(groups.is_empty())
            }
            Message::Promise { epoch, sn, groups, lease } => {
                self.check_epoch(site, *epoch)?;
                site.check(
                    *sn <= NUMBER_MAX && (groups.is_none() || *sn > 0),
                    Field::RequestNumber,
                )?;
                site.check(lease.is_some() == self.options.lease.is_some(), Field::Lease)?;
                self.check_lease(site, lease.unwrap_or_default())
            }
            Message::Token { token, .. } => self.check_token(site, now, token),
            Message::Start(Admission { stamp, .. })
            | Message::IsComplete(Admission { stamp, .. }) => {
                self.check_epoch(site, stamp.epoch)?;
                site.check(stamp.round <= Stamp::LAST, Field::Round)
            }
            Message::Nack { epoch, seen, .. } => {
                self.check_epoch(site, *epoch)?;
                self.check_epoch(site, *seen)
            }
            Message::Registered { epoch, lease, .. } => {
                self.check_epoch(site, *epoch)?;
                self.check_lease(site, *lease)
            }
            Message::Busy { epoch, .. }
            | Message::Complete { epoch, .. }
            | Message::NewEpoch { epoch }
            | Message::Withdraw { epoch }
            | Message::Register { epoch, .. } => self.check_epoch(site, *epoch),
            Message::Hint | Message::Alive { .. } => Ok(()),
        }
    }

    /// The highest epoch that this site knows of.
    pub(super) fn highest_epoch(&self) -> Epoch {
        self.durable.highest().max(self.seen_epoch)
    }

    fn check_epoch(&self, site: &Shared, Epoch(epoch): Epoch) -> Result<(), Violation> {
        let Epoch(known) = self.highest_epoch();
        site.check(epoch <= (known + EPOCHS_AHEAD_MAX).min(EPOCH_MAX), Field::Epoch)
    }

    /// The longest lease is ours, if it is longer than any site may have.
    fn check_lease(&self, site: &Shared, lease: Duration) -> Result<(), Violation> {
        site.check(lease <= Lease::MAX.max(self.options.lease.unwrap_or_default()), Field::Lease)
    }

    fn check_token(&self, site: &Shared, now: Tick, token: &Token) -> Result<(), Violation> {
        let epoch = token.stamp.epoch;
        self.check_epoch(site, epoch)?;
        site.check(!token.stamp.is_near_last(), Field::Round)?;
        // A holder passes the token on when all that followed it have left.
        let is_new = token.stamp > self.last_held && epoch >= self.durable.floor();
        let follows = |inside: &Inside| {
            inside.stamp.epoch >= epoch && self.held.is_none() && !has_passed(inside.until, now)
        };
        site.check(!is_new || !self.inside.as_ref().is_some_and(follows), Field::Token)?;
        site.check_sites(token.served.keys())?;
        site.check(token.served.values().all(|sn| *sn <= NUMBER_MAX), Field::RequestNumber)?;
        for entry in token.queue.entries() {
            site.check(!entry.waiting.is_empty(), Field::Queue)?;
            site.check_sites(entry.waiting.iter().map(|waiter| &waiter.site))?;
            entry.waiting.iter().try_for_each(|waiter| check_number(site, waiter.sn))?;
            let ours = entry.waiting.iter().filter(|waiter| waiter.site == self.me);
            let made = |waiter: &Waiter| {
                let pending = self.pending.as_ref().filter(|pending| pending.sn == waiter.sn);
                let named = pending.is_none_or(|pending| pending.groups.contains(&entry.group));
                waiter.sn <= self.sn && named
            };
            site.check(ours.into_iter().all(made), Field::Queue)?;
        }
        Ok(())
    }
}

fn check_number(site: &Shared, sn: u64) -> Result<(), Violation> {
    site.check((1..=NUMBER_MAX).contains(&sn), Field::RequestNumber)
}

fn check_groups(none: bool) -> Result<(), Violation> {
    if none { Err(Violation::NoGroups) } else { Ok(()) }
}
