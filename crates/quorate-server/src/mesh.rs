//! Connections: those this site opens to others, and those it accepts.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate_net::link::{BoxedStream, part, read_one, write_one};
use quorate_net::tls::{Tls, is_site};
use quorate_session::SiteId;
use quorate_session::session::Terms;
use quorate_wire::{Answer, ClientWord, Decoder, Greeting, Refusal, Who};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{sleep, timeout};

use crate::core::{Event, SiteWord};

/// How long a stranger has to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// What all connections of a site share.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    pub(crate) me: SiteId,
    pub(crate) addresses: Arc<[String]>,
    pub(crate) terms: Terms,
    pub(crate) tls: Option<Tls>,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) numbers: Arc<AtomicU64>,
}

impl Mesh {
    /// Keeps a connection to `peer`, opened anew whenever it ends: at once, then ever less often.
    pub(crate) async fn keep(self, peer: SiteId) {
        let lease = self.terms.lease.length();
        let (least, most) = (Duration::from_millis(50), lease / 6);
        let mut wait = Duration::ZERO;
        loop {
            match self.dial(peer).await {
                Ok(()) => wait = Duration::ZERO,
                Err(error) => {
                    tracing::debug!(site = %peer, %error, "no connection");
                    wait = (wait * 2).clamp(least, most);
                }
            }
            sleep(wait).await;
        }
    }

    /// Uses a connection in memory for as long as it lasts.
    pub(crate) async fn keep_in_memory(self, peer: SiteId, link: DuplexStream) {
        let done = self.carry_site(Box::new(link), Decoder::default(), peer).await;
        drop(done); // the other site has stopped
    }

    async fn dial(&self, peer: SiteId) -> io::Result<()> {
        let stream = TcpStream::connect(&self.addresses[peer.index()]).await?;
        stream.set_nodelay(true)?;
        let stream: BoxedStream = match &self.tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect(Some(peer), stream).await?),
        };
        self.greet(stream, peer).await
    }

    /// Says who we are, and goes on if we are welcome.
    async fn greet(&self, mut stream: BoxedStream, peer: SiteId) -> io::Result<()> {
        let who = Who::Site { badge: self.terms.badge, from: self.me, to: peer };
        write_one(&mut stream, &Greeting::new(who)).await?;
        let mut decoder = Decoder::default();
        match read_one(&mut stream, &mut decoder, GREETING).await? {
            Answer::Welcome { .. } => self.carry_site(stream, decoder, peer).await,
            Answer::Refused(why) => {
                tracing::warn!(site = %peer, %why, "refused");
                Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_string()))
            }
        }
    }

    /// Accepts connections for ever.
    pub(crate) async fn accept(self, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let mesh = self.clone();
                    tokio::spawn(async move { mesh.welcome_tcp(stream).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(Duration::from_millis(50)).await; // too many files, usually
                }
            }
        }
    }

    /// Accepts clients of this machine for ever.
    pub(crate) async fn accept_unix(self, listener: UnixListener) {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                let mesh = self.clone();
                tokio::spawn(async move { mesh.welcome(Box::new(stream), &[]).await });
            } else {
                sleep(Duration::from_millis(50)).await;
            }
        }
    }

    async fn welcome_tcp(self, stream: TcpStream) {
        if let Err(error) = self.try_welcome_tcp(stream).await {
            tracing::debug!(%error, "a connection ended");
        }
    }

    /// Without TLS, a caller may be any site; with TLS, one that its certificate names.
    async fn try_welcome_tcp(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let sites = SiteId::all(self.addresses.len());
        let Some(tls) = &self.tls else {
            let sites: Vec<SiteId> = sites.collect();
            return self.welcome(Box::new(stream), &sites).await;
        };
        let accepted = timeout(GREETING, tls.accept(stream)).await;
        let stream = accepted.map_err(|_| io::ErrorKind::TimedOut)??;
        let sites: Vec<SiteId> = sites.filter(|&site| is_site(&stream, site)).collect();
        self.welcome(Box::new(stream), &sites).await
    }

    /// Hears who opened a connection, and goes on if it is welcome: a client, or one of `sites`.
    async fn welcome(&self, mut stream: BoxedStream, sites: &[SiteId]) -> io::Result<()> {
        let mut decoder = Decoder::default();
        let greeting: Greeting = read_one(&mut stream, &mut decoder, GREETING).await?;
        if let Some(why) = self.problem(&greeting, sites) {
            tracing::warn!(%why, "a connection was refused");
            write_one(&mut stream, &Answer::Refused(why)).await?;
            return Ok(());
        }
        let answer = Answer::Welcome {
            badge: self.terms.badge,
            site: self.me,
            sites: u32::try_from(self.addresses.len()).expect("a cluster has few sites"),
            lease: self.terms.lease.length(),
            drift: self.terms.drift.parts(),
        };
        write_one(&mut stream, &answer).await?;
        match greeting.who {
            Who::Site { from, .. } => self.carry_site(stream, decoder, from).await,
            Who::Client(id) => {
                let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                let (line, ear) = part(stream);
                drop(self.events.send(Event::ClientUp(id, number, line)));
                let events = &self.events;
                let said = |words: Vec<ClientWord>| {
                    events.send(Event::ClientSaid(id, number, words)).is_ok()
                };
                let done = ear.hear(decoder, said).await;
                drop(self.events.send(Event::ClientDown(id, number)));
                done
            }
        }
    }

    fn problem(&self, greeting: &Greeting, sites: &[SiteId]) -> Option<Refusal> {
        if let Some(why) = greeting.problem() {
            return Some(why);
        }
        let Who::Site { badge, from, to } = &greeting.who else { return None };
        let ours = self.terms.badge;
        if badge.cluster != ours.cluster {
            Some(Refusal::OtherCluster)
        } else if badge.epoch != ours.epoch {
            Some(Refusal::OtherEpoch(ours.epoch))
        } else if *to != self.me {
            Some(Refusal::OtherSite(self.me))
        } else if from.index() >= self.addresses.len() || *from == self.me {
            Some(Refusal::NoSuchSite(*from))
        } else if !sites.contains(from) {
            Some(Refusal::OtherCertificate)
        } else {
            None
        }
    }

    async fn carry_site(
        &self,
        stream: BoxedStream,
        decoder: Decoder,
        peer: SiteId,
    ) -> io::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (line, ear) = part(stream);
        drop(self.events.send(Event::PeerUp(peer, number, line)));
        let events = &self.events;
        let said = |words: Vec<SiteWord>| events.send(Event::PeerSaid(peer, number, words)).is_ok();
        let done = ear.hear(decoder, said).await;
        drop(self.events.send(Event::PeerDown(peer, number)));
        done
    }
}
