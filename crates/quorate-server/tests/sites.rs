//! Sites on real sockets, with callers in this process.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use quorate_protocol::Fence;
use quorate_server::{Local, Server, SiteConfig};
use quorate_session::client::{Told, Wish};
use quorate_session::{CallId, Card, Want};
use tokio::sync::mpsc::UnboundedReceiver;

fn start(folder: &Path, n: usize) -> Vec<Server> {
    let listeners: Vec<TcpListener> =
        (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let sites: Vec<String> =
        listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
    let config = |site: usize| SiteConfig {
        lease_ms: 600,
        ..SiteConfig::new("test", site + 1, &sites, folder.join(format!("site-{}", site + 1)))
    };
    let start = |(site, listener)| Server::start_on(&config(site), listener).unwrap();
    listeners.into_iter().enumerate().map(start).collect()
}

fn claim(local: &Local) -> (CallId, UnboundedReceiver<Told>) {
    local.claim(Wish {
        name: "deploy".parse().unwrap(),
        want: Want::Mutex,
        card: Card::default(),
        patience: Some(Duration::from_secs(20)),
        hasty: false,
    })
}

fn granted(told: &mut UnboundedReceiver<Told>) -> Fence {
    match told.blocking_recv() {
        Some(Told::Granted(fence, ..)) => fence,
        other => panic!("{other:?}"),
    }
}

fn stop(server: Server) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(server.stop());
}

#[test]
fn a_lock_passes_between_sites_and_no_grant_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let servers = start(folder.path(), 3);
    let mut last = Fence(0);
    for server in &servers {
        let (call, mut told) = claim(&server.local());
        last = granted(&mut told); // by now every site has agreed to a lease, and written so
        server.local().leave(call);
    }
    let before: Vec<u64> = servers.iter().map(Server::disk_writes).collect();
    for turn in 1..200 {
        let local = servers[turn % 3].local();
        let (call, mut told) = claim(&local);
        let fence = granted(&mut told);
        assert!(fence > last, "{fence} after {last}");
        last = fence;
        local.leave(call);
    }
    let after: Vec<u64> = servers.iter().map(Server::disk_writes).collect();
    assert_eq!(before, after, "no sync on the way to a grant");
    servers.into_iter().for_each(stop);
}

#[test]
fn a_site_that_stops_is_followed_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut servers = start(folder.path(), 3);
    let (_, mut told) = claim(&servers[0].local());
    let first = granted(&mut told);
    let (_, mut next) = claim(&servers[1].local());
    stop(servers.remove(0));
    assert!(granted(&mut next) > first);
    assert!(matches!(told.blocking_recv(), Some(Told::Lost(_))), "the caller is told");
}
