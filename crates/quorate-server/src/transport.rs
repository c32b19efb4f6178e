//! Opens connections to other sites, and accepts those of sites and clients.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate_net::backoff::Backoff;
use quorate_net::connection::{BoxedStream, FrameReader, read_frame, split, write_frame};
use quorate_net::tls::{Tls, TlsProblem, close_gently, is_site, peer_names};
use quorate_session::client::{ClientId, ClientMessage};
use quorate_session::session::{Hello, Opening, Packet, Terms};
use quorate_session::{SiteId, limits};
use quorate_site::SitePacket;
use quorate_wire::{
    ClientPacket, Configuration, Decoder, Handshake, HandshakeReply, Refusal, Who, WireError,
    encode,
};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, timeout};

use crate::admission::{Admission, ClientPlace};
use crate::connection_log::{ConnectionLog, Stranger};
use crate::core::Event;
use crate::inbox::Events;

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
    pub(crate) events: Events,
    pub(crate) numbers: Arc<AtomicU64>,
    pub(crate) log: Arc<ConnectionLog>,
    pub(crate) admission: Arc<Admission>,
}

/// A connection of somebody else, before its handshake.
struct Accepted {
    stream: BoxedStream,
    stranger: Stranger,
    /// The sites that it may be: without TLS any, else those that its certificate names.
    sites: Vec<SiteId>,
}

/// A connection of somebody else after its handshake.
struct Known {
    stream: BoxedStream,
    decoder: Decoder,
    stranger: Stranger,
    who: Remote,
}

/// Who the other end of a connection is.
enum Remote {
    Site(SiteId),
    Client(ClientId, ClientPlace),
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
                    let stranger = Stranger::at(address.ip().to_canonical().to_string());
                    self.serve(async move { transport.accept_tcp(stream, stranger).await });
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
                    let (stream, stranger) = (Box::new(stream), Stranger::at("unix".into()));
                    let accepted = Accepted { stream, stranger, sites: Vec::new() };
                    self.serve(async move { transport.shake_hands(accepted).await });
                }
                Err(error) => {
                    self.log.not_accepted(&error);
                    sleep(ACCEPT_DELAY).await;
                }
            }
        }
    }

    /// Waits for the handshake of a connection that was accepted, and uses it until it ends.
    fn serve(&self, handshake: impl Future<Output = Option<Known>> + Send + 'static) {
        let (transport, mut place) = (self.clone(), self.admission.begin_handshake());
        tokio::spawn(async move {
            let known = tokio::select! {
                known = handshake => known,
                () = place.taken_away() => None, // there are too many, and it is the oldest
            };
            drop(place);
            if let Some(known) = known {
                transport.use_connection(known).await;
            }
        });
    }

    /// Uses a connection of somebody else until it ends.
    async fn use_connection(&self, known: Known) {
        let Known { stream, decoder, stranger, who } = known;
        match who {
            Remote::Site(peer) => self.run_site(stream, decoder, peer).await,
            Remote::Client(id, place) => {
                if let Err(error) = self.run_client(stream, decoder, id).await {
                    self.log.closed(&stranger, &error);
                }
                drop(place);
            }
        }
    }

    /// The handshakes of a connection over TCP. `None` if the other end is gone or was refused.
    async fn accept_tcp(self, stream: TcpStream, mut stranger: Stranger) -> Option<Known> {
        match self.secure(stream, &mut stranger).await {
            Ok(Some((stream, sites))) => {
                self.shake_hands(Accepted { stream, stranger, sites }).await
            }
            Ok(None) => None,
            Err(error) => {
                self.on_failed_handshake(&stranger, &error);
                None
            }
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

    /// Reads and answers the handshake of a client or of a site. `None` if the other end is gone
    /// or was refused.
    async fn shake_hands(&self, accepted: Accepted) -> Option<Known> {
        let Accepted { mut stream, mut stranger, sites } = accepted;
        let mut decoder = Decoder::with_limit(limits::HANDSHAKE_BYTES);
        match self.answer(&mut stream, &mut decoder, &mut stranger, &sites).await {
            Ok(who) => who.map(|who| Known { stream, decoder, stranger, who }),
            Err(error) => {
                self.on_failed_handshake(&stranger, &error);
                None
            }
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
    async fn answer(
        &self,
        stream: &mut BoxedStream,
        decoder: &mut Decoder,
        stranger: &mut Stranger,
        sites: &[SiteId],
    ) -> io::Result<Option<Remote>> {
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
    ) -> io::Result<Result<(u32, Remote), Refusal>> {
        let version = match handshake.version() {
            Ok(version) => version,
            Err(why) => return Ok(Err(why)),
        };
        let invalid = |error: WireError| io::Error::new(io::ErrorKind::InvalidData, error);
        let who = handshake.who().map_err(invalid)?;
        if let Who::Site { from, .. } = &who {
            stranger.site = Some(*from);
        }
        if let Some(why) = self.refusal(&who, sites) {
            return Ok(Err(why));
        }
        let who = match who {
            Who::Site { from, .. } => Ok(Remote::Site(from)),
            Who::Client(id) => match self.admission.take_client() {
                Ok(place) => Ok(Remote::Client(id, place)),
                Err(most) => Err(Refusal::TooManyClients(most)),
            },
        };
        Ok(who.map(|who| (version, who)))
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
        mut decoder: Decoder,
        peer: SiteId,
    ) -> io::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        decoder.set_limit(limits::FRAME_BYTES);
        let (writer, mut reader) = split(stream, decoder, limits::UNREAD_BYTES_SITE);
        let events = &self.events.peers;
        drop(events.send(Event::PeerUp(peer, number, writer)).await);
        let done = read_peer(&mut reader, events, peer, number).await;
        drop(events.send(Event::PeerDown(peer, number)).await);
        done
    }

    /// Passes the packets of a client to the site until the connection ends.
    async fn run_client(
        &self,
        stream: BoxedStream,
        mut decoder: Decoder,
        id: ClientId,
    ) -> io::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        decoder.set_limit(limits::CLIENT_FRAME_BYTES);
        let (writer, mut reader) = split(stream, decoder, limits::UNREAD_BYTES);
        let events = &self.events.clients;
        drop(events.send(Event::ClientUp(id, number, writer)).await);
        let done = read_client(&mut reader, events, id, number).await;
        drop(events.send(Event::ClientDown(id, number)).await);
        done
    }
}

/// Reads from a peer until the connection ends. It waits while the site is busy.
async fn read_peer(
    reader: &mut FrameReader,
    events: &Sender<Event>,
    peer: SiteId,
    number: u64,
) -> io::Result<()> {
    while let Some(packets) = reader.read::<SitePacket>().await? {
        if events.send(Event::PeerPackets(peer, number, packets)).await.is_err() {
            break; // the site has stopped
        }
    }
    Ok(())
}

/// Reads from a client until the connection ends. It waits while the site is busy. Only packets
/// that clients send are accepted, and a session is resumed at most once: each time, all that the
/// client has not acknowledged is sent again.
async fn read_client(
    reader: &mut FrameReader,
    events: &Sender<Event>,
    id: ClientId,
    number: u64,
) -> io::Result<()> {
    let broken = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()));
    let mut resumed = 0;
    while let Some(packets) = reader.read::<ClientPacket>().await? {
        if !packets.iter().all(is_of_client) {
            return broken("it sends what only sites send");
        }
        resumed += packets.iter().filter(|packet| is_resume(packet)).count();
        if resumed > 1 {
            return broken("it resumes its session twice on one connection");
        }
        if events.send(Event::ClientPackets(id, number, packets)).await.is_err() {
            break; // the site has stopped
        }
    }
    Ok(())
}

fn is_of_client(packet: &ClientPacket) -> bool {
    match packet {
        Packet::Up(_, frame) => matches!(frame.payload, ClientMessage::Request(_)),
        packet => packet.is_from_client(),
    }
}

fn is_resume(packet: &ClientPacket) -> bool {
    matches!(packet, Packet::Hello(Hello { opening: Opening::Resume(..), .. }))
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
