//! The messages between sites.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Epoch, Stamp, Token};
use crate::Tick;
use crate::group::{Group, Groups};

/// The paper's messages; `prepare` to `withdraw` replace its `gen_token`.
///
/// A request has a number that its site never uses twice. Every message about a request carries
/// it (E11, E12). A deadline is a reading of the receiver's clock: the session that carries the
/// message translates it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the request set: asks for any of these groups.
    Request {
        /// The number of the request.
        sn: u64,
        /// The groups, any of which may be granted.
        groups: Groups,
        /// Whether it was sent before, so that the holder should answer.
        again: bool,
    },
    /// From the holder, in answer to a request that was served before: I hold the token (E5).
    Hint,
    /// From the holder, in answer to a request that was sent again: it is in the queue.
    Alive {
        /// The number of the request.
        sn: u64,
    },
    /// To the next captain: the token.
    Token {
        /// The token.
        token: Token,
        /// Its deadline, if there are leases.
        until: Option<Tick>,
    },
    /// From a captain: admits a follower.
    Start(Admission),
    /// From a captain: asks a follower whether it is still inside. Also repeats a lost start.
    IsComplete(Admission),
    /// To a captain: still inside. Sent only if there are leases.
    Busy {
        /// The number of the request.
        sn: u64,
        /// The epoch of its captain.
        epoch: Epoch,
    },
    /// To a captain: not inside with this request, or not any more.
    Complete {
        /// The number of the request.
        sn: u64,
        /// The epoch of its captain.
        epoch: Epoch,
    },
    /// To all: the token seems lost; asks for a promise of this epoch. Carries the request too.
    Prepare {
        /// The epoch.
        epoch: Epoch,
        /// The number of the pending request.
        sn: u64,
        /// Its groups.
        groups: Groups,
    },
    /// From a voter: it will accept nothing of a lower epoch any more.
    Promise {
        /// The epoch that was asked for.
        epoch: Epoch,
        /// The number of the voter's last request.
        sn: u64,
        /// The groups of that request, if it is waiting.
        groups: Option<Groups>,
        /// The length of the voter's lease for the new token, if there are leases.
        lease: Option<Duration>,
    },
    /// From a voter: refuses to promise an epoch.
    Nack {
        /// The epoch that was asked for.
        epoch: Epoch,
        /// The highest epoch that the voter knows of.
        seen: Epoch,
        /// Why it refuses.
        reason: Reason,
    },
    /// To all: the sender has made the token of this epoch. Waiting sites send it their requests.
    NewEpoch {
        /// The epoch.
        epoch: Epoch,
    },
    /// To all: this epoch will never be made, or its token was dropped.
    Withdraw {
        /// The epoch.
        epoch: Epoch,
    },
    /// To all: asks voters to register for the sender's token, for the length of a lease.
    Register {
        /// The token's epoch.
        epoch: Epoch,
        /// The ordinal of this renewal at the holder.
        renewal: u32,
    },
    /// From a voter: it has registered.
    Registered {
        /// The token's epoch.
        epoch: Epoch,
        /// The renewal that is answered.
        renewal: u32,
        /// The length of the voter's lease.
        lease: Duration,
    },
}

/// The admission of a follower to an occupancy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Admission {
    /// The number of the admitted request.
    pub sn: u64,
    /// The group of the occupancy.
    pub group: Group,
    /// The token's epoch and the occupancy's round.
    pub stamp: Stamp,
    /// The follower's deadline, if there are leases.
    pub until: Option<Tick>,
}

/// Why a voter refuses to promise an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// It holds the token.
    Holder,
    /// Its voter lease for another token runs, or may have been running before a restart.
    Leased,
    /// It has promised or is attempting an epoch that is not lower.
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

    /// Whether a message of this kind carries a deadline.
    pub fn is_timed(&self) -> bool {
        matches!(self, Message::Token { .. } | Message::Start(_) | Message::IsComplete(_))
    }

    /// The deadline field; `None` if this kind of message has none. The field itself is `None`
    /// without leases.
    pub fn deadline_mut(&mut self) -> Option<&mut Option<Tick>> {
        match self {
            Message::Token { until, .. }
            | Message::Start(Admission { until, .. })
            | Message::IsComplete(Admission { until, .. }) => Some(until),
            _ => None,
        }
    }

    /// The approximate size of its groups and its queue, in bytes.
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
            Message::Start(admission) | Message::IsComplete(admission) => {
                admission.group.name().len()
            }
            _ => 0,
        }
    }

    /// Whether it travels in the sender's session at the receiver. Answers, and what a holder
    /// sends, travel in the receiver's session at the sender.
    pub fn uses_senders_session(&self) -> bool {
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
            Message::Start(Admission { sn, group, stamp, .. })
            | Message::IsComplete(Admission { sn, group, stamp, .. }) => {
                write!(f, " #{sn} with {group}, round {stamp}")
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
                    Reason::Leased => "my lease supports another token",
                    Reason::Higher => "too low",
                };
                write!(f, " {epoch}: {why}")
            }
            Message::NewEpoch { epoch } | Message::Withdraw { epoch } => write!(f, " {epoch}"),
            Message::Register { epoch, renewal } | Message::Registered { epoch, renewal, .. } => {
                write!(f, " {epoch}, round {renewal}")
            }
        }
    }
}
