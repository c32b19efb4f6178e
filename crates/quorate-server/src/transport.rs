//! Opens connections to other sites, and accepts those of sites and clients.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate_net::backoff::Backoff;
use quorate_net::connection::{BoxedStream, read_frame, split, write_frame};
use quorate_net::tls::{Tls, is_site};
use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::Terms;
use quorate_site::SitePacket;
use quorate_wire::{ClientPacket, Decoder, Handshake, HandshakeReply, Refusal, Who};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep, timeout};

use crate::core::Event;

/// How long the other end has for its part of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a connection could not be accepted, usually for lack of descriptors.
const ACCEPT_DELAY: Duration = Duration::from_millis(50);

/// What all connections of a site share.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) me: SiteId,
    pub(crate) addresses: Arc<[String]>,
    pub(crate) terms: Terms,
    pub(crate) tls: Option<Tls>,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) numbers: Arc<AtomicU64>,
}

impl Transport {
    /// Keeps a connection to `peer`. When it ends it is opened again at once, and after failures
    /// with a growing delay.
    pub(crate) async fn keep_connected(self, peer: SiteId) {
        let mut backoff = Backoff::new(self.terms.lease);
        loop {
            let began = Instant::now();
            match self.dial(peer).await {
                Ok(()) if began.elapsed() > self.terms.lease.length() => backoff.reset(),
                // It was refused, or broke at once.
                Ok(()) => sleep(backoff.next_delay()).await,
                Err(error) => {
                    tracing::debug!(site = %peer, %error, "no connection");
                    sleep(backoff.next_delay()).await;
                }
            }
        }
    }

    /// Uses a connection in memory for as long as it lasts.
    pub(crate) async fn run_in_memory(self, peer: SiteId, stream: DuplexStream) {
        let done = self.run_peer(Box::new(stream), Decoder::default(), peer).await;
        drop(done); // the other site has stopped
    }

    /// Opens a connection to `peer`, and uses it until it ends.
    async fn dial(&self, peer: SiteId) -> io::Result<()> {
        let stream = TcpStream::connect(&self.addresses[peer.index()]).await?;
        stream.set_nodelay(true)?;
        let mut stream: BoxedStream = match &self.tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect(Some(peer), stream).await?),
        };
        let who = Who::Site { cluster_id: self.terms.cluster_id, from: self.me, to: peer };
        write_frame(&mut stream, &Handshake::new(who)).await?;
        let mut decoder = Decoder::default();
        match read_frame(&mut stream, &mut decoder, HANDSHAKE_TIMEOUT).await? {
            HandshakeReply::Welcome { .. } => self.run_peer(stream, decoder, peer).await,
            HandshakeReply::Refused(why) => {
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
                    let transport = self.clone();
                    tokio::spawn(async move { transport.serve_tcp(stream).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(ACCEPT_DELAY).await;
                }
            }
        }
    }

    /// Accepts clients on this machine for ever.
    pub(crate) async fn accept_unix(self, listener: UnixListener) {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                let transport = self.clone();
                tokio::spawn(async move { transport.serve(Box::new(stream), &[]).await });
            } else {
                sleep(ACCEPT_DELAY).await;
            }
        }
    }

    async fn serve_tcp(self, stream: TcpStream) {
        if let Err(error) = self.try_serve_tcp(stream).await {
            tracing::debug!(%error, "a connection ended");
        }
    }

    /// Without TLS the other end may be any site; with TLS, a site that its certificate names.
    async fn try_serve_tcp(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let sites = SiteId::all(self.addresses.len());
        let Some(tls) = &self.tls else {
            let sites: Vec<SiteId> = sites.collect();
            return self.serve(Box::new(stream), &sites).await;
        };
        let accepted = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await;
        let stream = accepted.map_err(|_| io::ErrorKind::TimedOut)??;
        let sites: Vec<SiteId> = sites.filter(|&site| is_site(&stream, site)).collect();
        self.serve(Box::new(stream), &sites).await
    }

    /// Reads the handshake of a client or of one of `sites`, and uses the connection until it ends.
    async fn serve(&self, mut stream: BoxedStream, sites: &[SiteId]) -> io::Result<()> {
        let mut decoder = Decoder::default();
        let handshake: Handshake = read_frame(&mut stream, &mut decoder, HANDSHAKE_TIMEOUT).await?;
        if let Some(why) = self.refusal(&handshake, sites) {
            tracing::warn!(%why, "a connection was refused");
            write_frame(&mut stream, &HandshakeReply::Refused(why)).await?;
            return Ok(());
        }
        let reply = HandshakeReply::Welcome {
            cluster_id: self.terms.cluster_id,
            site: self.me,
            sites: u32::try_from(self.addresses.len()).expect("a cluster has few sites"),
            lease: self.terms.lease.length(),
            drift: self.terms.drift.parts(),
        };
        write_frame(&mut stream, &reply).await?;
        match handshake.who {
            Who::Site { from, .. } => self.run_peer(stream, decoder, from).await,
            Who::Client(id) => self.run_client(stream, decoder, id).await,
        }
    }

    fn refusal(&self, handshake: &Handshake, sites: &[SiteId]) -> Option<Refusal> {
        if let Some(why) = handshake.refusal() {
            return Some(why);
        }
        let Who::Site { cluster_id, from, to } = &handshake.who else { return None };
        let ours = self.terms.cluster_id;
        if cluster_id.cluster != ours.cluster {
            Some(Refusal::OtherCluster)
        } else if cluster_id.epoch != ours.epoch {
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

    /// Passes the packets of a peer to the site until the connection ends.
    async fn run_peer(
        &self,
        stream: BoxedStream,
        decoder: Decoder,
        peer: SiteId,
    ) -> io::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (writer, reader) = split(stream);
        drop(self.events.send(Event::PeerUp(peer, number, writer)));
        let on_packets = |packets: Vec<SitePacket>| {
            self.events.send(Event::PeerPackets(peer, number, packets)).is_ok()
        };
        let done = reader.read_all(decoder, on_packets).await;
        drop(self.events.send(Event::PeerDown(peer, number)));
        done
    }

    /// Passes the packets of a client to the site until the connection ends.
    async fn run_client(
        &self,
        stream: BoxedStream,
        decoder: Decoder,
        id: ClientId,
    ) -> io::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (writer, reader) = split(stream);
        drop(self.events.send(Event::ClientUp(id, number, writer)));
        let on_packets = |packets: Vec<ClientPacket>| {
            self.events.send(Event::ClientPackets(id, number, packets)).is_ok()
        };
        let done = reader.read_all(decoder, on_packets).await;
        drop(self.events.send(Event::ClientDown(id, number)));
        done
    }
}
