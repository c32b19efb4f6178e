//! TLS 1.3 with certificates on both sides.

mod check;
mod problem;
mod verifier;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, net};

use quorate_session::SiteId;
use serde::Deserialize;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use webpki::EndEntityCert;

use self::verifier::{Noting, handshake};

pub use self::check::check;
pub use self::problem::TlsProblem;
pub(crate) use self::problem::explain;

/// The name in the certificates of all sites, for clients that connect to any of them.
pub const ANY_SITE: &str = "quorate";

/// The files of certificates and keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// The certificate of the authority that signed all certificates of the cluster.
    pub ca: PathBuf,
    /// The certificate of this site or client.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why a certificate or key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TlsError(pub String);

/// TLS with one certificate, for accepting and for opening connections.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files of a configuration.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or holds no valid certificate or key.
    pub fn read(config: &TlsConfig) -> Result<Self, TlsError> {
        let problem = |path: &Path, why: String| {
            TlsError(format!("{} cannot be used: {why}", path.display()))
        };
        let certificates = |path: &Path| -> Result<Vec<CertificateDer<'static>>, TlsError> {
            let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            all.map_err(|error| problem(path, error.to_string()))
        };
        let mut roots = RootCertStore::empty();
        for root in certificates(&config.ca)? {
            roots.add(root).map_err(|error| problem(&config.ca, error.to_string()))?;
        }
        let chain = certificates(&config.cert)?;
        let key = PrivateKeyDer::from_pem_file(&config.key);
        let key = key.map_err(|error| problem(&config.key, error.to_string()))?;
        let (roots, wrong) = (Arc::new(roots), |why: String| problem(&config.cert, why));
        let verifier = WebPkiClientVerifier::builder(Arc::clone(&roots)).build();
        let verifier = verifier.map_err(|error| problem(&config.ca, error.to_string()))?;
        let server = ServerConfig::builder_with_protocol_versions(&[&TLS13])
            .with_client_cert_verifier(Arc::new(Noting(verifier)))
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(|error| wrong(error.to_string()))?;
        let verifier = WebPkiServerVerifier::builder(roots).build();
        let verifier = verifier.map_err(|error| problem(&config.ca, error.to_string()))?;
        let client = ClientConfig::builder_with_protocol_versions(&[&TLS13])
            .dangerous() // the verifier is the usual one; ours only notes whom it saw
            .with_custom_certificate_verifier(Arc::new(Noting(verifier)))
            .with_client_auth_cert(chain, key)
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(server)),
            connector: TlsConnector::from(Arc::new(client)),
        })
    }

    /// Accepts a connection.
    ///
    /// # Errors
    ///
    /// The other side has no certificate of the cluster's authority. The error holds a
    /// [`TlsProblem`].
    pub async fn accept(&self, stream: TcpStream) -> io::Result<server::TlsStream<TcpStream>> {
        let mut refused = None;
        let accept = async {
            let done = self.acceptor.accept(stream).into_fallible().await;
            done.map_err(|(error, stream)| {
                refused = Some(stream);
                error
            })
        };
        let done = handshake(accept).await;
        if let Some(stream) = refused {
            close_gently(stream).await;
        }
        done
    }

    /// Opens a connection to this site, or to any.
    ///
    /// # Errors
    ///
    /// The other side has no certificate of the cluster's authority for that site. The error holds
    /// a [`TlsProblem`].
    pub async fn connect(
        &self,
        site: Option<SiteId>,
        stream: TcpStream,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        let name = site.map_or_else(|| ANY_SITE.to_owned(), site_name);
        let name = ServerName::try_from(name).expect("a valid DNS name");
        handshake(self.connector.connect(name, stream)).await
    }

    /// As [`Tls::accept`], for blocking I/O.
    ///
    /// # Errors
    ///
    /// The TLS session cannot be created.
    pub fn accept_blocking(&self, stream: net::TcpStream) -> io::Result<impl Read + Write + use<>> {
        let config = Arc::clone(self.acceptor.config());
        let connection = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// As [`Tls::connect`] to any site, for blocking I/O.
    ///
    /// # Errors
    ///
    /// The TLS session cannot be created.
    pub fn connect_blocking(
        &self,
        stream: net::TcpStream,
    ) -> io::Result<impl Read + Write + use<>> {
        let config = Arc::clone(self.connector.config());
        let name = ServerName::try_from(ANY_SITE).expect("a valid DNS name");
        let connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }
}

/// Closes a connection so that the last bytes that were sent reach the other end: if it is closed
/// while there are bytes to read, the system may discard them.
pub async fn close_gently(mut stream: TcpStream) {
    let close = async {
        stream.shutdown().await?;
        let (mut bytes, mut count) = ([0; 4096], 0);
        while count < MOST_IGNORED {
            match stream.read(&mut bytes).await? {
                0 => break,
                more => count += more,
            }
        }
        io::Result::Ok(())
    };
    drop(timeout(CLOSE_TIMEOUT, close).await); // the other end may be gone
}

/// How many bytes of the other end are read to close a connection gently, and for how long.
const MOST_IGNORED: usize = 1 << 16;
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The names in the certificate of the peer that opened this connection.
pub fn peer_names(stream: &server::TlsStream<TcpStream>) -> Option<String> {
    let (_, connection) = stream.get_ref();
    Some(certificate_names(connection.peer_certificates()?.first()?))
}

/// The names in a certificate, for people to read.
fn certificate_names(certificate: &CertificateDer<'_>) -> String {
    const MOST: usize = 4;
    let Ok(certificate) = EndEntityCert::try_from(certificate) else {
        return "invalid".into();
    };
    let names: Vec<&str> = certificate.valid_dns_names().take(MOST).collect();
    if names.is_empty() { "without names".into() } else { names.join(", ") }
}

/// Whether the peer that opened this connection has the certificate of `site`.
pub fn is_site(stream: &server::TlsStream<TcpStream>, site: SiteId) -> bool {
    let (_, connection) = stream.get_ref();
    let chain = connection.peer_certificates().unwrap_or_default();
    let name = ServerName::try_from(site_name(site)).expect("a valid DNS name");
    chain.first().is_some_and(|first| {
        let certificate = EndEntityCert::try_from(first);
        certificate.is_ok_and(|end| end.verify_is_valid_for_subject_name(&name).is_ok())
    })
}

/// The name in the certificate of `site`.
pub fn site_name(site: SiteId) -> String {
    format!("site-{site}.{ANY_SITE}")
}
