//! Handshakes that no site would send.

use std::net::TcpListener as StdListener;

use quorate_net::tls::TlsConfig;
use quorate_wire::Versions;
use tempfile::TempDir;

use super::*;
use crate::certificates::make_certificates;
use crate::{Server, SiteConfig};

/// Site 2 of 2 with TLS, and a folder with all certificates.
struct Rig {
    folder: TempDir,
    config: SiteConfig,
    _server: Server,
}

impl Rig {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        make_certificates(folder.path(), 2).unwrap();
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        let sites = ["127.0.0.1:1".to_owned(), listener.local_addr().unwrap().to_string()];
        let mut config = SiteConfig::new("test", 2, &sites, folder.path().join("data"));
        config.tls = Some(files(&folder, "site-2"));
        let server = Server::start_on(&config, listener).unwrap();
        Self { folder, config, _server: server }
    }

    /// The reply to a handshake of whoever has the certificate `owner`.
    async fn reply(&self, owner: &str, handshake: &Handshake) -> HandshakeReply {
        let tls = Tls::read(&files(&self.folder, owner)).unwrap();
        let stream = TcpStream::connect(&self.config.sites[1]).await.unwrap();
        let stream = tls.connect(Some(SiteId::new(1)), stream).await.unwrap();
        let mut stream: BoxedStream = Box::new(stream);
        write_frame(&mut stream, handshake).await.unwrap();
        read_frame(&mut stream, &mut Decoder::default(), HANDSHAKE_TIMEOUT).await.unwrap()
    }

    /// The handshake of site 1 to site 2.
    fn handshake(&self, from: usize, to: usize) -> Handshake {
        let (from, to) = (SiteId::new(from - 1), SiteId::new(to - 1));
        Handshake::new(&Who::Site { from, to, configuration: self.config.configuration() })
    }
}

fn files(folder: &TempDir, owner: &str) -> TlsConfig {
    let file = |name: &str| folder.path().join(name);
    let (cert, key) = (file(&format!("{owner}.pem")), file(&format!("{owner}.key")));
    TlsConfig { ca: file("ca.pem"), cert, key }
}

fn refused(why: Refusal) -> HandshakeReply {
    HandshakeReply::Refused(why)
}

#[tokio::test]
async fn a_client_cannot_pose_as_a_site() {
    let rig = Rig::start();
    let handshake = rig.handshake(1, 2);
    let why = Refusal::OtherCertificate(SiteId::new(0));
    assert_eq!(rig.reply("client", &handshake).await, refused(why.clone()));
    assert_eq!(rig.reply("site-2", &handshake).await, refused(why), "nor another site");
    let reply = rig.reply("site-1", &handshake).await;
    assert!(matches!(reply, HandshakeReply::Welcome { version: 8, .. }), "{reply:?}");
}

#[tokio::test]
async fn handshakes_that_do_not_fit_are_refused() {
    let rig = Rig::start();
    let (one, two) = (SiteId::new(0), SiteId::new(1));
    let why = Refusal::OtherSite { reached: two, wanted: one };
    assert_eq!(rig.reply("site-1", &rig.handshake(1, 1)).await, refused(why));
    for from in [2, 9] {
        let why = Refusal::NoSuchSite(SiteId::new(from - 1));
        assert_eq!(rig.reply("site-1", &rig.handshake(from, 2)).await, refused(why));
    }
    let mut later = rig.handshake(1, 2);
    later.versions = Versions { lowest: 9, highest: 10 };
    let why = Refusal::OtherVersion { here: Versions::OURS, there: later.versions };
    assert_eq!(rig.reply("site-1", &later).await, refused(why));
    later.versions.lowest = 1;
    let reply = rig.reply("site-1", &later).await;
    assert!(matches!(reply, HandshakeReply::Welcome { version: 8, .. }), "{reply:?}");
}
