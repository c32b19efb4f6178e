//! Makes the certificates of a cluster.

use std::io::{self, Write};
use std::path::Path;

use quorate_net::tls::{ANY_SITE, site_name};
use quorate_session::SiteId;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::ServerError;

/// Makes an authority, a certificate for each of `sites` sites and one for clients, in `folder`.
///
/// # Errors
///
/// A file exists already, or cannot be written.
pub fn make_certificates(folder: &Path, sites: usize) -> Result<Vec<String>, ServerError> {
    let wrong = |error: rcgen::Error| ServerError::Tls(error.to_string());
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "quorate authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().map_err(wrong)?;
    let authority = CertifiedIssuer::self_signed(params, key).map_err(wrong)?;
    let mut files = vec![("ca.pem".to_owned(), authority.pem())];
    let named = SiteId::all(sites)
        .map(|site| (format!("site-{site}"), vec![site_name(site), ANY_SITE.to_owned()]));
    for (owner, names) in named.chain([("client".to_owned(), vec!["client".to_owned()])]) {
        let key = KeyPair::generate().map_err(wrong)?;
        let mut params = CertificateParams::new(names).map_err(wrong)?;
        params.distinguished_name.push(DnType::CommonName, owner.as_str());
        let certificate = params.signed_by(&key, &authority).map_err(wrong)?;
        files.push((format!("{owner}.pem"), certificate.pem()));
        files.push((format!("{owner}.key"), key.serialize_pem()));
    }
    write_files(folder, files)
}

fn write_files(folder: &Path, files: Vec<(String, String)>) -> Result<Vec<String>, ServerError> {
    let problem = |why: String| ServerError::Disk(folder.to_owned(), why);
    std::fs::create_dir_all(folder).map_err(|error| problem(error.to_string()))?;
    if let Some((name, _)) = files.iter().find(|(name, _)| folder.join(name).exists()) {
        return Err(problem(format!("{name} is there already; take an empty folder")));
    }
    for (name, text) in &files {
        write_private(&folder.join(name), text).map_err(|error| problem(error.to_string()))?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
