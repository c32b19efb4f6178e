//! `quorate serve --check` finds all that is wrong at once, and `serve` refuses the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::cluster::{TestCluster, free_port};
use crate::program::{Done, quorate_with};

/// A folder with the certificates of three sites, and configurations that use them.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let done = quorate_with("cert --sites 3", &[folder.path().to_str().unwrap()]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The `[tls]` with these files.
    fn tls(&self, ca: &str, cert: &str, key: &str) -> String {
        let [ca, cert, key] = [ca, cert, key].map(|name| self.text(name));
        format!("[tls]\nca = {ca:?}\ncert = {cert:?}\nkey = {key:?}\n")
    }

    fn configure(&self, text: &str) -> String {
        let path = self.text("site.toml");
        fs::write(&path, text).unwrap();
        path
    }

    /// Checks the configuration of site 1 with this end.
    fn check(&self, end: &str) -> Done {
        quorate_with("serve --check --config", &[&self.configure(&self.site_1(end))])
    }

    fn site_1(&self, end: &str) -> String {
        let sites = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"];
        let data = self.text("new/data");
        format!("cluster = \"c\"\nsite = 1\nsites = {sites:?}\ndata = {data:?}\n{end}")
    }
}

#[test]
fn a_good_configuration_is_fine_and_nothing_is_changed() {
    let folder = Folder::new();
    let files = || fs::read_dir(folder.0.path()).unwrap().count();
    let path = folder.configure("");
    let before = files();
    let done = folder.check(&folder.tls("ca.pem", "site-1.pem", "site-1.key"));
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(
        done.out,
        format!("{path} is fine: site 1 of 3, cluster c, majority of 3, lease 3000 ms\n")
    );
    assert_eq!(files(), before, "no data folder, no other file");
}

#[test]
fn all_errors_are_listed_at_once() {
    let folder = Folder::new();
    let text = "cluster = \"\"\nsite = 4\nsites = [\"a:1\", \"a:1\", \"10.0.0.1\"]\n\
        data = \"/dev/null/d\"\n\
        lease_ms = 1\ndrift_permille = 1000\nquorum = \"nosuch\"\ngroup_choice = \"best\"\n\
        role_overrun = \"kill\"\nlisten = \"0.0.0.0:7420\"\nunix = \"/dev/null\"\n";
    let done = quorate_with("serve --check --config", &[&folder.configure(text)]);
    done.refused(&[
        "site.toml cannot be used\n",
        "  error: cluster = \"\": invalid name: it is empty\n",
        "  error: site = 4, but there are 3 sites; take 1 to 3\n",
        "  error: sites[1] and sites[2] are both a:1; each site has its own\n",
        "  error: sites[3] = \"10.0.0.1\": expected host:port, such as 10.0.0.1:7420\n",
        "  error: data = \"/dev/null/d\": /dev/null cannot be written",
        "  error: lease_ms: a lease of 1ms is out of range",
        "  error: drift_permille: ",
        "  error: quorum = \"nosuch\"",
        "  error: group_choice = \"best\": expected arbitrary or most-waiting\n",
        "  error: role_overrun = \"kill\": expected tolerate or revoke\n",
        "  error: other machines can reach a:1, a:1, 0.0.0.0:7420, and there is no [tls]",
        "  error: unix = \"/dev/null\": there is a file that is not a socket\n",
    ]);
    let done = folder.check("epoch = 3\n");
    done.refused(&["unknown field `epoch`", "`epoch` is gone: remove the line"]);
}

#[test]
fn a_site_without_tls_listens_to_this_machine_only() {
    let folder = Folder::new();
    folder.check("listen = \"0.0.0.0:7420\"\n").refused(&["0.0.0.0:7420", "insecure = true"]);
    folder.check("listen = \"[::]:7420\"\n").refused(&["[::]:7420", "insecure = true"]);
    assert_eq!(folder.check("listen = \"[::1]:7420\"\n").code, Some(0));
    assert_eq!(folder.check("listen = \"0.0.0.0:7420\"\ninsecure = true\n").code, Some(0));
    let tls = folder.tls("ca.pem", "site-1.pem", "site-1.key");
    assert_eq!(folder.check(&format!("listen = \"0.0.0.0:7420\"\n{tls}")).code, Some(0));
}

#[test]
fn names_without_an_address_are_found() {
    let folder = Folder::new();
    let site = |site: usize| {
        let text =
            folder.site_1("insecure = true\n").replace("site = 1", &format!("site = {site}"));
        let text = text.replace("127.0.0.1:2", "no-such-host.invalid:2");
        quorate_with("serve --check --config", &[&folder.configure(&text)])
    };
    let done = site(1);
    let says = "  warning: sites[2] = \"no-such-host.invalid:2\": it has no address";
    assert!(done.code == Some(0) && done.out.contains(says), "{}{}", done.out, done.err);
    site(2).refused(&["error: sites[2] = \"no-such-host.invalid:2\": it has no address here"]);
}

#[test]
fn certificates_and_keys_are_checked() {
    let (folder, other) = (Folder::new(), Folder::new());
    fs::copy(other.path("ca.pem"), folder.path("other-ca.pem")).unwrap();
    fs::copy(folder.path("site-1.key"), folder.path("open.key")).unwrap();
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(folder.path("open.key"), mode).unwrap();
    let refused = |ca: &str, cert: &str, key: &str, words: &[&str]| {
        folder.check(&folder.tls(ca, cert, key)).refused(words);
    };
    refused(
        "ca.pem",
        "site-2.pem",
        "site-2.key",
        &["site-2.pem does not name site-1.quorate: its names are site-2.quorate, quorate"],
    );
    refused(
        "ca.pem",
        "client.pem",
        "client.key",
        &[
            "client.pem does not name site-1.quorate: its names are client",
            "client.pem does not name quorate: its names are client",
        ],
    );
    refused(
        "other-ca.pem",
        "site-1.pem",
        "open.key",
        &[
            "site-1.pem is not signed by the authority in",
            "open.key is open to all users (mode 644): chmod 600",
        ],
    );
    refused("ca.pem", "site-1.pem", "site-2.key", &["site-2.key is not the key of"]);
    refused("no.pem", "no-1.pem", "no.key", &["no.pem cannot", "no-1.pem cannot", "no.key cannot"]);
    refused(
        "site-1.key",
        "site-1.key",
        "site-1.pem",
        &["site-1.key cannot be used: it has no certificate", "site-1.pem cannot be used"],
    );
}

/// The year, month and day, in UTC.
fn ymd(time: SystemTime) -> (i32, u8, u8) {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    let mut parts = text[..10].split('-').map(|part| part.parse::<u16>().unwrap());
    let mut next = || parts.next().unwrap();
    let (year, month, day) = (next(), next(), next());
    (year.into(), month.try_into().unwrap(), day.try_into().unwrap())
}

/// Makes an authority, and certificates of site 1 that are valid from and until these times.
fn make_with_times(folder: &Path, all: &[(&str, SystemTime, SystemTime)]) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    fs::write(folder.join("own-ca.pem"), authority.pem()).unwrap();
    for (name, start, end) in all {
        let names = ["site-1.quorate", "quorate"].map(str::to_owned).to_vec();
        let mut params = CertificateParams::new(names).unwrap();
        let date = |time| {
            let (year, month, day) = ymd(time);
            date_time_ymd(year, month, day)
        };
        (params.not_before, params.not_after) = (date(*start), date(*end));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.join(format!("{name}.key")), mode).unwrap();
    }
}

#[test]
fn the_end_of_a_certificate_is_reported_before_and_after() {
    let (folder, now) = (Folder::new(), SystemTime::now());
    let day = Duration::from_hours(24);
    let past = now - 99 * day;
    let times = [
        ("old", past, now - 9 * day),
        ("soon", past, now + 9 * day),
        ("early", now + 9 * day, now + 99 * day),
    ];
    make_with_times(folder.0.path(), &times);
    let early = folder.tls("own-ca.pem", "early.pem", "early.key");
    folder.check(&early).refused(&["early.pem is not valid before 20", "is the clock of"]);
    let old = folder.tls("own-ca.pem", "old.pem", "old.key");
    folder.check(&old).refused(&["old.pem expired on 20", ": make new certificates"]);
    quorate_with("serve --config", &[&folder.text("site.toml")])
        .refused(&["old.pem expired on 20"]);
    let soon = folder.tls("own-ca.pem", "soon.pem", "soon.key");
    let done = folder.check(&soon);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("\n  warning: "), "{}", done.out);
    assert!(done.out.contains("soon.pem expires on 20"), "{}", done.out);

    let mut sites = TestCluster::configure(1, |_, _| soon.clone(), Vec::new());
    sites.restart(1);
    sites.wait_for_log(1, &[" WARN a warning about the configuration", "soon.pem expires on 20"]);
    // A client whose certificate has expired.
    let files = [("--ca", "own-ca.pem"), ("--cert", "old.pem"), ("--key", "old.key")];
    let mut more = vec!["--connect".to_owned(), sites.addresses[0].clone()];
    more.extend(files.map(|(flag, file)| format!("{flag}={}", folder.text(file))));
    sites.wait_for_log(1, &["the site runs"]);
    let done = quorate_with("sites", &more.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(done.code, Some(125));
    let says = "our certificate is refused there: it is expired or not valid yet";
    assert!(done.err.contains(says), "{}", done.err);
    sites.wait_for_log(
        1,
        &[
            " WARN a connection was refused",
            "certificate=\"site-1.quorate, quorate\"",
            "its certificate is refused: it expired on 20",
        ],
    );
}

#[test]
fn the_record_of_an_earlier_start_is_checked() {
    let folder = Folder::new();
    let port = free_port();
    let mut sites = TestCluster::configure(1, |_, _| String::new(), Vec::new());
    let config = sites.file("site-1.toml").display().to_string();
    let check = || quorate_with("serve --check --config", &[&config]);
    sites.restart(1);
    sites.wait_for_log(1, &["the site runs"]);
    let done = check();
    let says = "site.redb: a site runs with this folder; its record was not checked";
    assert!(done.code == Some(0) && done.out.contains(says), "{}{}", done.out, done.err);
    sites.kill(1);
    let done = check();
    assert!(done.code == Some(0) && !done.out.contains("warning"), "{}{}", done.out, done.err);

    let record = sites.file("data-1/site.redb");
    let bytes = fs::read(&record).unwrap();
    let end = format!("data = {:?}\n", sites.file("data-1"));
    let text = format!("cluster = \"c\"\nsite = 1\nsites = [\"127.0.0.1:{port}\"]\n{end}");
    let path = folder.configure(&text);
    for (name, content) in [("empty", &[][..]), ("text", b"hello"), ("short", &bytes[..5000])] {
        fs::write(&record, content).unwrap();
        let done = quorate_with("serve --check --config", &[&path]);
        assert_eq!(done.code, Some(2), "{name}: {}{}", done.out, done.err);
        assert!(done.err.contains("site.redb: it is"), "{name}: {}", done.err);
        assert_eq!(fs::read(&record).unwrap(), content, "{name}: it is as before");
    }
}
