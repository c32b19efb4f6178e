//! What clients would be told of a lock, whichever sites answer.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::{SiteId, SiteSet};
use quorate_session::{Answering, CallId, Name, Question, ResourceView};
use quorate_site::client_gateway::{GatewayInput, SiteWithClients};
use quorate_site::{Input, Site};

use super::callers::place_of;
use super::run::Run;

impl Run<'_> {
    /// Checks for every set of sites that can answer now that it does not call the lock of a valid
    /// caller free.
    pub(super) fn check_views(&mut self, id: CallId) {
        let call = &self.calls[place_of(id)];
        if !self.plan.views || call.end <= self.now {
            return;
        }
        let name = self.names[call.name].clone();
        let sites = self.answering_sites();
        let called_free = subsets(sites.len()).find(|chosen| {
            let chosen: BTreeMap<SiteId, &Site> = chosen
                .iter()
                .filter_map(|place| sites.iter().nth(place.index()))
                .map(|(id, site)| (*id, site.site()))
                .collect();
            is_called_free(&chosen, self.nodes.len(), &name)
        });
        if let Some(chosen) = called_free {
            let ids = chosen.iter().filter_map(|place| sites.keys().nth(place.index()));
            let ids: SiteSet = ids.copied().collect();
            self.monitor.on_called_free(id, &name, &ids);
        }
    }

    /// The sites that run, as they are when they have handled what is due: before they answer.
    fn answering_sites(&self) -> BTreeMap<SiteId, SiteWithClients> {
        let running = self.nodes.iter().filter(|node| !node.paused);
        let site = |node: &super::node::Node| {
            let mut site = node.site.clone()?;
            let now = node.clock.read(self.now);
            site.step(now, GatewayInput::Site(Input::Time));
            Some((node.id, site))
        };
        running.filter_map(site).collect()
    }
}

/// All sets of places.
fn subsets(count: usize) -> impl Iterator<Item = SiteSet> {
    let set =
        move |mask: u32| SiteId::all(count).filter(|at| mask >> at.index() & 1 == 1).collect();
    (1..1 << count).map(set)
}

fn is_called_free(sites: &BTreeMap<SiteId, &Site>, n: usize, name: &Name) -> bool {
    let forgets = |site: &Site| site.is_quarantined();
    let (quarantined, counted): (BTreeSet<SiteId>, BTreeSet<SiteId>) =
        sites.keys().partition(|id| forgets(sites[id]));
    let heard: SiteSet = counted.iter().copied().collect();
    let first = sites.values().next().expect("a set of sites");
    let enough = first.is_enough(&Question::Show(name.clone(), None), &heard);
    let answering = Answering { sites: n, counted, quarantined, enough };
    let views = sites.iter().filter_map(|(id, site)| Some((*id, site.show(name)?)));
    let views: BTreeMap<SiteId, ResourceView> = views.collect();
    let inside = |view: &ResourceView| {
        view.more.inside > 0 || view.calls.iter().any(|call| call.fence.is_some())
    };
    let held = views.values().any(inside);
    answering.doubt(&views).is_none() && !held
}
