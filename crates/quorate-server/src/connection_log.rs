//! What the log says of connections. The events are listed in `docs/operating.md`.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_net::clock;
use quorate_net::tls::TlsProblem;
use quorate_session::SiteId;
use tracing::field::display;

use crate::log_limit::LogLimit;

/// Logs which sites are connected, and why others are not: each reason at most once a minute for
/// each remote.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    limit: LogLimit,
    /// How many connections each site has: a new one may come before the old one has ended.
    connections: BTreeMap<SiteId, u32>,
}

/// The other end of a connection that was refused, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Stranger {
    /// Its address, without the port.
    pub(crate) host: String,
    /// The site it claims to be.
    pub(crate) site: Option<SiteId>,
    /// The names in its certificate.
    pub(crate) certificate: Option<String>,
}

impl Stranger {
    /// Somebody at this address, of whom nothing else is known.
    pub(crate) fn at(host: String) -> Self {
        Self { host, site: None, certificate: None }
    }
}

impl ConnectionLog {
    /// A site is connected.
    pub(crate) fn up(&self, site: SiteId, address: &str) {
        let mut state = self.state();
        let count = state.connections.entry(site).or_default();
        *count += 1;
        if *count == 1 {
            tracing::info!(%site, address, "a site is connected");
        }
    }

    /// A connection of a site has ended.
    pub(crate) fn down(&self, site: SiteId, address: &str, end: &io::Result<()>) {
        let mut state = self.state();
        let count = state.connections.entry(site).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            let why = end.as_ref().map_or_else(ToString::to_string, |()| "it was closed".into());
            tracing::info!(%site, address, why, "a site is no longer connected");
        }
    }

    /// A connection to a site could not be opened.
    pub(crate) fn unreachable(&self, site: SiteId, address: &str, error: &io::Error) {
        let why = error.to_string();
        let certificate = TlsProblem::of(error).and_then(|problem| problem.certificate.as_deref());
        if let Some(count) = self.pass(&format!("to {site}: {why}")) {
            let suppressed = (count > 0).then_some(count);
            tracing::warn!(%site, address, certificate, why, suppressed, "no connection to a site");
        }
    }

    /// A connection of somebody else was refused.
    pub(crate) fn refused(&self, stranger: &Stranger, why: &str) {
        let Stranger { host, site, certificate } = stranger;
        if let Some(count) = self.pass(&format!("from {host} {site:?}: {why}")) {
            let (address, site, certificate) = (host, site.map(display), certificate.as_deref());
            let suppressed = (count > 0).then_some(count);
            tracing::warn!(address, site, certificate, why, suppressed, "a connection was refused");
        }
    }

    /// The connection of a client ended. A client that goes away by itself is not worth a line.
    pub(crate) fn closed(&self, client: &Stranger, error: &io::Error) {
        if !matches!(error.kind(), io::ErrorKind::Other | io::ErrorKind::InvalidData) {
            return tracing::debug!(%error, "the connection of a client ended");
        }
        let (address, why) = (&client.host, error.to_string());
        // Numbers differ each time; the reason before them does not.
        let reason = why.split(':').next().unwrap_or_default();
        if let Some(count) = self.pass(&format!("closed {address}: {reason}")) {
            let suppressed = (count > 0).then_some(count);
            tracing::warn!(address, why, suppressed, "the connection of a client was closed");
        }
    }

    /// The system did not accept a connection, usually for lack of descriptors.
    pub(crate) fn not_accepted(&self, error: &io::Error) {
        if let Some(count) = self.pass(&format!("accept: {error}")) {
            let suppressed = (count > 0).then_some(count);
            tracing::warn!(%error, suppressed, "a connection was not accepted");
        }
    }

    /// How often this line was held back since it was last logged; `None` if it is held back now.
    fn pass(&self, line: &str) -> Option<u64> {
        self.state().limit.pass(line, clock::now())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
