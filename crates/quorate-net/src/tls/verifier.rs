//! Verifiers of certificates that note whose certificate they saw, for the log.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::certificate_names;
use super::problem::explain_with;

tokio::task_local! {
    /// The names in the certificate that the other end of the present handshake showed.
    static SHOWN: RefCell<Option<String>>;
}

/// Runs a TLS handshake. Its error says what is wrong, and whose certificate was shown.
pub(super) async fn handshake<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let work = async {
        let done = work.await;
        done.map_err(|error| explain_with(error, SHOWN.with(RefCell::take)))
    };
    SHOWN.scope(RefCell::new(None), work).await
}

fn note(certificate: &CertificateDer<'_>) {
    // Outside a task, in blocking I/O, nobody asks for it.
    let _ = SHOWN.try_with(|shown| shown.replace(Some(certificate_names(certificate))));
}

/// Verifies as `inner` does.
#[derive(Debug)]
pub(super) struct Noting<V: ?Sized>(pub(super) Arc<V>);

impl<V: ServerCertVerifier + ?Sized> ServerCertVerifier for Noting<V> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        note(end_entity);
        self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

impl<V: ClientCertVerifier + ?Sized> ClientCertVerifier for Noting<V> {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        note(end_entity);
        self.0.verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }
}
