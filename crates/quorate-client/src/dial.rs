//! Opens connections to sites: the first one, and then those that the client wants.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quorate_net::backoff::Backoff;
use quorate_net::clock::{self, Alarm};
use quorate_net::connection::{
    BoxedStream, FrameReader, FrameWriter, read_frame, split, write_frame,
};
use quorate_net::tls::Tls;
use quorate_session::client::{ClientId, ClientMachine, SiteChoice};
use quorate_session::limits;
use quorate_session::session::{Drift, Lease, Terms};
use quorate_wire::{ClientPacket, Decoder, Handshake, HandshakeReply, Who};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::{Client, Shared};
use crate::state::{Link, Wanted};
use crate::{Error, Options};

/// How long a site has to accept a connection at most.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A site that has not accepted the first connection by then is not waited for alone: the next is
/// tried beside it.
const NEXT_SITE_AFTER: Duration = Duration::from_millis(250);

/// A client that is connected to a site, and what the site said of its cluster.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
    pub(crate) addresses: Arc<[String]>,
}

/// Connects to a site that can be reached, in the current runtime.
pub(crate) async fn connect(options: Options) -> Result<Connected, Error> {
    let tls = options.tls.as_ref().map(Tls::read).transpose();
    let tls = tls.map_err(|error| Error::Refused(error.to_string()))?;
    let (me, addresses) = (draw_id()?, Arc::<[String]>::from(options.addresses));
    let dialer = Arc::new(Dialer { me, tls, addresses: Arc::clone(&addresses) });
    let first = FirstDial::new(Arc::clone(&dialer), options.timeout).run().await?;
    let (terms, sites, index) = (first.terms, first.sites, first.index);
    let alarm = Alarm::new().map_err(|error| Error::Unreachable(error.to_string()))?;
    let (now, seed) = (clock::now(), low_half(me.0 >> 64));
    let choice = SiteChoice::new(now, terms, addresses.len(), index, seed);
    let shared = Arc::new(Shared::new(ClientMachine::new(now, terms).with_sites(choice)));
    let (writer, reader) = first.split();
    let attempt = shared.watch_wanted().borrow().attempt;
    shared.on_up(attempt, Link::Socket(writer));
    tokio::spawn(Arc::clone(&shared).run(alarm));
    tokio::spawn(keep_connected(dialer, reader, Arc::clone(&shared)));
    Ok(Connected { client: Client::new(shared), lease: terms.lease.length(), sites, addresses })
}

/// A random number that identifies this client.
pub(crate) fn draw_id() -> Result<ClientId, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unreachable(error.to_string()))?;
    Ok(ClientId(u128::from_le_bytes(bytes)))
}

fn low_half(number: u128) -> u64 {
    u64::try_from(number & u128::from(u64::MAX)).expect("it is masked")
}

/// Opens connections.
#[derive(Debug)]
struct Dialer {
    me: ClientId,
    addresses: Arc<[String]>,
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

impl Dialed {
    fn split(self) -> (FrameWriter, FrameReader) {
        split(self.stream, self.decoder, limits::UNREAD_BYTES_SITE)
    }
}

impl Dialer {
    /// Connects to one site.
    async fn dial(&self, index: usize) -> io::Result<Dialed> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        timeout(HANDSHAKE_TIMEOUT, self.try_dial(index)).await.unwrap_or_else(|_| Err(late()))
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
                if sites > limits::SITES {
                    let most = limits::SITES;
                    let why = format!("it says it has {sites} sites; at most {most} are possible");
                    return Err(refused(why));
                }
                Ok(Dialed { stream, decoder, terms, sites, index })
            }
        }
    }
}

/// The first connection: to any site, the sooner the better. No lease is known yet.
///
/// Clients begin with different sites. One that does not answer at once does not delay the others,
/// and one that is merely slow still has the whole time.
struct FirstDial {
    dialer: Arc<Dialer>,
    end: Instant,
    /// How long to wait for a site before the next one is tried too.
    next_after: Duration,
    backoff: Backoff,
    /// The sites of this round that are still to be tried, the next one last.
    round: Vec<usize>,
    attempts: JoinSet<(usize, io::Result<Dialed>)>,
    /// What is known of each site.
    sites: Vec<Attempted>,
}

/// What is known of a site.
#[derive(Clone, Debug, Default)]
struct Attempted {
    /// Whether an attempt is under way.
    pending: bool,
    /// Why the last attempt that ended has failed.
    failure: Option<String>,
}

impl FirstDial {
    fn new(dialer: Arc<Dialer>, timeout: Duration) -> Self {
        let count = dialer.addresses.len();
        let part = timeout / u32::try_from(count.max(1) * 2).unwrap_or(u32::MAX);
        Self {
            dialer,
            end: Instant::now() + timeout,
            next_after: part.min(NEXT_SITE_AFTER),
            backoff: Backoff::new(Lease::default()), // the cluster's own is not known yet
            round: Vec::new(),
            attempts: JoinSet::new(),
            sites: vec![Attempted::default(); count],
        }
    }

    async fn run(mut self) -> Result<Dialed, Error> {
        if self.sites.is_empty() {
            return Err(Error::Unreachable("no address is given; give at least one".into()));
        }
        self.start_round();
        let mut next = Instant::now();
        loop {
            tokio::select! {
                biased;
                Some(done) = self.attempts.join_next() => match done {
                    Ok((_, Ok(dialed))) => return Ok(dialed),
                    Ok((site, Err(error))) => {
                        self.sites[site] =
                            Attempted { pending: false, failure: Some(error.to_string()) };
                        if !self.round.is_empty() {
                            next = Instant::now();
                        }
                    }
                    Err(error) => return Err(Error::Unreachable(error.to_string())),
                },
                () = sleep_until(next.min(self.end)), if next < self.end => {
                    next = Instant::now() + self.try_next();
                }
                () = sleep_until(self.end) => return Err(Error::Unreachable(self.problem())),
            }
        }
    }

    /// Begins another round with the same site, which is not the same for all clients.
    fn start_round(&mut self) {
        let count = self.sites.len();
        let first = usize::try_from(self.dialer.me.0 % count as u128).expect("it is below");
        self.round = (0..count).map(|place| (first + place) % count).rev().collect();
    }

    /// Tries the next site; returns how long to wait before the one after it.
    fn try_next(&mut self) -> Duration {
        if let Some(site) = self.round.pop()
            && !std::mem::replace(&mut self.sites[site].pending, true)
        {
            let dialer = Arc::clone(&self.dialer);
            self.attempts.spawn(async move { (site, dialer.dial(site).await) });
        }
        if !self.round.is_empty() {
            return self.next_after;
        }
        self.start_round();
        self.backoff.next_delay()
    }

    /// What is wrong with each site.
    fn problem(&self) -> String {
        let silent = || "it does not answer".to_owned();
        let sites = self.dialer.addresses.iter().zip(&self.sites);
        let each = sites.map(|(address, site)| {
            format!("{address}: {}", site.failure.clone().unwrap_or_else(silent))
        });
        each.collect::<Vec<_>>().join("; ")
    }
}

/// Passes the site's packets to the client, on one connection after another, as the client wants.
async fn keep_connected(dialer: Arc<Dialer>, first: FrameReader, client: Arc<Shared>) {
    let mut wanted = client.watch_wanted();
    let mut open = Some(first);
    loop {
        let now = *wanted.borrow_and_update();
        if now.ended {
            return;
        }
        tokio::select! {
            biased;
            changed = wanted.changed() => if changed.is_err() { return },
            () = use_connection(&dialer, now, open.take(), &client) => {
                // The client knows how it went; it may want to wait before it tries again.
                if wanted.changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Makes the connection that the client wants, unless it is open already, and reads until it ends.
async fn use_connection(
    dialer: &Dialer,
    wanted: Wanted,
    open: Option<FrameReader>,
    client: &Shared,
) {
    let Wanted { attempt, site, .. } = wanted;
    let mut reader = match (open, site) {
        (Some(open), _) => open,
        (None, None) => return,
        (None, Some(site)) => match dialer.dial(site).await {
            Ok(dialed) => {
                let (writer, reader) = dialed.split();
                if !client.on_up(attempt, Link::Socket(writer)) {
                    return;
                }
                reader
            }
            Err(error) => {
                tracing::debug!(address = %dialer.addresses[site], %error, "no connection");
                return client.on_dial_failed(attempt, site);
            }
        },
    };
    if let Err(error) = read_packets(&mut reader, attempt, client).await {
        tracing::debug!(%error, "the connection ended");
    }
    client.on_down(attempt);
}

async fn read_packets(reader: &mut FrameReader, attempt: u64, client: &Shared) -> io::Result<()> {
    while let Some(packets) = reader.read::<ClientPacket>().await? {
        if !client.on_packets(attempt, packets) {
            break;
        }
    }
    Ok(())
}
