//! The runs of the program `quorate-lab` that belong to testing, in one place.
//!
//! A line has the arguments of `quorate-lab`; single quotes protect spaces. It passes if the
//! program exits with 0: no violation found, and the search complete. To add a run, add a line, and
//! its purpose above it.

/// Exhaustive checks and random runs of `cargo xtask test`: a few seconds each, on two cores.
pub(crate) const QUICK: &[&str] = &[
    // Changed frames for the decoder, changed packets for whole sites of every kind of lock.
    "fuzz frames --count 500000",
    "fuzz sites --runs 48 --steps 1500 --copies 4",
    // Every schedule of three sites that each ask twice: basic, 5.2.1, 5.3, all.
    "check mutex --sites 3 --requests 2 \
     --option yield_pass=off --option ahead=off --option lists=off",
    "check mutex --sites 3 --requests 2 --option ahead=off --option lists=off",
    "check mutex --sites 3 --requests 2 --option yield_pass=off",
    "check mutex --sites 3 --requests 2",
    // Four sites, three coteries.
    "check mutex --sites 4 --requests 1 --quorum quorums/cycle-4.txt",
    "check mutex --sites 4 --requests 1 --quorum quorums/hub-4.txt",
    "check mutex --sites 4 --requests 1 --quorum quorums/wheel-4.txt",
    // Every caller may give up.
    "check mutex --sites 3 --requests 1 --gives-up 3",
    // A session is lost and reopens, or not; one falls silent; a site crashes and does not restart.
    "check mutex --site --budget lose=1",
    "check mutex --site --budget lose=1 --no-reopen",
    "check mutex --site --budget silent=1",
    "check mutex --site --budget crash=1 --no-restart",
    "check mutex --site --requests 1,1,0 --budget lose=1,early=1 --option spares=0s",
    // Pools: mixed sizes, requests that come again, giving up, any order, numbers, faults.
    "check pool --sites 3 --requests 2 --claims '1 of 2, 2 of 2'",
    "check pool --sites 4 --claims '1 of 2; 2 of 2'",
    "check pool --sites 3 --claims '1 of 2; 2 of 2' --gives-up 2 --order any --option unordered=on",
    "check pool --sites 3 --requests 1,1,0 --claims '2 of 2; 1 of 2' --gives-up 1 --order any \
     --option unordered=on --budget duplicate=1",
    "check pool --sites 3 --claims '1 of 2 numbered'",
    "check pool --site --claims '2 of 2; 1 of 2' --budget lose=1",
    "check pool --site --requests 1,1,0 --claims '2 of 2; 1 of 2' --budget crash=1",
    "check pool --site --requests 1,1,0 --claims '2 of 2; 1 of 2' --budget lose=1,early=1 \
     --option spares=0s",
    // A claim for one unit needs all three sites: it withdraws, and asks again or not.
    "check pool --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget lose=1 --no-reopen",
    "check pool --site --requests 2,1,0 --claims '1 of 2; 2 of 2' --budget lose=1",
    "check pool --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget lose=2",
    "check pool --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget lose=1,silent=1",
    "check pool --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget crash=1",
    "check pool --site --requests 1,1,0 --claims '1 of 2 numbered; 2 of 2' --budget lose=1",
    "sim random --protocol pool --sites 5 --claims '1 of 3; 2 of 3; 3 of 3' --at-once 2 \
     --requests 4 --gives-up 3 --budget lose=6,silent=4,crash=2 --runs 5000",
    "sim random --protocol pool --sites 5 --claims '1 of 3 numbered; 2 of 3 numbered' \
     --budget lose=6,silent=4,crash=2 --runs 3000",
    "sim random --protocol pool --sites 7 --claims '1 of 2; 2 of 2' --budget crash=2 \
     --no-restart --runs 3000",
    // Ledger pools: callers together, giving up, long ledgers, sessions that end, crashes.
    "check ledger --requests 2,1,1 --at-once 2 --claims '1 of 2 numbered; 2 of 2' --gives-up 1 \
     --option whole=0",
    "check ledger --site --requests 1,1,0 --claims '1 of 2 numbered; 2 of 2' \
     --budget lose=1,silent=1",
    "check ledger --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget crash=1",
    "sim random --protocol ledger --sites 5 --claims '1 of 3; 2 of 3 numbered; 3 of 3' --at-once 2 \
     --requests 4 --gives-up 3 --inside ..12 --budget lose=6,silent=6,crash=2 --runs 3000",
    "sim random --protocol ledger --sites 7 --quorum plane --claims '1 of 2; 2 of 2' --inside ..12 \
     --budget lose=6,silent=6,crash=2 --option whole=0 --option spares=5ms --runs 2000",
    // Any of some groups: requesters and managers apart, a caller gives up; then sessions that end.
    "check group --quorum quorums/one-manager-4.txt --requests 0,2,2,2 --claims 'a; a; b; a b'",
    "check group --quorum quorums/two-of-three-6.txt --claims 'a; a; a; a; b; a b'",
    "check group --claims 'a; a b; b' --gives-up 1",
    "check group --site --requests 1,1,0 --claims 'a; a b' --budget lose=1,silent=1",
    "check group --site --requests 1,1,0 --claims 'a; b' --budget crash=1 --no-restart",
    "check group --site --requests 1,1,0 --claims 'a; b' --budget lose=1,early=1 \
     --option spares=0s",
    "check group --site --quorum quorums/two-of-three-6.txt --mortal 4,5 --requests 0,0,0,1,1,0 \
     --claims 'a; a; a; a; b; a' --budget crash=1 --no-restart",
    "sim random --protocol group --sites 5 --requests 3 --gives-up 3 --claims 'a; a b; b' \
     --budget lose=5,silent=3,crash=2 --runs 5000",
    "sim random --protocol group --sites 7 --quorum plane --requests 3 --claims 'a; a b; b c' \
     --runs 2000",
    // Roles: groups that compete, messages in any order and twice, several groups; then sessions.
    "check role --sites 4 --quorum cyclic \
     --claims 'shared b for 4ms; shared f for 4ms; exclusive i for 2ms; shared a for 1ms'",
    "check role --quorum cyclic --claims 'shared f for 4ms; shared a for 4ms; exclusive b for 2ms' \
     --order any --option unordered=on --budget duplicate=1",
    "check role --quorum cyclic --gives-up 2 --order any --option unordered=on \
     --claims 'exclusive f for 4ms; shared b for 4ms; exclusive b for 2ms'",
    "check role --site --requests 1,1,0 --claims 'exclusive f for 4ms; shared b for 4ms' \
     --budget lose=1",
    "check role --site --requests 1,1,0 --claims 'exclusive f for 4ms; shared b for 4ms' \
     --budget lose=1,early=1 --option spares=0s",
    "sim random --protocol role --sites 5 --at-once 2 --requests 4 --gives-up 3 \
     --claims 'exclusive b shared f for 3ms; shared f for 2ms; exclusive a for 5ms' \
     --budget lose=6,silent=4,crash=2 --runs 3000",
    "sim random --protocol role --sites 13 --quorum cyclic --at-once 3 --requests 6 --runs 300 \
     --claims 'exclusive b for 3ms; shared f for 2ms; exclusive a for 5ms; shared i for 4ms' \
     --order any --option unordered=on --budget duplicate=20",
    // Baselines, with reliable channels only.
    "check lamport --sites 3 --requests 2,1,1",
    "check ricart-agrawala --sites 3 --requests 2",
    "check maekawa --sites 3 --quorum majority --requests 2",
    "check suzuki-kasami --sites 3 --requests 2",
    "check singhal-heuristic --sites 4",
    "check raymond --sites 3 --requests 3",
    "check singhal-dynamic --sites 3 --requests 2",
    "check joung --quorum quorums/two-of-three-6.txt --claims 'a; a; a; a; b; a b'",
    "sim random --protocol joung --sites 5 --requests 3 --claims 'a; b; a b; a; b c' --runs 2000",
    "sim random --protocol maekawa --sites 9 --requests 4 --runs 1000",
    // The token: a lost message, a false timeout, a crash, sets of groups, leases that lapse.
    "check token --claims 'a; b; a b' --budget drop=1",
    "check token --claims 'a; b; a' --budget early=1",
    "check token --claims 'a; b; a b' --budget crash=1",
    "check token --claims 'a; b; a' --budget early=1 --option lease=150ms",
    "check token --site --claims 'a; b; a b' --budget lose=1",
    "sim random --protocol token --sites 5 --requests 3 --gives-up 3 --claims 'a; a b; b; b c' \
     --loss 10 --budget crash=2,cut=2 --option lease=60ms --runs 5000",
    // More faults than can be searched: sessions end, sites crash, and restart or not.
    "sim random --sites 3 --requests 3 --gives-up 2 --budget lose=5,silent=3,crash=2 --runs 20000",
    "sim random --sites 5 --gives-up 2 --budget lose=6,silent=4,crash=2 --runs 10000",
    "sim random --sites 5 --budget crash=2 --no-restart --runs 10000",
    // Whole sites and client processes, of all kinds of lock: clocks that drift, partitions,
    // pauses, crashes, slow disks, late callers.
    "sim random --site --faults all --sites 3 --runs 200",
    "sim random --site --faults all --sites 5 --runs 200",
    "sim random --site --faults all --sites 7 --quorum plane --runs 100",
    "sim random --site --faults minority --sites 5 --runs 200",
    "sim random --site --faults minority --protocol group --sites 5 --runs 100",
    "sim random --site --faults minority --protocol ledger --sites 5 --runs 100",
    "sim random --site --faults minority --protocol pool --sites 5 --runs 50",
    "sim random --site --faults minority --protocol role --sites 5 --runs 100",
    "sim random --site --faults all --protocol ledger --sites 3 --runs 100",
    "sim random --site --faults all --protocol ledger --sites 5 --runs 100",
    "sim random --site --faults disks --protocol ledger --sites 3 --runs 50",
    "sim random --site --faults all --protocol pool --sites 3 --runs 50",
    "sim random --site --faults all --protocol pool --sites 5 --runs 50",
    "sim random --site --faults all --protocol group --sites 3 --runs 100",
    "sim random --site --faults all --protocol group --sites 5 --runs 100",
    "sim random --site --faults all --protocol role --sites 3 --runs 100",
    "sim random --site --faults all --protocol role --sites 5 --runs 100 --option overrun=revoke",
    "sim random --site --faults all --protocol token --sites 3 --runs 200",
    "sim random --site --faults all --protocol token --sites 5 --runs 200",
    // Windows of one to four frames.
    "sim random --site --faults all --sites 3 --window 4 --runs 100",
    "sim random --site --faults all --protocol token --sites 3 --window 4 --runs 100",
    "sim random --site --faults all --protocol ledger --sites 3 --window 4 --option whole=0 \
     --runs 50",
];

/// The torture of real processes in `cargo xtask test`: less than a minute.
pub(crate) const TORTURE: &str = "--strict --minutes 0.7 --lease 400 --seed 1 \
     --nemesis kill,restart,pause,client-pause,isolate,one-way-ring,loss,reset";

/// The torture of `cargo xtask deep`: every fault, with short and long leases.
pub(crate) const DEEP_TORTURE: &[&str] = &[
    "--minutes 15 --lease 300 --seed 1",
    "--minutes 20 --lease 1000 --seed 2",
    "--minutes 30 --lease 3000 --seed 3",
    "--minutes 10 --lease 500 --seed 4 --sites 3",
    "--minutes 10 --lease 500 --seed 5 --sites 7",
];

/// The positive control of both: clients that ignore their deadlines must be found.
pub(crate) const CONTROL: &str =
    "--control --minutes 0.5 --lease 500 --seed 1 --nemesis isolate,kill,pause";

/// Exhaustive checks and random runs of `cargo xtask deep`: minutes to hours.
pub(crate) const DEEP: &[&str] = &[
    // Larger than can be searched: the quorums of a projective plane, where any two share one site.
    "sim random --protocol mutex --sites 13 --quorum plane --runs 100000",
    "sim random --protocol mutex --sites 7 --quorum plane --runs 10000 --skew",
    "sim random --protocol mutex --sites 7 --quorum plane --runs 10000 --skew --gives-up 5",
    // Sessions end and sites crash, also without lists: there the rarest error was found.
    "sim random --sites 3 --requests 3 --gives-up 2 --budget lose=5,silent=3,crash=2 --runs 300000",
    "sim random --sites 5 --gives-up 2 --budget lose=6,silent=4,crash=2 --runs 300000",
    "sim random --sites 5 --gives-up 2 --budget lose=6,silent=4,crash=2 --runs 300000 \
     --option lists=off",
    "sim random --sites 5 --gives-up 2 --budget lose=6,silent=4,crash=2 --runs 300000 \
     --option yield_pass=off --option ahead=off --option lists=off",
    "sim random --sites 5 --budget crash=2 --no-restart --runs 200000",
    "sim random --sites 7 --quorum plane --gives-up 2 --budget lose=6,silent=4,crash=2 \
     --runs 100000",
    // Giving up, together with passes, lists and a second request.
    "check mutex --sites 3 --requests 2 --gives-up 2",
    "check mutex --sites 3 --requests 1 --gives-up 1 --quorum quorums/all-3.txt",
    // The most contention three sites can have, with a second request.
    "check mutex --sites 3 --requests 2,1,1 --quorum quorums/all-3.txt",
    // Groups: all that three requesters of three managers can do twice; a manager that restarts.
    "check group --quorum quorums/two-of-three-6.txt --requests 0,0,0,2,1,1 \
     --claims 'a; a; a; a; b; a b'",
    "check group --quorum quorums/two-of-three-6.txt --claims 'a; a; a; a; b; b c' --gives-up 1",
    "check group --site --quorum quorums/two-of-three-6.txt --mortal 4,5,6 \
     --claims 'a; a; a; b; a b; b c' --budget crash=1 --no-restart",
    "check group --site --claims 'a; a; b' --budget lose=1",
    "check group --site --requests 1,1,0 --claims 'a; a b' --budget crash=1",
    "sim random --protocol group --sites 3 --requests 3 --gives-up 3 --claims 'a; a b; b' \
     --budget lose=5,silent=3,crash=2 --runs 100000",
    "sim random --protocol group --sites 5 --requests 2 --claims 'a; a; a b; b' \
     --think ..4 --inside ..60 --budget lose=20,silent=20,crash=2 --runs 50000",
    "sim random --protocol group --sites 9 --quorum grid --requests 3 --gives-up 3 \
     --claims 'a, a b; b, b c; a b, b' --budget lose=5,silent=3,crash=2 --runs 20000",
    // Roles, where quick searches leave off.
    "check role --sites 4 --quorum cyclic \
     --claims 'shared f for 4ms; shared i for 4ms; exclusive a for 2ms; shared b for 1ms'",
    "check role --quorum cyclic --order any --option unordered=on --budget duplicate=2 \
     --claims 'exclusive f for 4ms; shared b for 4ms; exclusive b for 2ms'",
    "check role --requests 2,2,1 \
     --claims 'exclusive b shared f for 4ms; shared f b for 4ms; exclusive b for 2ms'",
    "check role --site --claims 'exclusive f for 4ms; shared b for 4ms; exclusive b for 2ms' \
     --budget lose=1",
    "check role --site --requests 1,1,0 --claims 'exclusive f for 4ms; shared b for 4ms' \
     --budget lose=1,silent=1",
    "check role --site --requests 1,1,0 --claims 'exclusive f for 4ms; shared b for 4ms' \
     --budget crash=1",
    "sim random --protocol role --sites 3 --requests 3 --gives-up 2 \
     --claims 'exclusive b for 4ms, shared f b for 3ms; shared f for 2ms, exclusive f b for 1ms; \
     shared a for 5ms, exclusive a shared b for 2ms' \
     --budget lose=5,silent=3,crash=2 --runs 200000",
    "sim random --protocol role --sites 21 --quorum cyclic --at-once 3 --requests 9 --runs 10000 \
     --claims 'exclusive b for 3ms; shared f for 2ms; exclusive a for 5ms; shared i for 4ms' \
     --order any --option unordered=on --budget duplicate=20",
    // Baselines, where quick searches leave off.
    "check ricart-agrawala --sites 4",
    "check maekawa --sites 4",
    "check raymond --sites 7",
    "check suzuki-kasami --sites 4",
    "check singhal-dynamic --sites 4",
    "sim random --protocol maekawa --sites 13 --quorum plane --requests 4 --runs 50000 --skew",
    "sim random --protocol joung --quorum parallel --sites 25 --requests 3 \
     --claims 'a, a b; b; b c' --runs 20000",
    // Sessions that are lost and fall silent; a site that crashes and returns. The last two have
    // 84 and 76 million states: six and twelve minutes, and 3 GB each.
    "check mutex --site --requests 2,1,1 --budget lose=1",
    "check mutex --site --budget lose=1 --gives-up 1",
    "check mutex --site --requests 1,1,0 --budget crash=1",
    "check mutex --site --budget lose=1,silent=1 \
     --option yield_pass=off --option ahead=off --option lists=off",
    "check mutex --site --budget lose=1,silent=1",
    "check mutex --site --budget crash=1",
    "check mutex --site --requests 1,1,0 --budget crash=1,early=2 --option spares=0s",
    "check mutex --site --requests 1,1,0 --budget lose=1,silent=1,early=1 --option spares=0s",
    "check mutex --site --budget silent=1,early=1 --option spares=0s",
    // Pools, where quick searches leave off.
    "check pool --sites 3 --claims '1 of 2; 2 of 2' --gives-up 3 --order any \
     --option unordered=on",
    "check pool --site --requests 1,1,0 --claims '2 of 3 numbered; 1 of 3 numbered' \
     --budget lose=1,silent=1",
    "sim random --protocol pool --sites 5 --claims '1 of 3; 2 of 3; 3 of 3' --at-once 2 \
     --requests 4 --gives-up 3 --budget lose=6,silent=4,crash=2 --runs 200000",
    "sim random --protocol pool --sites 7 --quorum improved --at-once 2 --requests 4 \
     --claims '1 of 4 numbered; 2 of 4 numbered; 3 of 4; 1 of 4' \
     --budget lose=8,silent=8,crash=2 --runs 100000",
    "sim random --protocol pool --sites 9 --quorum improved --claims '1 of 2; 2 of 2' \
     --budget crash=2 --no-restart --runs 100000",
    // Ledger pools, where quick searches leave off.
    "check ledger --sites 4 --claims '1 of 2 numbered; 2 of 2'",
    "check ledger --site --claims '1 of 2 numbered; 2 of 2' --budget lose=1",
    "check ledger --site --claims '1 of 1' --budget lose=1,silent=1",
    "check ledger --site --claims '1 of 1' --budget crash=1",
    "check ledger --site --requests 1,1,0 --claims '1 of 2 numbered; 2 of 2' \
     --budget lose=1,silent=1,crash=1",
    "check ledger --site --requests 1,1,0 --claims '1 of 2; 2 of 2' --budget lose=1,silent=1 \
     --gives-up 1 --option whole=0",
    "check ledger --site --requests 1,1,0 --claims '1 of 1' --budget lose=1,silent=1,early=1 \
     --option spares=0s",
    "check ledger --sites 4 --site --requests 1,1,0,0 --claims '1 of 1' --budget lose=1",
    // The space in which the tests undo `ack-unnamed`.
    "check ledger --site --requests 1,1,0 --claims '1 of 1' --budget lose=2,silent=1 --fragile 1",
    "sim random --protocol ledger --sites 5 --claims '1 of 3; 2 of 3 numbered; 3 of 3' --at-once 2 \
     --requests 4 --gives-up 3 --inside ..12 --budget lose=6,silent=6,crash=2 --runs 200000",
    "sim random --protocol ledger --sites 13 --quorum plane --claims '1 of 4; 2 of 4; 4 of 4' \
     --inside ..12 --budget lose=12,silent=12,crash=2 --option whole=0 --runs 50000",
    "sim random --protocol ledger --sites 9 --quorum grid --requests 2 --at-once 2 --gives-up 3 \
     --claims '1 of 4 numbered; 2 of 4; 4 of 4 numbered' --inside ..12 \
     --budget lose=10,silent=10,crash=2 --option whole=0 --runs 10000",
    // The token, where quick searches leave off.
    "check token --claims 'a; b; a' --requests 2,2,1 --budget drop=1",
    "check token --claims 'a; b; a' --budget drop=1,early=1",
    "check token --claims 'a; b; a' --budget early=2",
    "check token --claims 'a; b; a b' --budget crash=1,early=1",
    "check token --claims 'a; b; a' --budget crash=1,drop=1 --requests 1,1,0",
    "check token --claims 'a; b; a' --requests 1,1,0 --budget early=3 --option lease=150ms",
    "check token --claims 'a; b; a' --budget early=2 --option lease=150ms",
    "check token --claims 'a; b; a' --budget drop=1,early=1 --option lease=150ms",
    "check token --claims 'a; b; c' --budget crash=1,early=1 --option lease=150ms",
    "sim random --protocol token --sites 9 --requests 3 --gives-up 3 --claims 'a; a b; b; b c' \
     --loss 5 --budget crash=2,cut=2 --option lease=60ms --runs 100000",
    "sim random --protocol token --sites 3 --requests 3 --gives-up 3 --claims 'a; a b; b; b c' \
     --loss 20 --budget crash=2,cut=2 --runs 100000",
    // Majorities of four.
    "check mutex --sites 4 --requests 1 \
     --option yield_pass=off --option ahead=off --option lists=off",
    // Whole sites and client processes under all faults, of all kinds of lock: 88 000 runs.
    "sim random --site --faults all --sites 3 --runs 4000",
    "sim random --site --faults all --sites 5 --runs 4000",
    "sim random --site --faults all --sites 7 --runs 2000",
    "sim random --site --faults all --sites 9 --runs 2000",
    "sim random --site --faults minority --sites 3 --runs 4000",
    "sim random --site --faults minority --sites 5 --runs 4000",
    "sim random --site --faults minority --sites 7 --runs 4000",
    "sim random --site --faults all --protocol group --sites 3 --runs 5000",
    "sim random --site --faults all --protocol group --sites 5 --runs 5000",
    "sim random --site --faults all --protocol role --sites 3 --runs 5000",
    "sim random --site --faults all --protocol role --sites 5 --runs 5000 --option overrun=revoke",
    "sim random --site --faults all --protocol token --sites 3 --runs 5000",
    "sim random --site --faults all --protocol token --sites 5 --runs 5000",
    "sim random --site --faults all --protocol token --sites 7 --runs 5000",
    "sim random --site --faults all --sites 13 --runs 2000",
    "sim random --site --faults all --sites 9 --quorum grid --runs 2000",
    "sim random --site --faults all --sites 7 --quorum plane --runs 2000",
    "sim random --site --faults all --sites 13 --quorum plane --runs 2000",
    "sim random --site --faults all --sites 7 --quorum tree --runs 2000",
    "sim random --site --faults all --sites 8 --quorum cyclic --runs 2000",
    "sim random --site --faults all --protocol ledger --sites 3 --runs 4000",
    "sim random --site --faults all --protocol ledger --sites 5 --runs 4000",
    "sim random --site --faults all --protocol ledger --sites 7 --runs 2000",
    "sim random --site --faults all --protocol ledger --sites 7 --quorum plane --runs 1000",
    "sim random --site --faults all --protocol ledger --sites 3 --window 4 --option whole=0 \
     --runs 1000",
    "sim random --site --faults minority --protocol ledger --sites 5 --runs 2000",
    "sim random --site --faults minority --protocol ledger --sites 7 --runs 1000",
    "sim random --site --faults disks --protocol ledger --sites 5 --runs 2000",
    "sim random --site --faults all --protocol pool --sites 3 --runs 2000",
    "sim random --site --faults all --protocol pool --sites 5 --runs 2000",
    "sim random --site --faults all --protocol pool --sites 7 --runs 1000",
    "sim random --site --faults all --sites 3 --window 4 --runs 1000",
    "sim random --site --faults all --protocol pool --sites 3 --window 4 --runs 1000",
    "sim random --site --faults all --protocol group --sites 3 --window 4 --runs 1000",
    "sim random --site --faults all --protocol role --sites 3 --window 4 --runs 1000",
    "sim random --site --faults all --protocol token --sites 3 --window 4 --runs 1000",
    "sim random --site --faults network --sites 5 --runs 1000",
    "sim random --site --faults crashes --sites 5 --runs 1000",
];

/// The arguments in `line`, separated by spaces, except inside single quotes.
pub(crate) fn arguments(line: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                current.get_or_insert_default();
            }
            ' ' if !quoted => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(c),
        }
    }
    assert!(!quoted, "a quote is left open in: {line}");
    arguments.extend(current);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_part_arguments_and_quotes_keep_them_together() {
        assert_eq!(arguments("check  mutex --sites 3"), ["check", "mutex", "--sites", "3"]);
        assert_eq!(arguments("--claims 'a; a b' ''"), ["--claims", "a; a b", ""]);
    }

    #[test]
    fn every_line_checks_simulates_or_fuzzes() {
        for line in QUICK.iter().chain(DEEP) {
            let first = arguments(line).remove(0);
            assert!(["check", "fuzz", "sim"].contains(&first.as_str()), "{line}");
        }
    }
}
