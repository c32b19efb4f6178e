//! The kinds of lock: one file each, and the lists at the end of this one.
//!
//! This is the only module of the site layer that knows protocols by name. A file says everything
//! the site must know of its kind: the protocol, how local callers share it, how claims and grants
//! are converted, what the messages mean to the site, and what is kept on disk.

mod group;
mod ledger;
mod mutex;
mod pool;
mod read_write;
mod role;
mod token;

use std::fmt::{self, Debug, Display};
use std::time::Duration;

use quorate_protocol::{ClaimId, Fence, Protocol, Tick, Ticket};
use quorate_quorum::SiteId;
use quorate_session::session::Terms;
use quorate_session::{Granted, Kind, LockSpec};
use serde::{Deserialize, Serialize};

use crate::Config;
use crate::lock::LockInstance;

/// One kind of lock, as a site serves it.
pub(crate) trait LockKind: Copy + Debug + Send + Sync + 'static {
    /// What the protocols of two sites send each other.
    type Message: LockMessage + Into<ProtocolMessage> + TryFrom<ProtocolMessage>;
    /// What the protocol takes as a claim.
    type Claim;
    /// What the protocol grants.
    type Grant;

    /// Whether the timers of its locks only ask for spare permissions, and can wait.
    const TIMERS_CAN_WAIT: bool = false;

    /// The kind, as clients know it.
    fn kind(self) -> Kind;

    /// Whether locks of `kind` are made here, with these settings.
    fn serves(kind: &Kind, settings: &Settings) -> bool;

    /// A lock of which nothing is known but its record; `None` if there can be none.
    fn make(
        factory: &mut LockFactory,
        kind: &Kind,
        record: LockRecord,
    ) -> Option<Box<dyn LockInstance>>;

    /// What a caller asks of the protocol; `None` if the claim is for another kind of lock.
    fn claim(caller: &CallerClaim<'_>) -> Option<Self::Claim>;

    /// The fence of a grant.
    fn fence(grant: &Self::Grant) -> Fence;

    /// What a caller is told of its grant besides the fence.
    fn granted(grant: &Self::Grant) -> Granted;
}

/// A caller's claim on its way to a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerClaim<'a> {
    pub(crate) spec: &'a LockSpec,
    pub(crate) no_wait: bool,
    /// The site of the caller, and the number of its claim there.
    pub(crate) site: SiteId,
    pub(crate) claim: ClaimId,
}

/// What a site must know of a protocol's message to carry it.
pub(crate) trait LockMessage: Display {
    /// Whether it goes to the arbiter half of the receiver.
    fn is_for_arbiter(&self) -> bool;

    /// The request of `from` that it asks to queue, if it does.
    fn request(&self, from: SiteId) -> Option<Ticket>;

    /// The request whose validity it delegates: the receiver may count on it for as long as the
    /// sender can.
    fn delegation(&self) -> Option<Ticket> {
        None
    }

    /// Whether it only renews a lease of the protocol, or answers that.
    fn is_renewal(&self) -> bool {
        false
    }

    /// Whether messages like this one carry a deadline.
    fn is_timed(&self) -> bool {
        false
    }

    /// The deadline, by the sender's clock; `None` if messages like this one carry none.
    fn deadline_mut(&mut self) -> Option<&mut Option<Tick>> {
        None
    }

    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// What a protocol implements so that locks of kind `K` can be served with it. The protocol of a
/// kind does, and so does its mutant.
pub(crate) trait ProtocolOf<K: LockKind>:
    Protocol<Message = K::Message, Claim = K::Claim, Grant = K::Grant, Timer: Send + Sync>
    + Send
    + Sync
    + 'static
{
}

impl<K: LockKind, P> ProtocolOf<K> for P where
    P: Protocol<Message = K::Message, Claim = K::Claim, Grant = K::Grant, Timer: Send + Sync>
        + Send
        + Sync
        + 'static
{
}

/// Makes the locks of a site.
#[derive(Clone, Debug)]
pub(crate) struct LockFactory {
    settings: Settings,
    me: SiteId,
    sites: usize,
    terms: Terms,
    pool_quorums: pool::QuorumsBySize,
}

impl LockFactory {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            settings: config.settings,
            me: config.site,
            sites: config.quorums.n(),
            terms: config.terms,
            pool_quorums: pool::QuorumsBySize::default(),
        }
    }

    /// How long a holder is inside before it asks for spare permissions: D/6. Short holds cost no
    /// more messages, and a long one has its spares well before a silent site is noticed, at D/2.
    fn spares(&self) -> Duration {
        self.terms.lease.length() / 6
    }

    /// A lock of this kind of which nothing is known but its record; `None` if there can be none.
    pub(crate) fn make(
        &mut self,
        kind: &Kind,
        record: LockRecord,
    ) -> Option<Box<dyn LockInstance>> {
        (self.server_of(kind)?.make)(self, kind, record)
    }

    fn server_of(&self, kind: &Kind) -> Option<&'static KindServer> {
        KINDS.iter().find(|server| (server.serves)(kind, &self.settings))
    }

    /// The mutation to be made in locks of one protocol, if the settings name one.
    #[cfg(feature = "mutations")]
    fn mutation<M: TryFrom<AnyMutation>>(&self) -> Option<M> {
        self.settings.mutation.and_then(|mutation| mutation.try_into().ok())
    }
}

/// A [`LockKind`] as an entry of a list.
#[derive(Debug)]
struct KindServer {
    serves: fn(&Kind, &Settings) -> bool,
    make: fn(&mut LockFactory, &Kind, LockRecord) -> Option<Box<dyn LockInstance>>,
}

impl KindServer {
    const fn of<K: LockKind>() -> Self {
        Self { serves: K::serves, make: K::make }
    }
}

/// What a lock keeps on disk for itself. Only group locks by token do; a second kind that does
/// makes this an enum.
pub type LockRecord = quorate_protocol::token::Durable;

/// Generates what needs a variant for each protocol: its messages, and its mutations.
macro_rules! protocols {
    ($($(#[$doc:meta])* $variant:ident($module:ident),)+) => {
        /// A message between the protocols of two sites about one resource. The order of the
        /// variants is part of the wire format.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ProtocolMessage {
            $($(#[$doc])* $variant(quorate_protocol::$module::Message),)+
        }

        impl ProtocolMessage {
            pub(crate) fn as_message(&self) -> &dyn LockMessage {
                match self {
                    $(ProtocolMessage::$variant(message) => message,)+
                }
            }

            pub(crate) fn as_message_mut(&mut self) -> &mut dyn LockMessage {
                match self {
                    $(ProtocolMessage::$variant(message) => message,)+
                }
            }
        }

        /// A repair that is undone, and in which protocol. All other locks are correct.
        #[cfg(feature = "mutations")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AnyMutation {
            $($(#[$doc])* $variant(quorate_protocol::$module::mutations::Mutation),)+
        }

        $(
            impl From<quorate_protocol::$module::Message> for ProtocolMessage {
                fn from(message: quorate_protocol::$module::Message) -> Self {
                    ProtocolMessage::$variant(message)
                }
            }

            impl TryFrom<ProtocolMessage> for quorate_protocol::$module::Message {
                type Error = OtherProtocol;

                fn try_from(message: ProtocolMessage) -> Result<Self, OtherProtocol> {
                    match message {
                        ProtocolMessage::$variant(message) => Ok(message),
                        _ => Err(OtherProtocol),
                    }
                }
            }

            #[cfg(feature = "mutations")]
            impl TryFrom<AnyMutation> for quorate_protocol::$module::mutations::Mutation {
                type Error = OtherProtocol;

                fn try_from(mutation: AnyMutation) -> Result<Self, OtherProtocol> {
                    match mutation {
                        AnyMutation::$variant(mutation) => Ok(mutation),
                        _ => Err(OtherProtocol),
                    }
                }
            }
        )+
    };
}

/// A message or a mutation belongs to another protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherProtocol;

impl Display for ProtocolMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_message().fmt(f)
    }
}

protocols! {
    /// Of mutexes.
    Mutex(mutex),
    /// Of pools by arbiters.
    Pool(pool),
    /// Of group locks and read-write locks.
    Group(group),
    /// Of role locks.
    Role(role),
    /// Of group locks by token.
    Token(token),
    /// Of ledger pools.
    Ledger(ledger),
}

/// The kinds of lock. The first that serves a [`Kind`] makes its locks.
static KINDS: [KindServer; 7] = [
    KindServer::of::<mutex::MutexKind>(),
    KindServer::of::<ledger::LedgerKind>(),
    KindServer::of::<pool::PoolKind>(),
    KindServer::of::<group::GroupKind>(),
    KindServer::of::<read_write::ReadWriteKind>(),
    KindServer::of::<role::RoleKind>(),
    KindServer::of::<token::TokenKind>(),
];

/// Which protocol the pools of a cluster have. All its sites must have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoolProtocol {
    /// Ledger pools, on the ordinary quorums of the cluster.
    #[default]
    Ledger,
    /// Pools by (h,k)-arbiters, which need more sites the fewer units a claim asks for.
    Arbiters,
}

impl PoolProtocol {
    /// All of them, by name; the default is the first.
    pub const ALL: [(&str, Self); 2] = [("ledger", Self::Ledger), ("arbiters", Self::Arbiters)];
}

/// The settings of the protocols. Group locks by token have none: their times follow from the
/// lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Of mutexes.
    pub mutex: quorate_protocol::mutex::Options,
    /// Which protocol pools have.
    pub pools: PoolProtocol,
    /// Of ledger pools.
    pub ledger: quorate_protocol::ledger::Options,
    /// Of pools by arbiters.
    pub pool: quorate_protocol::pool::Options,
    /// Of group locks and read-write locks.
    pub group: quorate_protocol::group::Options,
    /// Of role locks.
    pub role: quorate_protocol::role::Options,
    /// The repair that is undone.
    #[cfg(feature = "mutations")]
    pub mutation: Option<AnyMutation>,
}
