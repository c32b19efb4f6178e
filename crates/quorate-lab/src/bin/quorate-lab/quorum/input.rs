//! Arguments of `quorate quorum`.

use quorate_quorum::Kind;

use quorate_terminal::answer::Failure;
use quorate_terminal::quorums::parse_sites;

/// Comma-separated probabilities.
pub(super) fn probabilities(text: &str) -> Result<Vec<f64>, Failure> {
    text.split(',').map(|one| probability(one.trim())).collect()
}

/// One probability.
pub(super) fn probability(text: &str) -> Result<f64, Failure> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(format!("--p {text}: a probability lies in 0 to 1, such as 0.05").into()),
    }
}

/// Numbers of sites: `9..100`, both included, or `9,13,25`, or a mix.
pub(super) fn many_sites(text: &str) -> Result<Vec<usize>, Failure> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            None => all.push(parse_sites(part)?),
            Some((from, to)) => {
                let (Ok(first), Ok(last)) = (from.parse::<usize>(), to.parse::<usize>()) else {
                    return Err(format!("--n {part}: expected both ends, such as 9..100").into());
                };
                if first > last {
                    return Err(format!(
                        "--n {part}: there is nothing between; perhaps {last}..{first}"
                    )
                    .into());
                }
                all.extend(parse_sites(from)?..=parse_sites(to)?);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Kinds by name; all of them if none is named.
pub(super) fn kinds(names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.is_empty() {
        return Ok(Kind::all().to_vec());
    }
    names.iter().map(|name| name.parse().map_err(Failure::of)).collect()
}

/// At most `limit` of `numbers`, the first and the last among them.
pub(super) fn thinned(numbers: &[usize], limit: usize) -> Vec<usize> {
    if numbers.len() <= limit {
        return numbers.to_vec();
    }
    (0..limit).map(|place| numbers[place * (numbers.len() - 1) / (limit - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of<T: std::fmt::Debug>(found: Result<T, Failure>) -> String {
        found.expect_err("refused").to_string()
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(many_sites("9..11, 3,10").unwrap(), [3, 9, 10, 11]);
        assert_eq!(message_of(many_sites("9..")), "--n 9..: expected both ends, such as 9..100");
        assert_eq!(
            message_of(many_sites("9..3")),
            "--n 9..3: there is nothing between; perhaps 3..9"
        );
        assert_eq!(
            message_of(many_sites("x")),
            "`x` is not a number of sites; expected one such as 9"
        );
        assert_eq!(message_of(many_sites("0..3")), "a cluster needs at least 1 site");
    }

    #[test]
    fn probabilities_lie_in_0_to_1() {
        assert_eq!(probabilities("0.1, 1").unwrap(), [0.1, 1.0]);
        for text in ["1.5", "-0.1", "NaN", "", "0.1,x"] {
            assert!(message_of(probabilities(text)).contains("lies in 0 to 1"), "{text}");
        }
    }

    #[test]
    fn thinning_keeps_the_ends() {
        let numbers: Vec<usize> = (9..=100).collect();
        let few = thinned(&numbers, 10);
        assert_eq!((few.len(), few[0], few[9]), (10, 9, 100));
        assert_eq!(thinned(&[1, 2], 10), [1, 2]);
    }
}
