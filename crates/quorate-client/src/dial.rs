//! Connections to sites: opened, and opened again when they end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quorate_net::clock::Alarm;
use quorate_net::link::{BoxedStream, part, read_one, write_one};
use quorate_net::tls::Tls;
use quorate_session::client::ClientId;
use quorate_session::session::{Drift, Lease, Terms};
use quorate_wire::{Answer, Decoder, Greeting, Who};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, sleep, timeout};

use crate::client::{Client, Link, Shared};
use crate::{Error, Options};

/// How long a site has to answer a greeting.
const GREETING: Duration = Duration::from_secs(5);

/// How long a site has to let us in, if there are others to try.
const TURN: Duration = Duration::from_secs(2);

/// A client of a site that was reached, and what that said of its cluster.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
}

/// Connects to the first site that can be reached, in the runtime we are in.
pub(crate) async fn connect(options: Options) -> Result<Connected, Error> {
    let tls = options.tls.as_ref().map(Tls::read).transpose();
    let tls = tls.map_err(|error| Error::Refused(error.to_string()))?;
    let dialer = Dialer { me: draw_id()?, tls, addresses: options.addresses };
    let end = Instant::now() + options.patience;
    let first = loop {
        match dialer.dial_any().await {
            Ok(first) => break first,
            Err(error) if Instant::now() >= end => {
                return Err(Error::Unreachable(error.to_string()));
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    let (lease, sites) = (first.terms.lease.length(), first.sites);
    let alarm = Alarm::new().map_err(|error| Error::Unreachable(error.to_string()))?;
    let shared = Arc::new(Shared::new(first.terms));
    tokio::spawn(Arc::clone(&shared).keep_time(alarm));
    tokio::spawn(dialer.keep(first, Arc::clone(&shared)));
    Ok(Connected { client: Client::new(shared), lease, sites })
}

/// A number that no other client has.
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

/// A connection on which we are welcome.
struct Dialed {
    stream: BoxedStream,
    decoder: Decoder,
    terms: Terms,
    sites: usize,
    /// Which of the addresses it is.
    place: usize,
}

impl Dialer {
    /// The first site that can be reached and wants us.
    async fn dial_any(&self) -> io::Result<Dialed> {
        let mut problem = io::Error::new(io::ErrorKind::InvalidInput, "no address is given");
        for place in 0..self.addresses.len() {
            match self.dial(place).await {
                Ok(dialed) => return Ok(dialed),
                Err(error) => {
                    let what = format!("{}: {error}", self.addresses[place]);
                    problem = io::Error::new(error.kind(), what);
                }
            }
        }
        Err(problem)
    }

    /// One site, if it lets us in soon: a machine that hangs must not keep us from the next.
    async fn dial(&self, place: usize) -> io::Result<Dialed> {
        let limit = if self.addresses.len() > 1 { TURN } else { GREETING };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        timeout(limit, self.greet(place)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn greet(&self, place: usize) -> io::Result<Dialed> {
        let address = &self.addresses[place];
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
        write_one(&mut stream, &Greeting::new(Who::Client(self.me))).await?;
        let mut decoder = Decoder::default();
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        match read_one(&mut stream, &mut decoder, GREETING).await? {
            Answer::Refused(why) => Err(refused(why.to_string())),
            Answer::Welcome { badge, lease, drift, sites, .. } => {
                let lease = Lease::new(lease).map_err(|error| refused(error.to_string()))?;
                let drift = Drift::new(drift).map_err(|error| refused(error.to_string()))?;
                let terms = Terms::new(badge, lease, drift);
                let sites = usize::try_from(sites).unwrap_or(usize::MAX);
                Ok(Dialed { stream, decoder, terms, sites, place })
            }
        }
    }

    /// Carries what is said, on one connection after another: the same site first, then any.
    async fn keep(self, first: Dialed, client: Arc<Shared>) {
        let mut dialed = first;
        loop {
            let (place, lease) = (dialed.place, dialed.terms.lease);
            let (line, ear) = part(dialed.stream);
            if !client.on_up(Link::Socket(line)) {
                return;
            }
            if let Err(error) = ear.hear(dialed.decoder, |said| client.on_packets(said)).await {
                tracing::debug!(%error, "the connection ended");
            }
            if !client.on_down() {
                return;
            }
            let mut wait = Duration::ZERO;
            dialed = loop {
                sleep(wait).await;
                let again = self.dial(place).await;
                match if again.is_ok() { again } else { self.dial_any().await } {
                    Ok(dialed) => break dialed,
                    Err(_) => {
                        wait = (wait * 2).clamp(Duration::from_millis(50), lease.length() / 6);
                    }
                }
                if client.is_ended() {
                    return;
                }
            };
        }
    }
}
