//! How each protocol's messages, claims and grants are spoken of in the site layer.

use quorate_protocol::{ClaimId, Fence, Protocol, group, mutex, pool, role, token};
use quorate_quorum::SiteId;
use quorate_session::{Got, Want};

use super::Speech;

/// A protocol as the site layer drives it.
pub(crate) trait Registered:
    Protocol<Message: Spoken, Claim: Wanted, Grant: Granted>
{
}

impl<P: Protocol<Message: Spoken, Claim: Wanted, Grant: Granted>> Registered for P {}

/// A message of one protocol.
pub(crate) trait Spoken: Sized {
    fn into_speech(self) -> Speech;

    /// `None` if another protocol is spoken.
    fn from_speech(speech: Speech) -> Option<Self>;
}

/// A claim of one protocol.
pub(crate) trait Wanted: Sized {
    /// `None` if it is wanted of another protocol. Whose claim it is decides what a writer is
    /// called.
    fn from_want(want: &Want, hasty: bool, whose: (SiteId, ClaimId)) -> Option<Self>;
}

/// A grant of one protocol.
pub(crate) trait Granted {
    fn fence(&self) -> Fence;
    fn got(&self) -> Got;
}

impl Spoken for mutex::Message {
    fn into_speech(self) -> Speech {
        Speech::Mutex(self)
    }

    fn from_speech(speech: Speech) -> Option<Self> {
        if let Speech::Mutex(message) = speech { Some(message) } else { None }
    }
}

impl Wanted for () {
    fn from_want(want: &Want, _: bool, _: (SiteId, ClaimId)) -> Option<Self> {
        (*want == Want::Mutex).then_some(())
    }
}

impl Granted for mutex::Grant {
    fn fence(&self) -> Fence {
        self.fence
    }

    fn got(&self) -> Got {
        Got::Mutex
    }
}

impl Spoken for pool::Message {
    fn into_speech(self) -> Speech {
        Speech::Pool(self)
    }

    fn from_speech(speech: Speech) -> Option<Self> {
        if let Speech::Pool(message) = speech { Some(message) } else { None }
    }
}

impl Wanted for pool::Claim {
    fn from_want(want: &Want, hasty: bool, _: (SiteId, ClaimId)) -> Option<Self> {
        match *want {
            Want::Pool { units, numbered } => Some(pool::Claim { units, numbered, hasty }),
            _ => None,
        }
    }
}

impl Granted for pool::Grant {
    fn fence(&self) -> Fence {
        self.fence
    }

    fn got(&self) -> Got {
        Got::Pool(self.numbers.clone())
    }
}

impl Spoken for group::Message {
    fn into_speech(self) -> Speech {
        Speech::Group(self)
    }

    fn from_speech(speech: Speech) -> Option<Self> {
        if let Speech::Group(message) = speech { Some(message) } else { None }
    }
}

impl Wanted for group::Claim {
    fn from_want(want: &Want, hasty: bool, (site, claim): (SiteId, ClaimId)) -> Option<Self> {
        match want {
            Want::Group(groups) | Want::Token(groups) => {
                Some(group::Claim { groups: groups.clone(), hasty })
            }
            Want::Access(access) => {
                Some(group::Claim { hasty, ..group::Claim::of_access(*access, site, claim) })
            }
            _ => None,
        }
    }
}

impl Granted for group::Grant {
    fn fence(&self) -> Fence {
        self.fence
    }

    fn got(&self) -> Got {
        Got::Group(self.group.clone())
    }
}

impl Spoken for token::Message {
    fn into_speech(self) -> Speech {
        Speech::Token(self)
    }

    fn from_speech(speech: Speech) -> Option<Self> {
        if let Speech::Token(message) = speech { Some(message) } else { None }
    }
}

impl Granted for token::Grant {
    fn fence(&self) -> Fence {
        self.fence()
    }

    fn got(&self) -> Got {
        Got::Group(self.group.clone())
    }
}

impl Spoken for role::Message {
    fn into_speech(self) -> Speech {
        Speech::Role(self)
    }

    fn from_speech(speech: Speech) -> Option<Self> {
        if let Speech::Role(message) = speech { Some(message) } else { None }
    }
}

impl Wanted for role::Claim {
    fn from_want(want: &Want, hasty: bool, _: (SiteId, ClaimId)) -> Option<Self> {
        match want {
            Want::Role { groups, time } => {
                Some(role::Claim { groups: groups.clone(), time: *time, hasty })
            }
            _ => None,
        }
    }
}

impl Granted for role::Grant {
    fn fence(&self) -> Fence {
        self.fence
    }

    fn got(&self) -> Got {
        Got::Role(self.group.clone(), self.role)
    }
}
