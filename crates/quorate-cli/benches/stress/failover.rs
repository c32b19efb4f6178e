//! The site of a client goes away: how soon another one serves it.

use std::time::{Duration, Instant};

use quorate::{Answer, Cluster, Guard, Mutex, Options, Question, SiteId};
use tokio::time::sleep;

use crate::Arguments;
use crate::client::run as run_client;
use crate::lateness;
use crate::sites::{Outage, Sites};

/// How often each outage happens.
const REPETITIONS: u32 = 20;

/// How many questions about waiters there are in a lease. So exact are the times of waiting claims.
/// With more, sites would not take them: one to a site that does not answer lasts for a lease.
const QUESTIONS: u32 = 24;

/// What is measured of one outage.
struct Times {
    /// From the outage until a lock is granted that is claimed then.
    fresh: Duration,
    /// From the outage until another site has the claim that waits.
    waiting: Duration,
    /// From its holder's release after that until the claim is granted.
    handed_over: Duration,
}

/// Prints how soon clients of the last site are served by another, in leases.
pub(crate) fn run(arguments: &Arguments) {
    let mut sites = Sites::start(arguments);
    let lease = sites.lease.as_secs_f64();
    println!("{} sites, leases of {lease} s, {REPETITIONS} outages each, in leases", sites.last());
    println!("{:<11} {:<36} {:>6} {:>6} {:>6}", "the site is", "measured", "median", "min", "max");
    for outage in [Outage::Stopped, Outage::Isolated, Outage::CutOff, Outage::Killed] {
        let times: Vec<Times> =
            (0..REPETITIONS).map(|nth| measure(&mut sites, outage, nth)).collect();
        print(outage, "a fresh claim is granted", lease, times.iter().map(|it| it.fresh));
        print(
            outage,
            "a waiting claim is queued elsewhere",
            lease,
            times.iter().map(|it| it.waiting),
        );
        print(outage, "and granted after a release", lease, times.iter().map(|it| it.handed_over));
    }
    lateness::run(&mut sites);
}

fn print(outage: Outage, what: &str, lease: f64, times: impl Iterator<Item = Duration>) {
    let mut leases: Vec<f64> = times.map(|time| time.as_secs_f64() / lease).collect();
    leases.sort_by(f64::total_cmp);
    let middle = leases.len() / 2;
    let median = f64::midpoint(leases[middle - 1], leases[middle]);
    let (min, max) = (leases[0], leases[leases.len() - 1]);
    println!("{:<11} {what:<36} {median:>6.2} {min:>6.2} {max:>6.2}", format!("{outage:?}"));
}

/// One outage. The clients are gone before the site returns.
fn measure(sites: &mut Sites, outage: Outage, nth: u32) -> Times {
    let times = run_client(async {
        let observers = Observers::start(sites).await;
        let observer = &observers.clusters[0];
        let (fresh, waiting) =
            (client_at_last(sites, observer).await, client_at_last(sites, observer).await);
        let (free, busy) = (format!("free/{outage:?}/{nth}"), format!("busy/{outage:?}/{nth}"));
        let holder = mutex(observer, &busy).lock().await.expect("nobody else wants it");
        let waiter = mutex(&waiting, &busy);
        let waiter = tokio::spawn(async move { waiter.lock().await });
        observers.see(&busy, |site| site.index() + 1 == sites.last()).await;
        // Renewals are a third of a lease apart: the outages fall everywhere between two of them.
        sleep(sites.lease / 3 + sites.lease / 3 * nth / REPETITIONS).await;
        sites.begin(outage);
        let start = Instant::now();
        let granted = tokio::spawn(async move { granted_after(start, mutex(&fresh, &free)).await });
        observers.see(&busy, |site| site.index() + 1 != sites.last()).await;
        let waiting = start.elapsed();
        let released = Instant::now();
        holder.release().await.expect("its site runs");
        let guard = waiter.await.expect("no panic").expect("a waiting claim does not fail");
        let handed_over = released.elapsed();
        drop(guard);
        Times { fresh: granted.await.expect("no panic"), waiting, handed_over }
    });
    sites.end(outage);
    times
}

fn mutex(cluster: &Cluster, name: &str) -> Mutex {
    cluster.mutex(name).expect("a valid name")
}

async fn granted_after(start: Instant, mutex: Mutex) -> Duration {
    let guard: Guard = mutex.lock().await.expect("another site serves it");
    let time = start.elapsed();
    drop(guard.release().await);
    time
}

/// A client of all sites that has begun with the last one. Clients begin with any.
async fn client_at_last(sites: &Sites, observer: &Cluster) -> Cluster {
    loop {
        let client = Options::new(sites.all_for_clients()).connect().await.expect("all sites run");
        let guard = mutex(&client, "where").lock().await.expect("nobody else wants it");
        let holders = observer.holders(guard.name()).await;
        let is_there = holders.iter().any(|holder| holder.site.index() + 1 == sites.last());
        guard.release().await.expect("its site runs");
        if is_there {
            return client;
        }
    }
}

/// A client at each site but the last.
struct Observers {
    clusters: Vec<Cluster>,
    pause: Duration,
}

impl Observers {
    async fn start(sites: &Sites) -> Self {
        let mut clusters = Vec::new();
        for site in 1..sites.last() {
            clusters.push(Cluster::connect(sites.address(site)).await.expect("it runs"));
        }
        Self { clusters, pause: sites.lease / QUESTIONS }
    }

    /// Waits until such a site says that a caller of its own waits.
    async fn see(&self, name: &str, is_there: impl Fn(SiteId) -> bool) {
        let question = Question::Show(name.parse().expect("a valid name"), None);
        for cluster in self.clusters.iter().cycle() {
            let next = Instant::now() + self.pause;
            let answers = cluster.ask(question.clone(), self.pause / 2).await.answers;
            let seen = answers.into_iter().any(|(site, answer)| {
                let Answer::Shown(Some(view)) = answer else { return false };
                is_there(site) && view.calls.iter().any(|call| call.fence.is_none())
            });
            if seen {
                return;
            }
            sleep(next - Instant::now()).await;
        }
    }
}
