//! The measured cluster: a process for each site, the last one behind two wires that can be cut,
//! one for the other sites and one for clients.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::Arguments;
use crate::cluster::{LEASE_MS, TestCluster, free_port};

/// A cluster of real processes.
pub(crate) struct Sites {
    pub(crate) cluster: TestCluster,
    pub(crate) lease: Duration,
    wire: Wire,
    client_wire: Wire,
    /// The address of the last site for clients.
    client_address: String,
}

/// How the last site goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    Killed,
    Stopped,
    /// Clients do not reach it; the other sites do.
    CutOff,
    /// It does not reach the other sites; clients reach it.
    Isolated,
}

impl Sites {
    /// Starts the sites, and waits until they are connected. The last one dials nobody, so all its
    /// connections pass the wire.
    pub(crate) fn start(arguments: &Arguments) -> Self {
        let (count, lease_ms) = (arguments.sites, arguments.lease_ms);
        let mut cluster = TestCluster::configure(count, |_, _| String::new(), Vec::new());
        let behind = format!("127.0.0.1:{}", free_port());
        cluster.change(count, "data =", &format!("listen = {behind:?}\ndata ="));
        let client_address = format!("127.0.0.1:{}", free_port());
        let client_wire = Wire::start(&client_address, behind.clone());
        let wire = Wire::start(&cluster.addresses[count - 1], behind);
        for site in 1..=count {
            let (from, to) = (format!("lease_ms = {LEASE_MS}"), format!("lease_ms = {lease_ms}"));
            cluster.change(site, &from, &to);
            cluster.restart(site);
        }
        cluster.wait_until_connected();
        let lease = Duration::from_millis(lease_ms);
        Self { cluster, lease, wire, client_wire, client_address }
    }

    /// The number of the last site.
    pub(crate) fn last(&self) -> usize {
        self.cluster.addresses.len()
    }

    /// The address of the last site, by which clients can be cut off from it.
    pub(crate) fn last_for_clients(&self) -> String {
        self.client_address.clone()
    }

    /// The addresses of all sites, the last one's as clients use it.
    pub(crate) fn all_for_clients(&self) -> Vec<String> {
        let others = self.cluster.addresses[..self.last() - 1].iter();
        others.chain([&self.client_address]).cloned().collect()
    }

    /// The last site goes away.
    pub(crate) fn begin(&mut self, outage: Outage) {
        match outage {
            Outage::Killed => self.cluster.kill(self.last()),
            Outage::Stopped => self.cluster.signal(self.last(), Signal::SIGSTOP),
            Outage::CutOff => self.client_wire.set_cut(true),
            Outage::Isolated => self.wire.set_cut(true),
        }
    }

    /// The last site is back, and all sites hear each other.
    pub(crate) fn end(&mut self, outage: Outage) {
        match outage {
            Outage::Killed => self.cluster.restart(self.last()),
            Outage::Stopped => self.cluster.signal(self.last(), Signal::SIGCONT),
            Outage::CutOff => self.client_wire.set_cut(false),
            Outage::Isolated => self.wire.set_cut(false),
        }
        self.cluster.wait_until_connected();
    }

    /// The address of a site.
    pub(crate) fn address(&self, site: usize) -> String {
        self.cluster.addresses[site - 1].clone()
    }

    /// Kills a site and starts it again.
    pub(crate) fn restart(&mut self, site: usize) {
        self.cluster.kill(site);
        self.cluster.restart(site);
        self.recover();
    }

    /// Stops a site for two leases.
    pub(crate) fn pause(&self, site: usize) {
        self.cluster.signal(site, Signal::SIGSTOP);
        thread::sleep(2 * self.lease);
        self.cluster.signal(site, Signal::SIGCONT);
        self.recover();
    }

    /// Cuts the last site off for two leases.
    pub(crate) fn cut(&self) {
        self.wire.set_cut(true);
        thread::sleep(2 * self.lease);
        self.wire.set_cut(false);
        self.recover();
    }

    /// Waits until all sites hear each other, and two leases more.
    fn recover(&self) {
        self.cluster.wait_until_connected();
        thread::sleep(2 * self.lease);
    }
}

/// Passes bytes on to a site. While it is cut, connections stay open and nothing passes.
struct Wire {
    cut: Arc<(Mutex<bool>, Condvar)>,
}

impl Wire {
    fn start(address: &str, site: String) -> Self {
        let listener = TcpListener::bind(address).expect("the port is free");
        let cut = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&cut);
        thread::spawn(move || {
            for near in listener.incoming() {
                let (near, cut, site) = (near.expect("a connection"), shared.clone(), site.clone());
                thread::spawn(move || connect(&near, &site, &cut));
            }
        });
        Self { cut }
    }

    fn set_cut(&self, is_cut: bool) {
        *self.cut.0.lock().expect("no thread panics with it") = is_cut;
        self.cut.1.notify_all();
    }
}

/// Waits while the wire is cut.
fn wait_for_wire(cut: &(Mutex<bool>, Condvar)) {
    let is_cut = cut.0.lock().expect("no thread panics with it");
    drop(cut.1.wait_while(is_cut, |is_cut| *is_cut));
}

fn connect(near: &TcpStream, site: &str, cut: &Arc<(Mutex<bool>, Condvar)>) {
    wait_for_wire(cut);
    let Ok(far) = TcpStream::connect(site) else { return };
    let copies = [(near.try_clone(), far.try_clone()), (far.try_clone(), near.try_clone())];
    for (from, to) in copies {
        let (Ok(from), Ok(to)) = (from, to) else { return };
        let cut = Arc::clone(cut);
        thread::spawn(move || pass(from, to, &cut));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, cut: &(Mutex<bool>, Condvar)) {
    to.set_nodelay(true).ok();
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        wait_for_wire(cut);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}
