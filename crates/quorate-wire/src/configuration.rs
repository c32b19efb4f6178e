//! The settings that must be equal at all sites, as they are compared in a handshake.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The settings that must be equal at all sites of a cluster: names and values as text.
///
/// ```
/// use quorate_wire::Configuration;
/// let ours: Configuration = [("cluster", "prod"), ("lease_ms", "3000")].into_iter().collect();
/// let theirs = [("cluster", "prod"), ("lease_ms", "5000")].into_iter().collect();
/// let [difference] = &ours.differences(&theirs)[..] else { panic!("there is one") };
/// assert_eq!(difference.to_string(), "lease_ms differs: 3000 here, 5000 there");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub struct Configuration(Vec<(String, String)>);

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Its name.
    pub field: String,
    /// Its value at this end.
    pub here: String,
    /// Its value at the other end.
    pub there: String,
}

impl Configuration {
    /// The most bytes of a name or a value. Longer values are cut, and end with a digest.
    pub const MAX_TEXT: usize = 256;

    /// The most settings; addresses of sites count one by one.
    pub const MAX_FIELDS: usize = 2048;

    /// The most differences that are reported.
    pub const MAX_DIFFERENCES: usize = 4;

    /// The first differences to `other`, in our order; then what `other` has in addition. If the
    /// first setting differs, which is the name of the cluster, the others are of no interest.
    pub fn differences(&self, other: &Configuration) -> Vec<Difference> {
        let ours: BTreeMap<&str, &str> = self.pairs().collect();
        let theirs: BTreeMap<&str, &str> = other.pairs().collect();
        let added = other.pairs().filter(|(field, _)| !ours.contains_key(field));
        let fields = self.pairs().chain(added).map(|(field, _)| field);
        let value = |of: &BTreeMap<&str, &str>, field: &str| {
            of.get(field).copied().unwrap_or("not known").to_owned()
        };
        let compare = |field: &str| {
            let (here, there) = (value(&ours, field), value(&theirs, field));
            (here != there).then(|| Difference { field: field.to_owned(), here, there })
        };
        let mut found: Vec<_> = fields.filter_map(compare).take(Self::MAX_DIFFERENCES).collect();
        let first = self.pairs().next().map(|(field, _)| field);
        if found.first().is_some_and(|difference| Some(difference.field.as_str()) == first) {
            found.truncate(1);
        }
        found
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(field, value)| (field.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Configuration {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(all: T) -> Self {
        Self(all.into_iter().map(|(field, value)| (field.into(), cut(value.into()))).collect())
    }
}

impl TryFrom<Vec<(String, String)>> for Configuration {
    type Error = &'static str;

    fn try_from(all: Vec<(String, String)>) -> Result<Self, Self::Error> {
        let is_long = |text: &String| text.len() > Self::MAX_TEXT;
        if all.len() > Self::MAX_FIELDS || all.iter().any(|(a, b)| is_long(a) || is_long(b)) {
            return Err("a configuration is too long");
        }
        Ok(Self(all))
    }
}

/// Cuts a value that is too long, and appends a digest of it.
fn cut(mut value: String) -> String {
    if value.len() > Configuration::MAX_TEXT {
        // FNV-1a-64
        let digest = value.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let end = format!("... (digest {digest:016x})");
        value.truncate(value.floor_char_boundary(Configuration::MAX_TEXT - end.len()));
        value += &end;
    }
    value
}

/// The setting that says which protocol pools have.
const POOL: &str = "pool";

/// Sites whose pools have different protocols would grant a unit twice.
const POOL_ADVICE: &str = " (to change it, stop all sites, give all the same and start them again; \
     units that are held are lost then)";

impl Difference {
    /// What must be done beside making both equal, where that is not obvious.
    fn advice(&self) -> &'static str {
        if self.field == POOL { POOL_ADVICE } else { "" }
    }

    /// The differences as one text.
    pub(crate) fn list(all: &[Difference]) -> String {
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        texts.join("; ")
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The other end may be anybody, and this goes to logs and terminals.
        let [field, here, there] = [&self.field, &self.here, &self.there].map(|t| t.escape_debug());
        write!(f, "{field} differs: {here} here, {there} there{}", self.advice())
    }
}
