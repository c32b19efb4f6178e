//! Spare permissions of holders that stay.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use quorate_quorum::SiteId;

use super::net::{Net, Stopwatch};

/// A sixth of the usual lease, and a little more.
const STAY: Duration = Duration::from_millis(600);

#[test]
fn a_holder_that_stays_asks_all_sites_and_one_that_does_not_asks_a_quorum() {
    let mut net = Net::new(5);
    let call = net.claim(0, "deploy");
    let knows = |net: &Net| (0..5).filter(|&site| net.site(site).names().count() == 1).count();
    assert_eq!(knows(&net), 3);
    net.pass(STAY);
    assert_eq!(knows(&net), 5);
    net.leave(0, call);
    assert_eq!(knows(&net), 0);

    let sent = net.site(0).messages_sent();
    let call = net.claim(0, "deploy");
    net.leave(0, call);
    net.pass(STAY);
    assert_eq!(net.site(0).messages_sent() - sent, 4, "a request and a release to two others");
    assert_eq!(knows(&net), 0);
}

#[test]
fn many_holders_do_not_fill_the_streams() {
    const LOCKS: usize = 10_000;
    let mut net = Net::new(3);
    for lock in 0..LOCKS {
        net.claim(0, &format!("lock-{lock}"));
        net.effects.clear();
    }
    net.pass(STAY);
    for peer in [1, 2] {
        assert!(net.site(0).sessions().goes_on(SiteId::new(peer)), "the stream to {peer} is over");
    }
    net.pass(Duration::from_secs(10));
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), LOCKS, "site {site} has lent to all");
    }
}

/// Counts steps.
struct Steps(Rc<Cell<usize>>);

impl Stopwatch for Steps {
    fn begin(&mut self) {
        self.0.set(self.0.get() + 1);
    }

    fn end(&mut self) {}
}

/// How many steps all sites make from an eighth of a lease to half a lease after site 0 has taken
/// so many locks, while nobody acknowledges the messages that ask for spare permissions.
fn steps_without_room(locks: usize) -> usize {
    let mut net = Net::with(3, |config| config.locks_per_step = 1);
    for lock in 0..locks {
        net.claim(0, &format!("lock-{lock}"));
    }
    net.pass(Duration::from_millis(200));
    for peer in [1, 2] {
        net.cut(0, peer);
        net.cut(peer, 0);
    }
    net.pass(STAY);
    let steps = Rc::new(Cell::new(0));
    net.stopwatch = Some(Box::new(Steps(Rc::clone(&steps))));
    net.pass(STAY);
    steps.get()
}

#[test]
fn a_holder_that_waits_for_room_keeps_its_site_from_nothing() {
    let (few, many) = (steps_without_room(400), steps_without_room(1_200));
    assert!(few > 0, "leases are renewed");
    assert_eq!(few, many, "nobody looks at a holder that waits");
}
