//! What a script can check and set: fences, counts, what sites show, doubled messages, hosts.

use quorate_sim::script::{Script, ScriptError};

fn run(text: &str) -> Result<(), ScriptError> {
    Script::parse(text)?.run(|_| {}).map(|_| ())
}

fn complaint(text: &str) -> String {
    run(text).expect_err("the script is wrong").to_string()
}

/// Checks `lines` below `story`, one after the other.
fn holds(story: &str, lines: &[&str]) {
    for line in lines {
        run(&format!("{story}{line}\n")).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

/// 2 is inside with the permission of 3, and 1 comes next.
const HANDOVER: &str = "\
quorum 1: 3
quorum 2: 3
clock 1 = 1
2 acquires
settle
1 acquires
settle
";

#[test]
fn every_lock_shows_its_holder_its_queue_and_its_status() {
    let mutex = [
        "expect 3 shows holder 1.2",
        "expect 3 shows queue 2.1",
        "expect 3 shows status idle",
        "expect 3 shows clock 2",
        "expect 2 shows status inside",
        "expect 2 shows holder none",
        "expect 2 shows next 2.1 for 3",
        "expect 2 shows missing none",
        "expect 1 shows status waiting",
        "expect 1 shows missing 3",
    ];
    holds(HANDOVER, &mutex);

    let pool = "protocol pool\nsites 3\n1 acquires 2 of 3\nsettle\n1 acquires 2 of 3\nsettle\n";
    let shown = [
        "expect 2 shows free 1",
        "expect 2 shows holder 1.1",
        "expect 2 shows queue 2.1",
        "expect 1 shows status 1 inside, 2 waiting",
        "expect 3 shows status idle",
    ];
    holds(pool, &shown);

    let group = "\
        protocol group\nsites 3\n1 acquires group a\nsettle\n2 acquires group a\nsettle\n\
        3 acquires group b\nsettle\n";
    let shown = [
        "expect 2 shows group a",
        "expect 2 shows pivot 1.1",
        "expect 2 shows holder 1.1 2.2",
        "expect 2 shows queue none",
        "expect 2 shows status 1 inside",
        "expect 3 shows group none",
        "expect 3 shows missing 1",
        "expect 3 shows status 1 waiting",
    ];
    holds(group, &shown);

    let role = "\
        protocol role\nsites 3\nhost a = 2\nhost b = 3\n1 acquires role exclusive a for 4ms\n\
        settle\n3 acquires role exclusive b for 4ms\nsettle\n";
    let shown = [
        "expect 2 shows holder 2.2",
        "expect 3 shows queue 4.3",
        "expect 2 shows stages a 2.2 inside",
        "expect 3 shows stages b 4.3 waiting",
        "expect 1 shows status 1 inside",
        "expect 3 shows status 1 waiting",
    ];
    holds(role, &shown);

    let token = "\
        protocol token\nsites 3\n1 acquires group a\nsettle\n2 acquires group b\nsettle\n";
    let shown = [
        "expect 1 shows state EC",
        "expect 1 shows token 0.2",
        "expect 1 shows holder 1.1",
        "expect 1 shows queue b: 2",
        "expect 2 shows queue none",
        "expect 2 shows requests 1 3",
        "expect 2 shows token none",
        "expect 2 shows status waiting",
    ];
    holds(token, &shown);
}

#[test]
fn an_unknown_name_is_refused_with_those_there_are() {
    let cases = [
        (
            "sites 1\n",
            "a site of a mutex shows no `x`; it shows clock, holder, missing, next, queue, status",
        ),
        (
            "protocol pool\nsites 1\n",
            "a site of a pool shows no `x`; it shows clock, free, holder, missing, queue, status",
        ),
        (
            "protocol group\nsites 1\n",
            "a site of a group shows no `x`; it shows clock, group, holder, missing, pivot, queue, \
             status",
        ),
        (
            "protocol role\nsites 1\n",
            "a site of a role shows no `x`; it shows clock, holder, missing, queue, stages, status",
        ),
        (
            "protocol token\nsites 1\n",
            "a site of a token shows no `x`; it shows clock, holder, missing, queue, requests, \
             state, status, token",
        ),
    ];
    for (head, expected) in cases {
        let text = format!("{head}expect 1 shows x y");
        let line = text.lines().count();
        assert_eq!(complaint(&text), format!("line {line}: {expected}"));
        assert!(run(&text).unwrap_err().is_bad_input(), "{text}");
    }
    let other = complaint(&format!("{HANDOVER}expect 3 shows holder 2.1"));
    assert_eq!(other, "line 8: expected 3 shows holder 2.1, but it is 1.2");
    let crashed = complaint("sites 3\nsessions\ncrash 1\nexpect 1 shows queue none");
    assert_eq!(crashed, "line 4: expected 1 shows queue none, but it is nothing: it has crashed");
}

#[test]
fn fences_and_kinds_of_messages_are_checked() {
    holds(HANDOVER, &["expect 2 fence 1", "expect transfer count 1", "expect yield count 0"]);
    let cases = [
        ("expect 2 fence 2", "2 fence 2, but it has 1"),
        ("expect 1 fence 1", "1 fence 1, but it is not inside"),
        (
            "expect transfer count 2",
            "transfer count 2, but 1 were sent: 1 fail, 1 reply, 2 request, 1 transfer",
        ),
    ];
    for (check, expected) in cases {
        assert_eq!(
            complaint(&format!("{HANDOVER}{check}")),
            format!("line 8: expected {expected}")
        );
    }
    let pool = "protocol pool\nsites 3\n1 acquires 1 of 2\n1 acquires 1 of 2\nsettle\n";
    holds(pool, &["expect 1/1 fence 1", "expect 1 fence 1"]);
}

#[test]
fn an_unknown_kind_of_message_is_named_with_its_line() {
    let lines = [
        "deliver 1 -> 2 requst",
        "drop 1 -> 2 requst",
        "duplicate 1 -> 2 requst",
        "expect 1 -> 2 has requst",
        "expect requst count 1",
    ];
    for line in lines {
        let text = format!("sites 3\n1 acquires\n{line}");
        assert_eq!(
            complaint(&text),
            "line 3: a mutex has no message `requst`; expected one of request, reply, fail, \
             inquire, transfer, yield, release, cancel, direct, where, have, lack, raise, raised"
        );
        assert!(run(&text).unwrap_err().is_bad_input(), "{text}");
    }
}

#[test]
fn a_doubled_message_arrives_twice() {
    let story = "protocol pool\noption unordered on\nquorum 2: 3\n2 acquires 1 of 1\n";
    run(&format!("{story}duplicate 2 -> 3 request\nsettle\nexpect 2 inside\nexpect ok count 1\n"))
        .unwrap();
    run(&format!("{story}duplicate 2 -> 3\ndeliver 2 -> 3\nexpect 2 -> 3 has request\n")).unwrap();
    let cases = [
        ("sites 3\nduplicate 1 -> 2", "line 2: nothing is under way on 1 -> 2"),
        (
            "sites 3\nduplicate 1",
            "line 2: `duplicate 1` is not understood; expected `duplicate A -> B [KIND]`",
        ),
        (
            "sites 3\nsessions\n1 acquires\nduplicate 1 -> 2",
            "line 4: `duplicate 1 -> 2` is impossible with `sessions`: they deliver messages once",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
    }
}

/// The token's protocol counts on a transport that doubles nothing.
#[test]
fn a_doubled_token_breaks_its_property() {
    let text = "protocol token\nsites 3\n2 acquires group a\ndeliver 2 -> 1 request\n\
                duplicate 1 -> 2 token\n";
    assert_eq!(
        complaint(text),
        "line 5: a property is broken: one token: there are 2 tokens of epoch 0"
    );
    run(&format!("{text}expect broken one token\n")).unwrap();
}

#[test]
fn a_group_is_hosted_where_a_script_says() {
    for host in 1..=3 {
        let text = format!(
            "protocol role\nsites 3\nhost a = {host}\n1 acquires role shared a for 4ms\nsettle\n\
             expect {host} shows stages a 2.{host} inside\n"
        );
        run(&text).unwrap();
    }
    let cases = [
        ("protocol role\nsites 3\nhost a = 4", "line 3: site 4 does not exist: this cluster has 3"),
        (
            "protocol role\nquorum 1: 1\nquorum 2: 1\nsites 3\nhost a = 3",
            "line 5: site 3 cannot host: it has no quorum to ask",
        ),
        (
            "protocol role\nsites 3\nhost a = 1\nhost a = 2",
            "line 4: the host of a was set in line 3 already",
        ),
        ("sites 3\nhost a = 1", "line 2: a mutex has no hosts; expected `protocol role`"),
        ("sites 3\nhost a 1", "line 2: `host a 1` is not understood; expected `host G = S`"),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
        assert!(run(text).unwrap_err().is_bad_input(), "{text}");
    }
}

#[test]
fn time_advances_in_any_unit() {
    let story = "protocol role\nsites 3\n1 acquires role exclusive a for 10ms\nsettle\n\
                 2 acquires role exclusive a for 10ms\nsettle\n";
    let waits = |time: &str, rest: &str| {
        run(&format!("{story}advance {time}\nexpect 2 waiting for {rest}\n")).unwrap();
    };
    waits("0ns", "10ms");
    waits("4ms", "6ms");
    waits("4000us", "6000us");
    waits("3999999ns", "6ms1ns");
    waits("3ms999us", "6001us");
    waits("1s", "0ms");
    assert_eq!(
        complaint("sites 1\nadvance 5 ms"),
        "line 2: `advance 5 ms` is not understood; expected `advance 50ms`"
    );
    assert_eq!(
        complaint("sites 1\nadvance 5h"),
        "line 2: `5h` is no time; expected a number with ns, us, ms, s or m, as in `50ms` or \
         `1s500ms`"
    );
}

/// Site 2 asks, gives up and asks again: two requests are under way, and a release.
#[test]
fn with_any_order_the_oldest_message_of_a_kind_is_taken() {
    let story = "protocol pool\noption unordered on\norder any\nquorum 2: 3\n\
                 2 acquires 1 of 1\n2 gives up\n2 acquires 1 of 1\n";
    for _ in 0..2 {
        run(&format!(
            "{story}deliver 2 -> 3 request\n  3 <- 2  request 1.2 for 1\n    3 -> 2  ok 1.2 #1\n"
        ))
        .unwrap();
    }
    run(&format!(
        "{story}drop 2 -> 3 request\ndeliver 2 -> 3 request\nexpect 3 shows holder 2.2\n"
    ))
    .unwrap();
    let missing = complaint(&format!("{story}deliver 2 -> 3 cancelled"));
    assert_eq!(
        missing,
        "line 8: expected a cancelled on 2 -> 3, but there is request, release, request"
    );
}

#[test]
fn messages_overtake_each_other_only_where_a_protocol_is_set_for_it() {
    let switch = |name| {
        format!("line 3: `order any` of a {name} needs its switch; expected `option unordered on`")
    };
    assert_eq!(complaint("protocol pool\nsites 3\norder any"), switch("pool"));
    assert_eq!(complaint("protocol role\nsites 3\norder any"), switch("role"));
    assert_eq!(complaint("sites 3\norder any"), "line 2: a mutex needs `order fifo`");
    run("protocol token\nsites 3\norder any\nsettle").unwrap();
    run("sites 3\norder fifo\nsettle").unwrap();
}

#[test]
fn a_settle_that_does_not_end_is_an_error_at_its_line() {
    let acquires: Vec<String> = (1..=60).map(|site| format!("{site} acquires")).collect();
    let text = format!("sites 2000\n{}\n\nsettle\n", acquires.join("\n"));
    let error = run(&text).unwrap_err();
    assert_eq!(error.line, 63);
    assert!(!error.is_bad_input());
    let text = error.to_string();
    assert!(text.starts_with("line 63: still not quiet after 100000 "), "{text}");
    assert!(text.ends_with("or `hold A -> B` on a channel that carries them"), "{text}");
}
