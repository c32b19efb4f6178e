//! Checks of a configuration: all that can be found out without starting the site.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::SystemTime;

use quorate_net::descriptors;
use quorate_net::findings::Findings;
use quorate_net::tls;
use quorate_session::limits;
use quorate_site::Disk;

use crate::SiteConfig;
use crate::disk::{Copied, Store};

impl SiteConfig {
    /// Everything that is wrong with the settings and, at this time, with the certificates. A site
    /// does not start if this finds an error.
    pub fn findings(&self, now: SystemTime) -> Findings {
        let mut findings = self.check_settings();
        self.check_addresses(&mut findings);
        self.check_exposure(&mut findings);
        if let Some(files) = self.tls.as_ref().filter(|_| self.has_place()) {
            findings.extend(tls::check(files, self.me(), now));
        }
        if let Some(path) = &self.unix {
            check_unix(path, &mut findings);
        }
        self.check_descriptors(descriptors::raise_limit(), &mut findings);
        findings
    }

    /// In addition, what a start would try for real: the names of the other sites, and the folder.
    /// Nothing is changed.
    pub fn findings_without_start(&self, now: SystemTime) -> Findings {
        let mut findings = self.findings(now);
        self.resolve(&mut findings);
        check_folder(&self.data, &mut findings);
        check_record(&self.data, &mut findings);
        findings
    }

    /// Whether this site is in the list.
    fn has_place(&self) -> bool {
        (1..=self.sites.len()).contains(&self.site)
    }

    /// What is wrong with single settings.
    pub(crate) fn check_settings(&self) -> Findings {
        let mut findings = Findings::default();
        let n = self.sites.len();
        if n > limits::SITES {
            let most = limits::SITES;
            findings.error(format!("sites has {n} addresses; at most {most} are possible"));
        }
        if self.clients_max == Some(0) {
            findings.error("clients_max = 0: no client could connect; take 1 or more".to_owned());
        }
        if !self.has_place() {
            let site = self.site;
            findings.error(format!("site = {site}, but there are {n} sites; take 1 to {n}"));
        }
        let checks = [
            self.quorums().err(),
            self.cluster_id().err(),
            self.lease().err(),
            self.drift().err(),
            self.pool_protocol().err(),
            self.group_options().err(),
            self.role_options().err(),
        ];
        for error in checks.into_iter().flatten() {
            findings.error(error.to_string());
        }
        findings
    }

    /// There are file descriptors for as many clients as are wanted.
    fn check_descriptors(&self, limit: usize, findings: &mut Findings) {
        let (possible, wanted) = (self.clients_max_of(limit), self.clients_max.unwrap_or(1));
        if possible < wanted {
            let needed = wanted.saturating_add(self.reserved_descriptors());
            findings.warning(format!(
                "clients_max = {wanted}: with {limit} file descriptors at most {possible} clients \
                 can connect; set LimitNOFILE to {needed} or more"
            ));
        }
    }

    /// Each address has a host and a port, and is there once.
    fn check_addresses(&self, findings: &mut Findings) {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (address, place) in self.sites.iter().zip(1..) {
            if let Err(why) = host_and_port(address) {
                findings.error(format!("sites[{place}] = \"{address}\": {why}"));
            }
            if let Some(other) = places.insert(address, place) {
                findings.error(format!(
                    "sites[{other}] and sites[{place}] are both {address}; each site has its own"
                ));
            }
        }
    }

    /// Without TLS, everybody who reaches the site can take and break locks.
    fn check_exposure(&self, findings: &mut Findings) {
        if self.tls.is_some() || self.insecure {
            return;
        }
        let listen = self.listen.map(|address| address.to_string());
        let exposed =
            |address: &&String| host_and_port(address).is_ok_and(|(host, _)| !is_local(host));
        let exposed: Vec<&str> =
            self.sites.iter().chain(&listen).filter(exposed).map(String::as_str).collect();
        if !exposed.is_empty() {
            findings.error(format!(
                "other machines can reach {}, and there is no [tls]: make certificates with \
                 `quorate cert`, or set insecure = true",
                exposed.join(", ")
            ));
        }
    }

    /// Looks up the addresses. Other sites may not have one yet; this one needs it to listen.
    fn resolve(&self, findings: &mut Findings) {
        let mut seen: BTreeMap<SocketAddr, usize> = BTreeMap::new();
        let valid = |(address, _): &(&String, usize)| host_and_port(address).is_ok();
        for (address, place) in self.sites.iter().zip(1..).filter(valid) {
            match address.to_socket_addrs().map(|mut all| all.next()) {
                Ok(Some(found)) => {
                    if let Some(other) = seen.insert(found, place)
                        && self.sites[other - 1] != *address
                    {
                        let what = "lead to the same address";
                        findings
                            .warning(format!("sites[{other}] and sites[{place}] {what}, {found}"));
                    }
                }
                _ if place == self.site && self.listen.is_none() => findings.error(format!(
                    "sites[{place}] = \"{address}\": it has no address here; mend it, or set listen"
                )),
                _ => findings.warning(format!(
                    "sites[{place}] = \"{address}\": it has no address; is the name right?"
                )),
            }
        }
    }
}

/// The parts of an address.
fn host_and_port(address: &str) -> Result<(&str, u16), &'static str> {
    const EXPECTED: &str = "expected host:port, such as 10.0.0.1:7420";
    let (host, port) = address.rsplit_once(':').ok_or(EXPECTED)?;
    let port: u16 = port.parse().map_err(|_| EXPECTED)?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if host.is_empty() || host.contains(char::is_whitespace) || bare.is_none() && host.contains(':')
    {
        return Err(EXPECTED);
    }
    if port == 0 {
        return Err("port 0 stands for any port, and others could not find it");
    }
    Ok((bare.unwrap_or(host), port))
}

/// Whether only this machine can reach a host.
fn is_local(host: &str) -> bool {
    let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    host == "localhost" || host.parse().is_ok_and(is_loopback)
}

/// A start removes what an earlier one left at this path.
fn check_unix(path: &Path, findings: &mut Findings) {
    let shown = path.display();
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            findings.error(format!("unix = \"{shown}\": there is a file that is not a socket"));
        }
        Err(_)
            if !path
                .parent()
                .is_some_and(|folder| folder.is_dir() || folder.as_os_str().is_empty()) =>
        {
            findings.error(format!("unix = \"{shown}\": its folder does not exist"));
        }
        _ => {}
    }
}

/// The folder, or the nearest one above it that exists, can be written.
fn check_folder(folder: &Path, findings: &mut Findings) {
    let above = folder.ancestors().find(|path| path.exists() || path.as_os_str().is_empty());
    let above = above.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Err(error) = try_to_write(above) {
        let (data, above) = (folder.display(), above.display());
        findings.error(format!("data = \"{data}\": {above} cannot be written: {error}"));
    }
}

/// Makes a file, and removes it.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".quorate-check-{}", std::process::id()));
    File::options().write(true).create_new(true).open(&path)?;
    fs::remove_file(path)
}

/// The record of an earlier start can be read, and is one of a site.
fn check_record(folder: &Path, findings: &mut Findings) {
    let wrong = |why: String| format!("{}: {why}", folder.join(Store::FILE).display());
    match Store::copy(folder) {
        Ok(Copied::Nothing) => {}
        Ok(Copied::InUse) => findings
            .warning(wrong("a site runs with this folder; its record was not checked".into())),
        Ok(Copied::Store(store)) => match store.read() {
            Ok(past) if past.disk == Disk::default() => {
                findings.warning(wrong("it has no record of a site; was it made by one?".into()));
            }
            Ok(_) => {}
            Err(why) => findings.error(wrong(why)),
        },
        Err(why) => findings.error(wrong(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for (address, parts) in [
            ("10.0.0.1:7420", ("10.0.0.1", 7420)),
            ("quorate-1.internal:1", ("quorate-1.internal", 1)),
            ("[::1]:7420", ("::1", 7420)),
        ] {
            assert_eq!(host_and_port(address), Ok(parts));
        }
        for address in ["", "10.0.0.1", ":7420", "::1:7420", "a:b", "a:70000", "a b:1", "a:0"] {
            assert!(host_and_port(address).is_err(), "{address}");
        }
    }

    #[test]
    fn loopback_is_local_in_any_form() {
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["0.0.0.0", "::", "10.0.0.1", "localhost.example", "quorate-1"] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn a_file_of_another_program_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        drop(redb::Database::create(folder.path().join(Store::FILE)).unwrap());
        let mut findings = Findings::default();
        check_record(folder.path(), &mut findings);
        assert!(findings.warnings[0].contains("it has no record of a site"), "{findings:?}");
    }
}
