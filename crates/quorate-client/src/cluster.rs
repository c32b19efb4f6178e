//! A cluster, as one process sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_session::{Answer, Break, Card, Fence, Name, Question, SiteId};
use tokio::time::{Instant, timeout_at};

use crate::client::{Client, Reply};
use crate::dial::{self, Connected};
use crate::{Election, Error, GroupLock, Holder, Mutex, Options, Pool, RwLock};

/// A cluster, as one process sees it; cheap to copy.
///
/// ```no_run
/// # async fn example() -> Result<(), quorate::Error> {
/// let cluster = quorate::Cluster::connect("127.0.0.1:7420").await?;
/// let guard = cluster.mutex("deploy")?.lock().await?;
/// println!("inside, with fence {}", guard.fence());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(crate) client: Client,
    pub(crate) card: Card,
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
}

/// For how long it is asked who holds a lock.
const SOON: Duration = Duration::from_millis(500);

/// What the sites of a cluster said to a question.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The answers of those that were reached in time.
    pub answers: BTreeMap<SiteId, Answer>,
    /// Those that were reached and did not answer in time.
    pub silent: Vec<SiteId>,
}

impl Cluster {
    /// Connects to a site.
    ///
    /// # Errors
    ///
    /// It cannot be reached, or does not want us.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Options::new([address.into()]).connect().await
    }

    pub(crate) async fn with(options: Options) -> Result<Self, Error> {
        let card = options.card.clone();
        let Connected { client, lease, sites } = dial::connect(options).await?;
        Ok(Self { client, card, lease, sites })
    }

    /// Says who asks, for people that wait.
    pub fn with_card(mut self, card: Card) -> Self {
        self.card = card;
        self
    }

    /// The length of a lease: what is lost is free again about so much later.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// All sites of the cluster, reached or not.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + use<> {
        SiteId::all(self.sites)
    }

    /// A lock that one holds at a time.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn mutex(&self, name: &str) -> Result<Mutex, Error> {
        Ok(Mutex::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// So many units, of which callers take some.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn pool(&self, name: &str, units: u32) -> Result<Pool, Error> {
        Ok(Pool::new(self.clone(), name.parse().map_err(Error::Name)?, units))
    }

    /// A lock that many hold together, if they are of one group.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn group(&self, name: &str) -> Result<GroupLock, Error> {
        Ok(GroupLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// A lock that many hold to read, or one to write.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn rwlock(&self, name: &str) -> Result<RwLock, Error> {
        Ok(RwLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// An election, in which one leads at a time.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn election(&self, name: &str) -> Result<Election, Error> {
        Ok(Election::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// Asks all sites something, and waits so long at most for their answers.
    pub async fn ask(&self, question: Question, patience: Duration) -> Gathered {
        let (mut replies, end) = (self.client.ask(question), Instant::now() + patience);
        let mut gathered = Gathered::default();
        while let Ok(Some(reply)) = timeout_at(end, replies.recv()).await {
            match reply {
                Reply::Asked(sites) => gathered.silent = sites,
                Reply::Answer(site, answer) => {
                    gathered.silent.retain(|silent| *silent != site);
                    gathered.answers.insert(site, answer);
                }
            }
            if gathered.silent.is_empty() {
                break;
            }
        }
        gathered
    }

    /// Who holds `name`, as far as the sites say in time.
    pub async fn holders(&self, name: &Name) -> Vec<Holder> {
        self.ask_for_holders(name, SOON).await.0
    }

    /// Who holds `name`, and how many sites answered in time.
    pub(crate) async fn ask_for_holders(
        &self,
        name: &Name,
        patience: Duration,
    ) -> (Vec<Holder>, usize) {
        let answers = self.ask(Question::Show(name.clone()), patience).await.answers;
        let answering = answers.len();
        let views = answers.into_iter().filter_map(|(site, answer)| match answer {
            Answer::Shown(Some(view)) => Some((site, view)),
            _ => None,
        });
        let holders = views.flat_map(|(site, view)| {
            view.calls.into_iter().filter_map(move |call| {
                let fence = call.fence?;
                Some(Holder { site, card: call.card, fence, age: call.age })
            })
        });
        (holders.collect(), answering)
    }

    /// The error of a claim that would have had to wait.
    pub(crate) async fn busy(&self, name: &Name) -> Error {
        Error::Busy(self.holders(name).await)
    }

    /// Wants the grant of `name` with this fence to end, though its holder does not release it. It
    /// takes up to a lease.
    pub fn break_grant(&self, name: Name, fence: Fence, reason: &str) {
        let wish = Break { name, fence, by: self.card.clone(), reason: reason.into() };
        self.client.break_grant(wish);
    }
}
