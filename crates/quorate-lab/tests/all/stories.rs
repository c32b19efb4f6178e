//! Histories that are drawn show what happened.

use quorate_laboratory::{Arrow, Delivery, Diagram, EXPERIMENTS, Finding, Settings, SiteState};

fn stories() -> Vec<Diagram> {
    let stories = EXPERIMENTS.into_iter().find(|experiment| experiment.name == "stories");
    let mut diagrams = Vec::new();
    stories.expect("it exists").run(
        Settings { seed: 1, quick: true, clock: false },
        &mut |finding| {
            if let Finding::Diagram(diagram) = finding {
                diagrams.push(diagram);
            }
        },
    );
    diagrams
}

fn story(name: &str) -> Diagram {
    let found = stories().into_iter().find(|story| story.title.ends_with(name));
    found.unwrap_or_else(|| panic!("no story of {name}"))
}

#[test]
fn messages_take_t_and_join_two_sites() {
    for story in stories() {
        for arrow in &story.arrows {
            assert_ne!(arrow.from, arrow.to, "{}", story.title);
            assert!((arrow.arrives - arrow.sent - 1.0).abs() < 1e-9, "{}: {arrow:?}", story.title);
        }
    }
}

#[test]
fn a_hand_over_takes_2t_by_way_of_an_arbiter_and_t_without() {
    for (name, label, kinds) in
        [("maekawa", "2T", ["release", "locked"]), ("mutex", "T", ["reply", "release"])]
    {
        let story = story(name);
        let [span] = &story.spans[..] else { panic!("one time is marked") };
        assert_eq!(span.label, label, "{name}");
        let meanwhile = |arrow: &&Arrow| {
            (span.from..span.until).contains(&arrow.sent) && kinds.contains(&arrow.kind)
        };
        assert_eq!(story.arrows.iter().filter(meanwhile).count(), 2, "{name}");
    }
    assert_eq!(story("mutex").messages(&["transfer"]), 1, "announced before");
    assert_eq!(story("maekawa").messages(&["transfer"]), 0);
}

#[test]
fn a_follower_is_let_in_by_a_manager_while_another_group_waits() {
    let story = story("group");
    assert_eq!((story.together(), story.messages(&["enter"])), (2, 1));
    let waits = |site| {
        let of = story.intervals.iter().filter(move |stay| stay.site == site);
        of.filter(|stay| stay.state == SiteState::Waiting).map(|stay| stay.until - stay.from)
    };
    assert!(waits(1).sum::<f64>() > waits(2).sum::<f64>(), "group b waits longer");
    let (first, second) = (story.inside(0).next(), story.inside(1).next());
    assert!(first.unwrap().1 < second.unwrap().0, "groups do not mix");
}

#[test]
fn who_waits_makes_a_new_token_when_the_holder_is_gone() {
    let story = story("token");
    let down = story.intervals.iter().find(|stay| stay.state == SiteState::Down).unwrap();
    assert_eq!((down.site, down.from), (0, 2.0));
    assert!(story.moments.iter().any(|moment| moment.site == 1 && moment.what == "t1 runs out"));
    assert!(
        story.arrows.iter().any(|arrow| arrow.delivery == Delivery::Lost && arrow.to == 0),
        "nobody is there"
    );
    for kind in ["prepare", "promise", "new_epoch"] {
        assert!(story.messages(&[kind]) > 0, "{kind}");
    }
    assert!(story.inside(1).next().unwrap().0 > down.from);
    assert!(story.inside(2).next().is_some(), "and the other is let in too");
}

#[test]
fn every_message_has_its_name_in_the_picture() {
    for story in stories() {
        let svg = story.svg();
        let texts = svg.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
        let names: Vec<&str> = texts.flat_map(|(_, text)| text.split(['\n', ','])).collect();
        for arrow in &story.arrows {
            let named = names.iter().filter(|name| name.trim() == arrow.kind).count();
            assert_eq!(named, story.messages(&[arrow.kind]), "{}: {}", story.title, arrow.kind);
        }
    }
}
