//! `quorate bench`: all workloads run and yield figures.

use serde_json::Value;

use crate::program::quorate;

fn rows(flags: &str) -> Vec<Value> {
    let done = quorate(&format!("bench --quick --json {flags}"));
    assert_eq!(done.code, Some(0), "{}", done.err);
    done.json()["rows"].as_array().expect("there are rows").clone()
}

fn positive(row: &Value, keys: &[&str]) {
    for key in keys {
        assert!(row[key].as_f64().is_some_and(|figure| figure > 0.0), "{key} of {row}");
    }
}

#[test]
fn every_workload_is_measured_inside_a_site_and_over_the_socket() {
    let rows = rows("--sites 3");
    let named = |name: &str, via: &str| {
        let of = |row: &&Value| row["workload"] == name && row["via"] == via;
        let found: Vec<Value> = rows.iter().filter(of).cloned().collect();
        assert!(!found.is_empty(), "{name} via {via}");
        found
    };
    for raw in ["raw round trip", "raw fan-out"] {
        positive(&named(raw, "raw")[0], &["p50_us", "p99_us", "ratio_to_raw"]);
    }
    positive(&named("uncontended", "thread")[0], &["p50_us", "ratio_to_raw"]);
    for via in ["embedded", "socket"] {
        let measured = [
            "p50_us",
            "p99_us",
            "pairs_per_s",
            "cpu_us_per_pair",
            "messages_per_pair",
            "ratio_to_raw",
        ];
        positive(&named("uncontended", via)[0], &measured);
        for (name, callers) in [
            ("hand-over", &[2, 8, 32][..]),
            ("independent names", &[16, 64]),
            ("pool, 1 of 8 units", &[1, 16]),
            ("pool by arbiters, 1 of 8 units", &[1, 16]),
            ("group lock, 1 group", &[1, 16]),
            ("group lock, 2 groups", &[16]),
            ("group lock, light load", &[3]),
            ("group lock, heavy load", &[3]),
            ("group lock by token, 2 groups", &[16]),
            ("group lock by token, light load", &[3]),
            ("group lock by token, heavy load", &[3]),
        ] {
            let rows = named(name, via);
            let seen: Vec<u64> = rows.iter().filter_map(|row| row["callers"].as_u64()).collect();
            assert_eq!(seen, callers, "{name} via {via}");
            for row in rows {
                positive(&row, &measured);
                if row["callers"] != 1 {
                    positive(&row, &["jain"]);
                }
            }
        }
        positive(&named("hand-over, kept 10 ms", via)[0], &measured);
        positive(&named("kill -9 of a holder", via)[0], &["p50_us", "leases"]);
        positive(&named("idle", via)[0], &["cpu_percent"]);
        for (name, least, most) in [
            // Request, reply and release, with the one other site of a quorum of two.
            ("uncontended", 2.7, 3.3),
            // Request, reply, enter and left; to all sites, permission and release.
            ("pool, 1 of 8 units", 3.6, 4.4),
            ("pool by arbiters, 1 of 8 units", 5.4, 6.6),
            // The site has the idle token.
            ("group lock by token, 1 group", 0.0, 0.1),
            // An entry takes at most n + 1; some find the token at their site.
            ("group lock by token, light load", 0.5, 4.0),
            ("group lock by token, heavy load", 0.5, 4.0),
        ] {
            let row = &named(name, via)[0];
            let seen = row["messages_per_pair"].as_f64().expect("it has pairs");
            assert!((least..=most).contains(&seen), "{row}");
        }
    }
    for row in rows.iter().filter(|row| row["pairs_per_s"].is_null()) {
        assert!(row["messages_per_pair"].is_null(), "{row}");
    }
}

#[test]
fn raw_and_locks_are_measured_with_tls_too() {
    let rows = rows("--sites 2 --tls --only uncontended");
    let seen: Vec<&str> = rows.iter().filter_map(|row| row["via"].as_str()).collect();
    assert_eq!(seen, ["raw", "raw", "embedded", "thread", "socket"]);
    for row in &rows {
        positive(row, &["p50_us", "ratio_to_raw"]);
    }
}

#[test]
fn invalid_bench_arguments_are_refused() {
    quorate("bench --sites 1").refused(&["2..=31"]);
    quorate("bench --via ether").refused(&["embedded", "socket"]);
}
