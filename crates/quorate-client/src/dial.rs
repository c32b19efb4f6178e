//! Opens a connection to a site, and opens it again when it ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quorate_net::backoff::Backoff;
use quorate_net::clock::Alarm;
use quorate_net::connection::{BoxedStream, read_frame, split, write_frame};
use quorate_net::tls::Tls;
use quorate_session::client::ClientId;
use quorate_session::session::{Drift, Lease, Terms};
use quorate_wire::{ClientPacket, Decoder, Handshake, HandshakeReply, Who};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::client::{Client, Link, Shared};
use crate::{Error, Options};

/// How long a site has for its part of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a site has to accept a connection, if there are others to try.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// A client that is connected to a site, and what the site said of its cluster.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
}

/// Connects to the first site that can be reached, in the current runtime.
pub(crate) async fn connect(options: Options) -> Result<Connected, Error> {
    let tls = options.tls.as_ref().map(Tls::read).transpose();
    let tls = tls.map_err(|error| Error::Refused(error.to_string()))?;
    let dialer = Dialer { me: draw_id()?, tls, addresses: options.addresses };
    let end = Instant::now() + options.timeout;
    let mut backoff = Backoff::new(Lease::default()); // the cluster's own is not known yet
    let first = loop {
        match dialer.dial_any().await {
            Ok(first) => break first,
            Err(error) if Instant::now() >= end => {
                return Err(Error::Unreachable(error.to_string()));
            }
            Err(_) => sleep_until(end.min(Instant::now() + backoff.next_delay())).await,
        }
    };
    let (lease, sites) = (first.terms.lease.length(), first.sites);
    let alarm = Alarm::new().map_err(|error| Error::Unreachable(error.to_string()))?;
    let shared = Arc::new(Shared::new(first.terms));
    tokio::spawn(Arc::clone(&shared).run(alarm));
    tokio::spawn(dialer.keep_connected(first, Arc::clone(&shared)));
    Ok(Connected { client: Client::new(shared), lease, sites })
}

/// A random number that identifies this client.
pub(crate) fn draw_id() -> Result<ClientId, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unreachable(error.to_string()))?;
    Ok(ClientId(u128::from_le_bytes(bytes)))
}

/// Opens connections.
#[derive(Debug)]
struct Dialer {
    me: ClientId,
    addresses: Vec<String>,
    tls: Option<Tls>,
}

/// A connection after its handshake.
struct Dialed {
    stream: BoxedStream,
    decoder: Decoder,
    terms: Terms,
    sites: usize,
    /// The index of its address.
    index: usize,
}

impl Dialer {
    /// Connects to the first site that accepts the connection.
    async fn dial_any(&self) -> io::Result<Dialed> {
        let mut problem =
            io::Error::new(io::ErrorKind::InvalidInput, "no address is given; give at least one");
        for index in 0..self.addresses.len() {
            match self.dial(index).await {
                Ok(dialed) => return Ok(dialed),
                Err(error) => {
                    let what = format!("{}: {error}", self.addresses[index]);
                    problem = io::Error::new(error.kind(), what);
                }
            }
        }
        Err(problem)
    }

    /// Connects to one site, with a timeout: a machine that hangs must not delay the next attempt.
    async fn dial(&self, index: usize) -> io::Result<Dialed> {
        let limit = if self.addresses.len() > 1 { ATTEMPT_TIMEOUT } else { HANDSHAKE_TIMEOUT };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        timeout(limit, self.try_dial(index)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn try_dial(&self, index: usize) -> io::Result<Dialed> {
        let address = &self.addresses[index];
        let mut stream: BoxedStream = if address.starts_with('/') {
            Box::new(UnixStream::connect(address).await?)
        } else {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            match &self.tls {
                None => Box::new(stream),
                Some(tls) => Box::new(tls.connect(None, stream).await?),
            }
        };
        write_frame(&mut stream, &Handshake::new(&Who::Client(self.me))).await?;
        let mut decoder = Decoder::default();
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        match read_frame(&mut stream, &mut decoder, HANDSHAKE_TIMEOUT).await? {
            HandshakeReply::Refused(why) => Err(refused(why.seen_from_there().to_string())),
            HandshakeReply::Welcome { cluster_id, lease, drift, sites, .. } => {
                let lease = Lease::new(lease).map_err(|error| refused(error.to_string()))?;
                let drift = Drift::new(drift).map_err(|error| refused(error.to_string()))?;
                let terms = Terms::new(cluster_id, lease, drift);
                let sites = usize::try_from(sites).unwrap_or(usize::MAX);
                Ok(Dialed { stream, decoder, terms, sites, index })
            }
        }
    }

    /// Passes the site's packets to the client, on one connection after another: to the same site
    /// if it can be reached, else to any.
    async fn keep_connected(self, first: Dialed, client: Arc<Shared>) {
        let mut dialed = first;
        loop {
            let (index, lease) = (dialed.index, dialed.terms.lease);
            let (writer, reader) = split(dialed.stream);
            if !client.on_up(Link::Socket(writer)) {
                return;
            }
            let on_packets = |packets: Vec<ClientPacket>| client.on_packets(packets);
            if let Err(error) = reader.read_all(dialed.decoder, on_packets).await {
                tracing::debug!(%error, "the connection ended");
            }
            if !client.on_down() {
                return;
            }
            let Some(next) = self.redial(index, lease, &client).await else { return };
            dialed = next;
        }
    }

    /// Connects again: at once, and after failures with a growing delay. `None` if the client ends
    /// meanwhile.
    async fn redial(&self, index: usize, lease: Lease, client: &Shared) -> Option<Dialed> {
        let mut backoff = Backoff::new(lease);
        loop {
            let same = self.dial(index).await;
            if let Ok(dialed) = if same.is_ok() { same } else { self.dial_any().await } {
                return Some(dialed);
            }
            if client.is_ended() {
                return None;
            }
            sleep(backoff.next_delay()).await;
        }
    }
}
