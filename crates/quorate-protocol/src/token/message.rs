//! What the sites say to each other.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Epoch, Stamp, Token};
use crate::Tick;
use crate::group::{Group, Groups};

/// The paper's messages, of which `prepare` and those below replace `gen_token`.
///
/// A request has a number, which its site never uses twice, and every message that speaks of it
/// carries it (E11, E12). A deadline is a reading of its receiver's clock: whoever carries the
/// message translates it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To whom may have the token: let me in with any of these groups.
    Request {
        /// The number of the request.
        sn: u64,
        /// The groups that will do.
        groups: Groups,
        /// Whether it was sent before, and not answered for long.
        again: bool,
    },
    /// From the holder, to a site whose request was served long ago: I have the token (E5).
    Hint,
    /// From the holder, to a request sent again: you are in the queue.
    Alive {
        /// The number of the request.
        sn: u64,
    },
    /// To the next captain: the token.
    Token {
        /// The token.
        token: Token,
        /// Until when it is valid, if leases limit it.
        until: Option<Tick>,
    },
    /// From a captain: come in.
    Start(Pass),
    /// From a captain, to a follower it has not heard of for long: are you still inside? To one
    /// that never got its start, this is it.
    IsComplete(Pass),
    /// To a captain: still inside. Only where leases must be renewed.
    Busy {
        /// The number of the request.
        sn: u64,
        /// The epoch of its captain.
        epoch: Epoch,
    },
    /// To a captain: I am not inside with this request, or not any more.
    Complete {
        /// The number of the request.
        sn: u64,
        /// The epoch of its captain.
        epoch: Epoch,
    },
    /// To all: the token seems lost. Promise me the next epoch, or tell me that it is not.
    Prepare {
        /// The epoch to be.
        epoch: Epoch,
        /// The number of the request that waits.
        sn: u64,
        /// The groups that will do.
        groups: Groups,
    },
    /// From a voter: nothing of a lower epoch counts for me any more.
    Promise {
        /// The epoch that was asked for.
        epoch: Epoch,
        /// The number of the voter's last request.
        sn: u64,
        /// The groups that will do, if it waits.
        groups: Option<Groups>,
        /// For how long it vouches for the token to be, if leases limit it.
        lease: Option<Duration>,
    },
    /// From a voter: no.
    Nack {
        /// The epoch that was asked for.
        epoch: Epoch,
        /// The highest that the voter has heard of.
        seen: Epoch,
        /// Why not.
        reason: Reason,
    },
    /// To all: there is a token of this epoch. Whoever waits tells me.
    NewEpoch {
        /// The epoch.
        epoch: Epoch,
    },
    /// To all: this epoch will never be, or is no more.
    Withdraw {
        /// The epoch.
        epoch: Epoch,
    },
    /// To all: vouch for my token, for the length of a lease.
    Register {
        /// The token's epoch.
        epoch: Epoch,
        /// The how-manieth time this holder asks.
        round: u32,
    },
    /// From a voter: I do.
    Registered {
        /// The token's epoch.
        epoch: Epoch,
        /// The round that is answered.
        round: u32,
        /// For how long.
        lease: Duration,
    },
}

/// What lets a follower in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pass {
    /// The number of the request that is let in.
    pub sn: u64,
    /// The group of the session.
    pub group: Group,
    /// The session.
    pub stamp: Stamp,
    /// Until when the captain vouches for it, if leases limit it.
    pub until: Option<Tick>,
}

/// Why a voter does not promise an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// It has the token.
    Holder,
    /// It vouches for another token, or may have before it restarted.
    Leased,
    /// It has promised a higher one, or hopes for one itself.
    Higher,
}

impl Message {
    /// The message's name in the paper.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Request { .. } => "request",
            Message::Hint => "hint",
            Message::Alive { .. } => "alive",
            Message::Token { .. } => "token",
            Message::Start(_) => "start",
            Message::IsComplete(_) => "is_complete",
            Message::Busy { .. } => "busy",
            Message::Complete { .. } => "complete",
            Message::Prepare { .. } => "prepare",
            Message::Promise { .. } => "promise",
            Message::Nack { .. } => "nack",
            Message::NewEpoch { .. } => "new_epoch",
            Message::Withdraw { .. } => "withdraw",
            Message::Register { .. } => "register",
            Message::Registered { .. } => "registered",
        }
    }

    /// Whether it is of a kind that carries a deadline.
    pub fn is_timed(&self) -> bool {
        matches!(self, Message::Token { .. } | Message::Start(_) | Message::IsComplete(_))
    }

    /// The deadline it carries; `None` if it is of a kind that has none. What is inside is `None`
    /// where no lease limits what it says.
    pub fn deadline_mut(&mut self) -> Option<&mut Option<Tick>> {
        match self {
            Message::Token { until, .. }
            | Message::Start(Pass { until, .. })
            | Message::IsComplete(Pass { until, .. }) => Some(until),
            _ => None,
        }
    }

    /// About how many bytes its groups and its queue take.
    pub fn bytes(&self) -> usize {
        let of_groups = |groups: &Groups| groups.iter().map(|group| group.name().len() + 8).sum();
        match self {
            Message::Request { groups, .. }
            | Message::Prepare { groups, .. }
            | Message::Promise { groups: Some(groups), .. } => of_groups(groups),
            Message::Token { token, .. } => {
                let entries = token.queue.entries().iter();
                let queue = entries.map(|one| one.group.name().len() + 8 + 16 * one.waiting.len());
                queue.sum::<usize>() + 16 * token.served.len()
            }
            Message::Start(pass) | Message::IsComplete(pass) => pass.group.name().len(),
            _ => 0,
        }
    }

    /// Whether it travels in its sender's session at the receiver; answers, and what a holder
    /// says, travel in the receiver's session at the sender.
    pub fn is_asked(&self) -> bool {
        matches!(
            self,
            Message::Request { .. }
                | Message::Busy { .. }
                | Message::Complete { .. }
                | Message::Prepare { .. }
                | Message::NewEpoch { .. }
                | Message::Withdraw { .. }
                | Message::Register { .. }
        )
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Message::Hint => Ok(()),
            Message::Request { sn, groups, again } => {
                write!(f, " #{sn} for {groups}{}", if *again { ", again" } else { "" })
            }
            Message::Token { token, .. } => write!(f, " {token}"),
            Message::Start(Pass { sn, group, stamp, .. })
            | Message::IsComplete(Pass { sn, group, stamp, .. }) => {
                write!(f, " #{sn} with {group}, session {stamp}")
            }
            Message::Alive { sn } => write!(f, " #{sn}"),
            Message::Busy { sn, epoch } | Message::Complete { sn, epoch } => {
                write!(f, " #{sn} of epoch {epoch}")
            }
            Message::Prepare { epoch, sn, groups }
            | Message::Promise { epoch, sn, groups: Some(groups), .. } => {
                write!(f, " {epoch}, request #{sn} for {groups}")
            }
            Message::Promise { epoch, sn, groups: None, .. } => {
                write!(f, " {epoch}, idle after #{sn}")
            }
            Message::Nack { epoch, reason, .. } => {
                let why = match reason {
                    Reason::Holder => "I have the token",
                    Reason::Leased => "I vouch for another",
                    Reason::Higher => "too low",
                };
                write!(f, " {epoch}: {why}")
            }
            Message::NewEpoch { epoch } | Message::Withdraw { epoch } => write!(f, " {epoch}"),
            Message::Register { epoch, round } | Message::Registered { epoch, round, .. } => {
                write!(f, " {epoch}, round {round}")
            }
        }
    }
}
