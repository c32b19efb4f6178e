//! Which requests conflict, and no more of them than needed.

/// The critical patterns of a pool of `k` units, each with its largest request first.
///
/// A pattern is a bag of requests, each the number of units asked for. It conflicts if they add up
/// to more than k, and is *critical* if it no longer does with any one of them taken away. So with
/// the smallest request last, all before it fit, and it alone is too much: k + 1 ≤ sum ≤ k + min
/// (Manabe & Tajima, Theorem 2, and its converse).
///
/// Their number grows like that of the partitions of k: 103 for 10 units, 3,614 for 25.
///
/// ```
/// let patterns: Vec<_> = quorate_quorum::critical_patterns(2).collect();
/// assert_eq!(patterns, [vec![2, 2], vec![2, 1], vec![1, 1, 1]]);
/// ```
pub fn critical_patterns(k: usize) -> impl Iterator<Item = Vec<usize>> {
    Patterns { k, open: (1..=k).map(|h| vec![h]).collect() }
}

/// Patterns that do not conflict yet, the next one last.
struct Patterns {
    k: usize,
    open: Vec<Vec<usize>>,
}

impl Iterator for Patterns {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        loop {
            let pattern = self.open.pop()?;
            if pattern.iter().sum::<usize>() > self.k {
                return Some(pattern);
            }
            let least = *pattern.last().expect("a pattern starts with a request");
            self.open.extend((1..=least).map(|h| {
                let mut longer = pattern.clone();
                longer.push(h);
                longer
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bags of up to `len` requests of 1 to `most` units, the largest first.
    fn bags(most: usize, len: usize) -> Vec<Vec<usize>> {
        let mut bags = vec![vec![]];
        if len > 0 {
            for h in 1..=most {
                bags.extend(bags_below(h, len));
            }
        }
        bags
    }

    fn bags_below(h: usize, len: usize) -> impl Iterator<Item = Vec<usize>> {
        bags(h, len - 1).into_iter().map(move |rest| [vec![h], rest].concat())
    }

    #[test]
    fn patterns_are_those_of_the_definition() {
        for k in 1..=6 {
            let conflicts = |bag: &[usize]| bag.iter().sum::<usize>() > k;
            let critical = |bag: &Vec<usize>| {
                let without = |at: usize| [&bag[..at], &bag[at + 1..]].concat();
                conflicts(bag) && (0..bag.len()).all(|at| !conflicts(&without(at)))
            };
            // One request more than the longest pattern can have.
            let all = bags(k, k + 2);
            let mut defined: Vec<_> = all.iter().filter(|bag| critical(bag)).cloned().collect();
            let mut found: Vec<_> = critical_patterns(k).collect();
            defined.sort();
            found.sort();
            assert_eq!(found, defined, "{k} units");
            // Theorem 2 and its converse.
            for bag in all.iter().filter(|bag| !bag.is_empty()) {
                let (sum, least) = (bag.iter().sum::<usize>(), bag[bag.len() - 1]);
                assert_eq!(critical(bag), k < sum && sum <= k + least, "{bag:?} of {k}");
            }
        }
    }

    #[test]
    fn their_number_is_known() {
        let numbers: Vec<_> = (1..=10).map(|k| critical_patterns(k).count()).collect();
        assert_eq!(numbers, [1, 3, 6, 11, 17, 27, 38, 55, 75, 103]);
        for k in 1..=10 {
            let longest = critical_patterns(k).map(|pattern| pattern.len()).max();
            let largest = critical_patterns(k).map(|pattern| pattern.iter().sum::<usize>()).max();
            assert_eq!((longest, largest), (Some(k + 1), Some(2 * k)));
        }
    }
}
