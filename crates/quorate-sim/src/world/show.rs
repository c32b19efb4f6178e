//! What a site shows of itself, for `expect S shows NAME TEXT`.

use std::collections::BTreeMap;

use quorate_quorum::SiteId;

use super::World;
use crate::SimProtocol;

impl<P: SimProtocol> World<P> {
    /// What `site` shows under a name; `none` if there is nothing.
    ///
    /// # Errors
    ///
    /// A site of this protocol shows nothing of that name; the text lists the names.
    pub(crate) fn show(&self, site: SiteId, name: &str) -> Result<String, String> {
        let shown = self.shown(site);
        let Some(text) = shown.get(name) else {
            let names = shown.keys().copied().collect::<Vec<_>>().join(", ");
            return Err(format!("a site of a {} shows no `{name}`; it shows {names}", P::NAME));
        };
        Ok(match text.as_str() {
            _ if !self.is_up(site) => "nothing: it has crashed".to_owned(),
            "" => "none".to_owned(),
            text => text.to_owned(),
        })
    }

    /// Everything that `site` shows, by name.
    fn shown(&self, site: SiteId) -> BTreeMap<&'static str, String> {
        let node = &self.nodes[site.index()];
        let mut shown = BTreeMap::from([
            ("clock", node.shared.clock.time().to_string()),
            ("status", self.status(site)),
        ]);
        if P::ARBITERS {
            let view = node.protocol.view();
            let missing = view.claims.iter().flat_map(|claim| &claim.missing);
            shown.insert("holder", joined(&view.lent));
            shown.insert("missing", joined(missing));
            shown.insert("queue", joined(&view.queue));
        }
        shown.extend(node.protocol.show());
        shown
    }

    /// The states of a site's claims, each with its number where there may be several.
    fn status(&self, site: SiteId) -> String {
        let claims = self.nodes[site.index()].claims.iter().map(|(claim, state)| {
            let state: &str = state.into();
            if P::CONCURRENT_CLAIMS { format!("{} {state}", claim.0) } else { state.to_owned() }
        });
        let claims = claims.collect::<Vec<_>>().join(", ");
        if claims.is_empty() { "idle".to_owned() } else { claims }
    }
}

fn joined(items: impl IntoIterator<Item: ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}
