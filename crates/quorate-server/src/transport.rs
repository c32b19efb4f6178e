//! Opens connections to other sites, and accepts those of sites and clients.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate_net::backoff::Backoff;
use quorate_net::connection::{BoxedStream, read_frame, split, write_frame};
use quorate_net::tls::{Tls, TlsProblem, close_gently, is_site, peer_names};
use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::Terms;
use quorate_site::SitePacket;
use quorate_wire::{
    ClientPacket, Configuration, Decoder, Handshake, HandshakeReply, Refusal, Who, WireError,
    encode,
};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep, timeout};

use crate::connection_log::{ConnectionLog, Stranger};
use crate::core::Event;

/// How long the other end has for its part of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection may take to open: the system would wait for minutes.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a connection could not be accepted, usually for lack of descriptors.
const ACCEPT_DELAY: Duration = Duration::from_millis(50);

/// What all connections of a site share.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) me: SiteId,
    pub(crate) addresses: Arc<[String]>,
    pub(crate) terms: Terms,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) tls: Option<Tls>,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) numbers: Arc<AtomicU64>,
    pub(crate) log: Arc<ConnectionLog>,
}

/// A connection of somebody else, before its handshake.
struct Accepted {
    stream: BoxedStream,
    stranger: Stranger,
    /// The sites that it may be: without TLS any, else those that its certificate names.
    sites: Vec<SiteId>,
}

impl Transport {
    /// Keeps a connection to `peer`. When it ends it is opened again at once, and after failures,
    /// or if it was short, with a growing delay.
    pub(crate) async fn keep_connected(self, peer: SiteId) {
        let mut backoff = Backoff::new(self.terms.lease);
        let address = &self.addresses[peer.index()];
        loop {
            match self.dial(peer).await {
                Ok((stream, decoder)) => {
                    let opened = Instant::now();
                    self.run_site(stream, decoder, peer).await;
                    if opened.elapsed() >= self.terms.lease.length() {
                        backoff.reset();
                        continue;
                    }
                }
                Err(error) => self.log.unreachable(peer, address, &error),
            }
            sleep(backoff.next_delay()).await;
        }
    }

    /// Uses a connection in memory for as long as it lasts.
    pub(crate) async fn run_in_memory(self, peer: SiteId, stream: DuplexStream) {
        let done = self.run_peer(Box::new(stream), Decoder::default(), peer).await;
        drop(done); // the other site has stopped
    }

    /// Opens a connection to `peer`.
    async fn dial(&self, peer: SiteId) -> io::Result<(BoxedStream, Decoder)> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        timeout(DIAL_TIMEOUT, self.try_dial(peer)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn try_dial(&self, peer: SiteId) -> io::Result<(BoxedStream, Decoder)> {
        let stream = TcpStream::connect(&self.addresses[peer.index()]).await?;
        stream.set_nodelay(true)?;
        let mut stream: BoxedStream = match &self.tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect(Some(peer), stream).await?),
        };
        let configuration = (*self.configuration).clone();
        let who = Who::Site { from: self.me, to: peer, configuration };
        write_frame(&mut stream, &Handshake::new(&who)).await?;
        let mut decoder = Decoder::default();
        match read_frame(&mut stream, &mut decoder, HANDSHAKE_TIMEOUT).await? {
            HandshakeReply::Welcome { .. } => Ok((stream, decoder)),
            HandshakeReply::Refused(why) => {
                let why = format!("it refuses the connection: {}", why.seen_from_there());
                Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
            }
        }
    }

    /// Accepts connections for ever.
    pub(crate) async fn accept(self, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    let transport = self.clone();
                    tokio::spawn(async move { transport.serve_tcp(stream, address.ip()).await });
                }
                Err(error) => {
                    self.log.not_accepted(&error);
                    sleep(ACCEPT_DELAY).await;
                }
            }
        }
    }

    /// Accepts clients on this machine for ever.
    pub(crate) async fn accept_unix(self, listener: UnixListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let transport = self.clone();
                    let stranger = Stranger { host: "unix".into(), site: None, certificate: None };
                    let stream = Box::new(stream);
                    let accepted = Accepted { stream, stranger, sites: Vec::new() };
                    tokio::spawn(async move { transport.serve(accepted).await });
                }
                Err(error) => {
                    self.log.not_accepted(&error);
                    sleep(ACCEPT_DELAY).await;
                }
            }
        }
    }

    async fn serve_tcp(self, stream: TcpStream, host: IpAddr) {
        let host = host.to_canonical().to_string();
        let mut stranger = Stranger { host, site: None, certificate: None };
        match self.secure(stream, &mut stranger).await {
            Ok(Some((stream, sites))) => self.serve(Accepted { stream, stranger, sites }).await,
            Ok(None) => {}
            Err(error) => self.on_failed_handshake(&stranger, &error),
        }
    }

    /// Does the TLS handshake, if TLS is used. `None` if the other end had to be refused.
    async fn secure(
        &self,
        stream: TcpStream,
        stranger: &mut Stranger,
    ) -> io::Result<Option<(BoxedStream, Vec<SiteId>)>> {
        stream.set_nodelay(true)?;
        let sites = SiteId::all(self.addresses.len());
        let starts = timeout(HANDSHAKE_TIMEOUT, StartsWith::peek(&stream)).await;
        match (&self.tls, starts.map_err(|_| io::ErrorKind::TimedOut)??) {
            (None, StartsWith::Tls) => self.refuse_for_tls(stream, stranger, false).await?,
            (Some(_), StartsWith::Handshake) => self.refuse_for_tls(stream, stranger, true).await?,
            (Some(_), StartsWith::Unknown) => {
                self.log.refused(stranger, &Refusal::NotQuorate.to_string());
            }
            (None, _) => return Ok(Some((Box::new(stream), sites.collect()))),
            (Some(tls), StartsWith::Tls) => {
                let accepted = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await;
                let stream = accepted.map_err(|_| io::ErrorKind::TimedOut)??;
                stranger.certificate = peer_names(&stream);
                let sites = sites.filter(|&site| is_site(&stream, site)).collect();
                return Ok(Some((Box::new(stream), sites)));
            }
        }
        Ok(None)
    }

    /// Tells the other end, in plain bytes, that only one of the two uses TLS.
    async fn refuse_for_tls(
        &self,
        mut stream: TcpStream,
        stranger: &Stranger,
        here: bool,
    ) -> io::Result<()> {
        let why = Refusal::NeedsTls { here };
        self.log.refused(stranger, &why.to_string());
        let mut bytes = Vec::new();
        encode(&HandshakeReply::Refused(why), &mut bytes).map_err(io::Error::other)?;
        stream.write_all(&bytes).await?;
        close_gently(stream).await;
        Ok(())
    }

    /// Reads the handshake of a client or of a site, and uses the connection until it ends.
    async fn serve(&self, accepted: Accepted) {
        let Accepted { mut stream, mut stranger, sites } = accepted;
        let mut decoder = Decoder::default();
        match self.shake_hands(&mut stream, &mut decoder, &mut stranger, &sites).await {
            Ok(Some(Who::Site { from, .. })) => self.run_site(stream, decoder, from).await,
            Ok(Some(Who::Client(id))) => {
                if let Err(error) = self.run_client(stream, decoder, id).await {
                    tracing::debug!(%error, "the connection of a client ended");
                }
            }
            Ok(None) => {}
            Err(error) => self.on_failed_handshake(&stranger, &error),
        }
    }

    /// Logs why there was no handshake, unless the other end went away by itself.
    fn on_failed_handshake(&self, stranger: &Stranger, error: &io::Error) {
        if let Some(TlsProblem { why, certificate }) = TlsProblem::of(error) {
            let certificate = certificate.clone();
            self.log.refused(&Stranger { certificate, ..stranger.clone() }, why);
        } else if error.kind() == io::ErrorKind::InvalidData {
            self.log.refused(stranger, &Refusal::NotQuorate.to_string());
        } else {
            tracing::debug!(%error, "a connection ended before its handshake");
        }
    }

    /// Answers the first frame. `None` if the other end had to be refused.
    async fn shake_hands(
        &self,
        stream: &mut BoxedStream,
        decoder: &mut Decoder,
        stranger: &mut Stranger,
        sites: &[SiteId],
    ) -> io::Result<Option<Who>> {
        let handshake: Handshake = read_frame(stream, decoder, HANDSHAKE_TIMEOUT).await?;
        let (version, who) = match self.accepts(&handshake, sites, stranger)? {
            Ok(accepted) => accepted,
            Err(why) => {
                self.log.refused(stranger, &why.to_string());
                write_frame(stream, &HandshakeReply::Refused(why)).await?;
                return Ok(None);
            }
        };
        let reply = HandshakeReply::Welcome {
            version,
            cluster_id: self.terms.cluster_id,
            site: self.me,
            sites: u32::try_from(self.addresses.len()).expect("a cluster has few sites"),
            lease: self.terms.lease.length(),
            drift: self.terms.drift.parts(),
        };
        write_frame(stream, &reply).await?;
        Ok(Some(who))
    }

    /// The version and the other end of a connection; or why it is refused.
    fn accepts(
        &self,
        handshake: &Handshake,
        sites: &[SiteId],
        stranger: &mut Stranger,
    ) -> io::Result<Result<(u32, Who), Refusal>> {
        let version = match handshake.version() {
            Ok(version) => version,
            Err(why) => return Ok(Err(why)),
        };
        let invalid = |error: WireError| io::Error::new(io::ErrorKind::InvalidData, error);
        let who = handshake.who().map_err(invalid)?;
        if let Who::Site { from, .. } = &who {
            stranger.site = Some(*from);
        }
        Ok(match self.refusal(&who, sites) {
            Some(why) => Err(why),
            None => Ok((version, who)),
        })
    }

    fn refusal(&self, who: &Who, sites: &[SiteId]) -> Option<Refusal> {
        let Who::Site { configuration, from, to } = who else { return None };
        let differences = self.configuration.differences(configuration);
        if !differences.is_empty() {
            Some(Refusal::OtherConfiguration(differences))
        } else if *to != self.me {
            Some(Refusal::OtherSite { reached: self.me, wanted: *to })
        } else if from.index() >= self.addresses.len() || *from == self.me {
            Some(Refusal::NoSuchSite(*from))
        } else if !sites.contains(from) {
            Some(Refusal::OtherCertificate(*from))
        } else {
            None
        }
    }

    /// The same as [`Transport::run_peer`], and the log says so.
    async fn run_site(&self, stream: BoxedStream, decoder: Decoder, peer: SiteId) {
        let address = &self.addresses[peer.index()];
        self.log.up(peer, address);
        let end = self.run_peer(stream, decoder, peer).await;
        self.log.down(peer, address, &end);
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

/// How a connection starts.
enum StartsWith {
    /// The first frame of quorate.
    Handshake,
    /// A TLS handshake.
    Tls,
    /// Anything else, or too little to tell.
    Unknown,
}

impl StartsWith {
    /// Looks at the first bytes without taking them.
    async fn peek(stream: &TcpStream) -> io::Result<Self> {
        let mut bytes = [0; Handshake::START];
        let count = stream.peek(&mut bytes).await?;
        let bytes = &bytes[..count];
        if count == 0 {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else if Handshake::is_start(bytes) {
            Ok(Self::Handshake)
        } else if bytes[0] == TLS_HANDSHAKE {
            Ok(Self::Tls)
        } else {
            Ok(Self::Unknown)
        }
    }
}

/// The first byte of a TLS connection: a record of type handshake, RFC 8446 section 5.1.
const TLS_HANDSHAKE: u8 = 0x16;

#[cfg(test)]
mod tests;
