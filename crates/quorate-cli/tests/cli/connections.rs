//! Connections that fail say why, in the logs of both sites, and do not fill them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::cluster::{Running, TestCluster, piped, tls_flags};
use crate::program::quorate_with;

/// Certificates for three sites and clients.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let done = quorate_with("cert --sites 3", &[folder.path().to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    folder
}

/// The `[tls]` of a site with the certificates in `folder`.
fn tls(folder: &Path, site: usize) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    let (ca, cert) = (file("ca.pem"), file(&format!("site-{site}.pem")));
    format!("[tls]\nca = {ca:?}\ncert = {cert:?}\nkey = {:?}\n", file(&format!("site-{site}.key")))
}

/// Two sites, of which the second one gets a change of its configuration.
fn two_sites(more: impl Fn(&Path, usize) -> String, from: &str, to: &str) -> TestCluster {
    let mut sites = TestCluster::configure(2, more, Vec::new());
    sites.change(2, from, to);
    sites.restart(2);
    sites.restart(1);
    sites
}

/// Waits until both sites have logged why there is no connection. Site 1 dials.
fn both_say(sites: &TestCluster, dialing: &[&str], accepting: &[&str]) {
    let address = &sites.addresses[1];
    let line = sites.wait_for_log(1, dialing);
    assert!(line.contains(" WARN no connection to a site site=2 "), "{line}");
    assert!(line.contains(&format!("address=\"{address}\"")), "{line}");
    let line = sites.wait_for_log(2, accepting);
    assert!(line.contains(" WARN a connection was refused address=\"127.0.0.1\""), "{line}");
}

fn plain(_: &Path, _: usize) -> String {
    String::new()
}

#[test]
fn a_setting_that_differs_is_named() {
    let sites = two_sites(plain, "lease_ms = 1000", "lease_ms = 2000");
    both_say(
        &sites,
        &["lease_ms differs: 1000 here, 2000 there"],
        &["site=1", "lease_ms differs: 2000 here, 1000 there"],
    );
    let sites = two_sites(plain, "\"test\"", "\"other\"");
    both_say(
        &sites,
        &["cluster differs: test here, other there"],
        &["site=1", "cluster differs: other here, test there"],
    );
}

/// Pools of different protocols would not exclude each other.
#[test]
fn another_protocol_of_pools_is_named_with_what_to_do() {
    let sites = two_sites(plain, "lease_ms", "pool = \"arbiters\"\nlease_ms");
    both_say(
        &sites,
        &["pool differs: ledger here, arbiters there (to change it, stop all sites"],
        &["site=1", "pool differs: arbiters here, ledger there", "units that are held are lost"],
    );
}

#[test]
fn another_order_of_sites_is_named() {
    let mut sites = TestCluster::configure(2, plain, Vec::new());
    let [one, two] = [&sites.addresses[0], &sites.addresses[1]];
    let list = format!("[{one:?}, {two:?}]");
    let (from, to) =
        (format!("site = 2\nsites = {list}"), format!("site = 1\nsites = [{two:?}, {one:?}]"));
    let says = format!("sites[1] differs: {one} here, {two} there; sites[2] differs");
    sites.change(2, &from, &to);
    sites.restart(2);
    sites.restart(1);
    sites.wait_for_log(1, &["no connection to a site", &says]);
}

#[test]
fn another_authority_is_named() {
    let (ours, theirs) = (certificates(), certificates());
    let folders = [ours.path(), theirs.path()];
    let sites = two_sites(|_, site| tls(folders[site - 1], site), "test", "test");
    both_say(
        &sites,
        &["certificate=\"site-2.quorate, quorate\"", "it is not signed by the authority in `ca`"],
        &["our certificate is refused there: the authority there has not signed it"],
    );
}

/// A client trusts the site, but its own certificate is of another authority.
#[test]
fn a_client_of_another_authority_is_named() {
    let (ours, theirs) = (certificates(), certificates());
    let mut sites = TestCluster::configure(1, |_, site| tls(ours.path(), site), Vec::new());
    sites.restart(1);
    sites.wait_for_log(1, &["the site runs"]);
    let mut flags = tls_flags(theirs.path());
    flags[0].clone_from(&tls_flags(ours.path())[0]);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["sites", "--connect", &sites.addresses[0]]).args(flags).stdin(Stdio::null());
    let done = Running::start(piped(&mut command)).finish();
    assert_eq!(done.code, Some(125));
    let says = "our certificate is refused there: the authority there has not signed it";
    assert!(done.err.contains(says), "{}", done.err);
    sites.wait_for_log(
        1,
        &[
            "a connection was refused",
            "certificate=\"client\"",
            "its certificate is refused: it is not signed by the authority in `ca`",
        ],
    );
}

/// The process at the address of site 2 is configured as site 3.
#[test]
fn the_certificate_of_another_site_is_named() {
    let ours = certificates();
    let mut sites = TestCluster::configure(3, |_, site| tls(ours.path(), site), Vec::new());
    sites.change(3, "lease_ms", &format!("listen = {:?}\nlease_ms", sites.addresses[1]));
    sites.restart(3);
    sites.restart(1);
    sites.wait_for_log(
        1,
        &[
            "no connection to a site site=2",
            "it names site-3.quorate, quorate, and site-2.quorate is expected",
        ],
    );
    sites.wait_for_log(3, &["our certificate is refused there: it does not name the site"]);
}

/// Without TLS the numbers tell it.
#[test]
fn the_address_of_another_site_is_named() {
    let mut sites = TestCluster::configure(3, plain, Vec::new());
    sites.change(3, "lease_ms", &format!("listen = {:?}\nlease_ms", sites.addresses[1]));
    sites.restart(3);
    sites.restart(1);
    let says = "site 2 is expected at this address, but it is that of site 3";
    sites.wait_for_log(1, &["no connection to a site site=2", says]);
    sites.wait_for_log(3, &["a connection was refused", says]);
}

#[test]
fn tls_at_one_end_only_is_named() {
    let ours = certificates();
    let only = |tls_site: usize| {
        let of =
            |site: usize| if site == tls_site { tls(ours.path(), site) } else { String::new() };
        two_sites(|_, site| of(site), "test", "test")
    };
    let (here, there) = ("TLS is used here, but not there", "TLS is used there, but not here");
    both_say(&only(1), &[here], &[there]);
    both_say(&only(2), &[there], &[here]);
}

#[test]
fn sites_that_come_and_go_are_logged() {
    let mut sites = TestCluster::start(2);
    let address = format!("address=\"{}\"", sites.addresses[1]);
    sites.wait_for_log(1, &[" INFO a site is connected site=2", &address]);
    sites.wait_for_log(2, &[" INFO a site is connected site=1"]);
    sites.kill(2);
    sites.wait_for_log(1, &[" INFO a site is no longer connected site=2", &address]);
    sites.wait_for_log(1, &[" WARN no connection to a site site=2", "Connection refused"]);
    sites.restart(2);
    sites.wait_until_connected();
    assert_eq!(sites.logged(1, &["a site is connected site=2"]).len(), 2);
    assert_eq!(sites.logged(1, &["a site is no longer connected"]).len(), 1);
}

/// The test plays site 2, and refuses site 1 again and again.
#[test]
fn a_reason_is_not_repeated_at_each_attempt() {
    let mut sites = TestCluster::configure(2, plain, Vec::new());
    sites.change(1, "lease_ms = 1000", "lease_ms = 200");
    let listener = TcpListener::bind(&sites.addresses[1]).unwrap();
    sites.restart(1);
    let refused = [2, 0, 0, 0, 1, 0]; // Refused(NotQuorate)
    for _ in 0..20 {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&refused).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    let says = ["no connection to a site", "it refuses the connection"];
    assert_eq!(sites.logged(1, &says).len(), 1);

    // As site 2, of another cluster: who is 0 (a site), from 1, to 0, one setting.
    let hello = b"\x18\0\0\0quorate\x08\x08\x0e\0\x01\0\x01\x07cluster\x01x";
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&sites.addresses[0]).unwrap();
        stream.write_all(hello).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert_eq!(&answer[4..6], [1, 3], "refused for its configuration");
    }
    let lines = sites.logged(1, &["a connection was refused"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("site=2") && lines[0].contains("cluster differs: test here, x there")
    );
}

/// Dials fail at first: a sixth of the lease is shorter than the usual first delay.
#[test]
fn a_late_site_joins_a_cluster_with_the_shortest_lease() {
    let mut sites = TestCluster::configure(3, plain, Vec::new());
    for site in 1..=3 {
        sites.change(site, "lease_ms = 1000", "lease_ms = 200");
    }
    sites.restart(1);
    sites.restart(2);
    for site in [1, 2] {
        sites.wait_for_log(site, &["no connection to a site site=3", "Connection refused"]);
    }
    sites.restart(3);
    sites.wait_until_connected();
    assert_eq!(sites.run(3, "lock deploy -- echo inside", &[]).out, "inside\n");
}
