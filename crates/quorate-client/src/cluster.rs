//! A client's handle to a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_net::clock;
use quorate_session::{
    Answer, Answering, BreakRequest, Claimant, Denial, Doubt, Fence, ListPage, ListQuestion, Name,
    Prefix, Question, ReasonText, ResourceView, SiteAnswer, SiteId,
};
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::dial::{self, Connected};
use crate::state::Reply;
use crate::{Election, Error, GroupLock, Holder, Mutex, Options, Pool, RwLock};

/// A handle to a cluster. Clones share one connection.
///
/// ```no_run
/// # async fn example() -> Result<(), quorate::Error> {
/// let cluster = quorate::Cluster::connect("127.0.0.1:7420").await?;
/// let guard = cluster.mutex("deploy")?.lock().await?;
/// println!("granted with fence {}", guard.fence());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(crate) client: Client,
    pub(crate) claimant: Claimant,
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
    /// The addresses it was given; none if the site is in this process.
    pub(crate) addresses: Arc<[String]>,
}

/// How long [`Cluster::holders`] waits for answers.
const HOLDERS_TIMEOUT: Duration = Duration::from_millis(500);

/// The answers of a cluster's sites to a question.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// The answers that came in time.
    pub answers: BTreeMap<SiteId, Answer>,
    /// The sites that were asked and did not answer in time.
    pub silent: Vec<SiteId>,
    /// Which sites answered, and whether they are enough.
    pub answering: Answering,
}

impl Responses {
    /// None yet, in a cluster of this many sites.
    fn none(sites: usize) -> Self {
        let answering = Answering { sites, ..Answering::default() };
        Self { answering, ..Self::default() }
    }

    fn add(&mut self, site: SiteId, answer: SiteAnswer) {
        let SiteAnswer { answer, quarantined, enough } = answer;
        let Answering { counted, quarantined: forgetful, .. } = &mut self.answering;
        if quarantined {
            forgetful.insert(site)
        } else {
            counted.insert(site)
        };
        self.answering.enough = enough; // it says so of all answers up to this one
        self.silent.retain(|silent| *silent != site);
        self.answers.insert(site, answer);
    }
}

impl Cluster {
    /// Connects to the site at this address. [`Options`] has more than one address, and TLS.
    ///
    /// # Errors
    ///
    /// The site cannot be reached, or refuses the connection.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Options::new([address.into()]).connect().await
    }

    pub(crate) async fn with(options: Options) -> Result<Self, Error> {
        let claimant = options.claimant.clone();
        let Connected { client, lease, sites, addresses } = dial::connect(options).await?;
        Ok(Self { client, claimant, lease, sites, addresses })
    }

    /// Sets the description of this process that others see while it holds or waits for a lock.
    pub fn with_claimant(mut self, claimant: Claimant) -> Self {
        self.claimant = claimant;
        self
    }

    /// The length of a lease. If a holder dies, its lock is free again within about two leases.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// All sites of the cluster, reachable or not.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + use<> {
        SiteId::all(self.sites)
    }

    /// A lock with one holder at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn mutex(&self, name: &str) -> Result<Mutex, Error> {
        Ok(Mutex::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// A pool of this many units. All claims of a name must state the same number.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn pool(&self, name: &str, units: u32) -> Result<Pool, Error> {
        Ok(Pool::new(self.clone(), name.parse().map_err(Error::Name)?, units))
    }

    /// A lock that callers of one group hold together.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn group(&self, name: &str) -> Result<GroupLock, Error> {
        Ok(GroupLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// A lock with many readers or one writer.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn rwlock(&self, name: &str) -> Result<RwLock, Error> {
        Ok(RwLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// An election, with one leader at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn election(&self, name: &str) -> Result<Election, Error> {
        Ok(Election::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// Waits until the site that this client uses is about to stop, and says how long that takes
    /// at most. Locks that are not released by then are lost: [`Guard::lost`] says so a lease
    /// before. Waiting claims go to another site by themselves.
    ///
    /// [`Guard::lost`]: crate::Guard::lost
    pub async fn site_stops(&self) -> Duration {
        let end = self.client.site_stops().await;
        Duration::from_nanos(end.0.saturating_sub(clock::now().0))
    }

    /// Asks all sites, and waits for their answers until the timeout, but no longer than a lease.
    pub async fn ask(&self, question: Question, timeout: Duration) -> Responses {
        let (mut replies, end) =
            (self.client.ask(question), Instant::now() + timeout.min(self.lease));
        let mut responses = Responses::none(self.sites);
        while let Ok(Some(reply)) = timeout_at(end, replies.recv()).await {
            match reply {
                Reply::Asked(sites) => responses.silent = sites,
                Reply::Answer(site, answer) => responses.add(site, answer),
            }
            if responses.silent.is_empty() {
                break;
            }
        }
        responses
    }

    /// A page of the locks in use, in the order of their names: those whose names begin with
    /// `prefix` and come after `after`. [`ListPage::next`] is where the next page begins. A page
    /// has some hundred locks; each site lists only some callers of each, and counts the others.
    ///
    /// # Errors
    ///
    /// [`Error::Text`]: the prefix is too long or has control characters.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<Name>,
        timeout: Duration,
    ) -> Result<(ListPage, Answering), Error> {
        let prefix = Prefix::new("prefix", prefix).map_err(Error::Text)?;
        let question = Question::List(ListQuestion { prefix, after });
        let Responses { answers, answering, .. } = self.ask(question, timeout).await;
        Ok((ListPage::of(answers), answering))
    }

    /// The holders of `name`, as far as the sites answer within half a second. Of many holders at
    /// one site, the first [`limits::CALLERS_SHOWN`] are returned.
    ///
    /// [`limits::CALLERS_SHOWN`]: crate::limits::CALLERS_SHOWN
    pub async fn holders(&self, name: &Name) -> Vec<Holder> {
        self.ask_for_holders(name, HOLDERS_TIMEOUT).await.0
    }

    /// The holders of `name`, and why there may be others.
    pub(crate) async fn ask_for_holders(
        &self,
        name: &Name,
        timeout: Duration,
    ) -> (Vec<Holder>, Option<Doubt>) {
        let Responses { answers, answering, .. } =
            self.ask(Question::Show(name.clone(), None), timeout).await;
        let views = answers.into_iter().filter_map(|(site, answer)| match answer {
            Answer::Shown(Some(view)) => Some((site, *view)),
            _ => None,
        });
        let views: BTreeMap<SiteId, ResourceView> = views.collect();
        let doubt = answering.doubt(&views);
        let holders = views.into_iter().flat_map(|(site, view)| {
            view.calls.into_iter().filter_map(move |call| {
                let fence = call.fence?;
                Some(Holder { site, claimant: call.claimant, fence, age: call.age })
            })
        });
        (holders.collect(), doubt)
    }

    /// The error of a claim that would have to wait. The sites have so long to say for whom.
    pub(crate) async fn busy(&self, name: &Name, timeout: Duration) -> Error {
        Error::Busy(self.ask_for_holders(name, timeout.min(HOLDERS_TIMEOUT)).await.0)
    }

    /// The error of a claim that was denied.
    pub(crate) fn denied(&self, denial: Denial) -> Error {
        match denial {
            Denial::NoAnswer(last_answer) if !self.addresses.is_empty() => {
                Error::NoAnswer { tried: self.addresses.to_vec(), last_answer }
            }
            denial => Error::Denied(denial),
        }
    }

    /// Asks the sites to end the grant of `name` with this fence, though its holder does not
    /// release it. Returns at once; the lock is free up to a lease later.
    ///
    /// # Errors
    ///
    /// [`Error::Text`]: the reason is too long or has control characters. Nothing was sent.
    pub fn break_grant(&self, name: Name, fence: Fence, reason: &str) -> Result<(), Error> {
        let reason = ReasonText::new("reason", reason).map_err(Error::Text)?;
        let by = self.claimant.clone();
        self.client.break_grant(BreakRequest { name, fence, by, reason });
        Ok(())
    }
}
