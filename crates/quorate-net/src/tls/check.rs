//! Checks the certificates and the key of a site before it uses them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quorate_session::SiteId;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ServerConfig};
use webpki::{EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use super::problem::date;
use super::{ANY_SITE, TlsConfig, certificate_names, site_name};
use crate::findings::Findings;

/// How long before its end a certificate is reported.
const RENEW_BEFORE: Duration = Duration::from_hours(30 * 24);

/// Everything that is wrong with the files of a site at this time.
pub fn check(config: &TlsConfig, site: SiteId, now: SystemTime) -> Findings {
    let mut findings = Findings::default();
    let authorities = certificates(&config.ca, &mut findings);
    let chain = certificates(&config.cert, &mut findings);
    let key = PrivateKeyDer::from_pem_file(&config.key);
    let key = key.map_err(|error| findings.error(unusable(&config.key, error))).ok();
    check_permissions(&config.key, &mut findings);
    if let Some(first) = chain.first() {
        match EndEntityCert::try_from(first) {
            Err(error) => findings.error(unusable(&config.cert, error)),
            Ok(certificate) => {
                check_names(config, site, first, &certificate, &mut findings);
                let chain = Chain { config, certificate, rest: &chain[1..], authorities };
                chain.check(now, &mut findings);
            }
        }
    }
    if let (Some(key), false) = (key, chain.is_empty()) {
        check_key(config, chain, key, &mut findings);
    }
    findings
}

fn unusable(path: &Path, why: impl std::fmt::Display) -> String {
    format!("{} cannot be used: {why}", path.display())
}

/// The certificates in a file.
fn certificates(path: &Path, findings: &mut Findings) -> Vec<CertificateDer<'static>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match all {
        Ok(all) if all.is_empty() => findings.error(unusable(path, "it has no certificate")),
        Ok(all) => return all,
        Err(error) => findings.error(unusable(path, error)),
    }
    Vec::new()
}

/// Whoever can read the key can pose as the site, and whoever can write it can stop the site.
fn check_permissions(key: &Path, findings: &mut Findings) {
    let Ok(metadata) = key.metadata() else { return }; // reported already
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o007 != 0 {
        let path = key.display();
        findings.error(format!("{path} is open to all users (mode {mode:o}): chmod 600 {path}"));
    }
}

fn check_names(
    config: &TlsConfig,
    site: SiteId,
    first: &CertificateDer<'_>,
    certificate: &EndEntityCert<'_>,
    findings: &mut Findings,
) {
    for name in [site_name(site), ANY_SITE.to_owned()] {
        let expected = ServerName::try_from(name.as_str()).expect("a valid DNS name");
        if certificate.verify_is_valid_for_subject_name(&expected).is_err() {
            let (path, names) = (config.cert.display(), certificate_names(first));
            findings.error(format!("{path} does not name {name}: its names are {names}"));
        }
    }
}

fn check_key(
    config: &TlsConfig,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    findings: &mut Findings,
) {
    let built = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
    match built {
        Ok(_) => {}
        Err(rustls::Error::InconsistentKeys(_)) => {
            let (key, cert) = (config.key.display(), config.cert.display());
            findings.error(format!("{key} is not the key of {cert}"));
        }
        Err(error) => findings.error(unusable(&config.key, error)),
    }
}

/// A certificate with those that lead to the authority.
struct Chain<'a> {
    config: &'a TlsConfig,
    certificate: EndEntityCert<'a>,
    rest: &'a [CertificateDer<'a>],
    authorities: Vec<CertificateDer<'static>>,
}

impl Chain<'_> {
    /// A site accepts and opens connections, so its certificate is used in both ways.
    fn check(&self, now: SystemTime, findings: &mut Findings) {
        if self.authorities.is_empty() {
            return; // reported already
        }
        let verify = |at| {
            self.verify(at, KeyUsage::server_auth())
                .and_then(|()| self.verify(at, KeyUsage::client_auth()))
        };
        let path = self.config.cert.display();
        match verify(now) {
            Ok(()) => {
                if let Err(Error::CertExpired { not_after, .. }) = verify(now + RENEW_BEFORE) {
                    let end = date(not_after);
                    findings.warning(format!("{path} expires on {end}: make new certificates"));
                }
            }
            Err(Error::UnknownIssuer | Error::InvalidSignatureForPublicKey) => {
                let ca = self.config.ca.display();
                findings.error(format!("{path} is not signed by the authority in {ca}"));
            }
            Err(Error::CertExpired { not_after, .. }) => {
                let end = date(not_after);
                findings.error(format!("{path} expired on {end}: make new certificates"));
            }
            Err(Error::CertNotValidYet { not_before, .. }) => {
                let start = date(not_before);
                findings.error(format!(
                    "{path} is not valid before {start}: is the clock of this machine right?"
                ));
            }
            Err(error) => findings.error(unusable(&self.config.cert, error)),
        }
    }

    fn verify(&self, at: SystemTime, usage: KeyUsage) -> Result<(), Error> {
        let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH).unwrap_or_default());
        let anchors: Vec<_> =
            self.authorities.iter().map(anchor_from_trusted_cert).collect::<Result<_, _>>()?;
        let algorithms = ring::default_provider().signature_verification_algorithms.all;
        let certificate = &self.certificate;
        let verified =
            certificate.verify_for_usage(algorithms, &anchors, self.rest, at, usage, None, None);
        verified.map(drop)
    }
}
