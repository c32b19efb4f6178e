//! Claims, messages and grants.

use std::fmt;

use quorate_protocol::group::{Group, Groups};
use quorate_protocol::{Fence, Ticket};

/// Its switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Which group a request chooses that would do with several.
    pub choice: Choice,
    /// Whether a needless wait is an error.
    pub judged: bool,
    /// The rule that is undone.
    pub undone: Option<&'static str>,
}

/// Which group a request chooses that would do with several. The paper leaves that open: nothing
/// is known yet that could decide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Choice {
    /// The first by name.
    #[default]
    First,
    /// The last by name.
    Last,
}

impl Choice {
    pub(super) fn of(self, groups: &Groups) -> Option<Group> {
        match self {
            Choice::First => groups.iter().next().cloned(),
            Choice::Last => groups.iter().last().cloned(),
        }
    }
}

/// A grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request.
    pub ticket: Ticket,
    /// The group it chose.
    pub group: Group,
    /// Its fence: above those of all earlier grants of other groups.
    pub fence: Fence,
    /// Whether no manager that voted for it had voted for another request.
    pub pivot: bool,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}, group {}, fence {}", self.ticket, self.group, self.fence)?;
        f.write_str(if self.pivot { ", as pivot" } else { "" })
    }
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// To a manager: vote for me.
    Request {
        /// The request.
        ticket: Ticket,
        /// The group it has chosen.
        group: Group,
    },
    /// From a manager: I do.
    Ok {
        /// The request that is voted for.
        ticket: Ticket,
        /// Whether it is not the only one.
        joined: bool,
    },
    /// From a manager: give the vote back, unless you are inside.
    Cancel(Ticket),
    /// To a manager: here it is, and I still want it.
    Cancelled(Ticket),
    /// To a manager: I have left.
    Release(Ticket),
}

impl Message {
    /// The message's name in the paper.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Message::Request { ticket, .. }
        | Message::Ok { ticket, .. }
        | Message::Cancel(ticket)
        | Message::Cancelled(ticket)
        | Message::Release(ticket)) = self;
        write!(f, "{} {ticket}", self.kind())?;
        match self {
            Message::Request { group, .. } => write!(f, " for {group}"),
            Message::Ok { joined: true, .. } => f.write_str(", with others"),
            _ => Ok(()),
        }
    }
}
