//! Whole spaces in which nothing breaks. Many tests begin with one that others begin with too: each
//! is searched once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use quorate_check::{Limits, Space, check};

/// The spaces that were searched, by all that tells them apart.
static SEARCHED: Mutex<BTreeMap<String, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());

/// Panics unless the search of this space is complete and finds nothing.
#[track_caller]
pub(crate) fn assert_clean(space: &Space) {
    let mut searched = SEARCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let once = Arc::clone(searched.entry(format!("{space:?}")).or_default());
    drop(searched);
    once.get_or_init(|| check(space, &Limits::default()).assert_clean());
}

#[test]
fn spaces_are_told_apart() {
    use quorate_check::Claims;
    use quorate_protocol::mutex::{Mutex, Options};
    use quorate_quorum::{Kind, build};
    let of = |options: Options, kind| {
        let quorums = build(kind, 3).unwrap();
        Space::new::<Mutex>(quorums, options, Claims::all(vec![()]), &[1, 1, 1])
    };
    let basic = of(Options::basic(), Kind::Majority);
    let others = [
        of(Options::default(), Kind::Majority),
        of(Options::basic(), Kind::Tree),
        Space { gives_up: 1, ..basic.clone() },
        Space { requests: vec![1, 1, 0], ..basic.clone() },
    ];
    for other in others {
        assert_ne!(format!("{other:?}"), format!("{basic:?}"));
    }
}
