//! Errors of TLS in words that say what to look at.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use thiserror::Error;
use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as TlsFailure};

/// Why a TLS handshake failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct TlsProblem {
    /// The reason.
    pub why: String,
    /// The names in the certificate that the other end showed, if it came that far.
    pub certificate: Option<String>,
}

impl TlsProblem {
    /// The problem behind an error of a connection, if it is one of TLS.
    pub fn of(error: &io::Error) -> Option<&TlsProblem> {
        error.get_ref()?.downcast_ref()
    }
}

/// The same error, in our words if it is one of TLS.
pub(crate) fn explain(error: io::Error) -> io::Error {
    explain_with(error, None)
}

/// The same, for a handshake in which a certificate with these names was shown.
pub(super) fn explain_with(error: io::Error, certificate: Option<String>) -> io::Error {
    let failure = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsFailure>());
    let Some(failure) = failure else { return error };
    let why = reason(failure, certificate.as_deref());
    io::Error::new(error.kind(), TlsProblem { why, certificate })
}

fn reason(failure: &TlsFailure, names: Option<&str>) -> String {
    match failure {
        TlsFailure::InvalidCertificate(why) => {
            format!("its certificate is refused: {}", certificate_reason(why, names))
        }
        TlsFailure::NoCertificatesPresented => "it shows no certificate".into(),
        TlsFailure::InvalidMessage(_) => "TLS is used here, but not there".into(),
        TlsFailure::AlertReceived(alert) => match alert_reason(*alert) {
            Some(why) => format!("our certificate is refused there: {why}"),
            None => format!("the other end ended the TLS handshake with the alert {alert:?}"),
        },
        other => format!("TLS failed: {other}"),
    }
}

fn certificate_reason(why: &CertificateError, names: Option<&str>) -> String {
    match why {
        // Two authorities of `quorate cert` have the same name, so the signature tells.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "it is not signed by the authority in `ca`".into()
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("it expired on {}", date(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("it is not valid before {}", date(*not_before))
        }
        CertificateError::NotValidForNameContext { expected, .. } => {
            let names = names.unwrap_or("none");
            format!("it names {names}, and {} is expected", expected.to_str())
        }
        other => other.to_string(),
    }
}

/// Why the other end refuses our certificate, if that is what the alert says.
fn alert_reason(alert: AlertDescription) -> Option<&'static str> {
    match alert {
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            Some("the authority there has not signed it")
        }
        AlertDescription::CertificateExpired => Some("it is expired or not valid yet"),
        AlertDescription::BadCertificate => Some("it does not name the site that is expected"),
        AlertDescription::UnsupportedCertificate => Some("it is not for this purpose"),
        AlertDescription::CertificateRequired => Some("none was shown"),
        _ => None,
    }
}

/// A date and time for people, in UTC.
pub(super) fn date(time: UnixTime) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(time.as_secs());
    humantime::format_rfc3339_seconds(time).to_string()
}
