//! What two sites tell each other about who they are, before and beside their sessions.

use quorate_quorum::SiteId;
use quorate_session::session::Packet;
use serde::{Deserialize, Serialize};

use super::{Birth, IdentityRefusal, Known, Lineage};
use crate::site_message::SiteMessage;

/// A packet between two sites. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SitePacket {
    /// About who the sites are.
    Identity(IdentityMessage),
    /// Of a session.
    Session(Packet<SiteMessage>),
}

/// A message about who a site is. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IdentityMessage {
    /// The first message of each end of a connection.
    Present(Presentation),
    /// You are registered here with your present life, up to this write, and whether our own life
    /// has begun.
    Registered(u64, bool),
    /// You are refused. The connection is closed.
    Refused(IdentityRefusal),
    /// Our life has begun.
    Begun,
    /// The number of our latest write.
    Wrote(u64),
    /// The number of your latest write that is on disk here.
    Acknowledged(u64),
}

/// How a site presents itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Presentation {
    /// The birth of its folder.
    pub birth: Birth,
    /// Its lives; the latest is the present one.
    pub lineage: Lineage,
    /// The number of its latest write.
    pub writes: u64,
    /// Whether its life needs all sites to begin, because its folder lies elsewhere than before.
    pub moved: bool,
    /// What it knows of other sites whose lives have begun.
    pub known: Vec<(SiteId, Known)>,
}
