//! Systems of distinct representatives: a choice for everybody, no two the same where possible.

/// For each of `choices` one of its numbers below `limit`, such that as many as possible differ;
/// `None` for those that go without. The first number of each is kept wherever it is still free.
pub(crate) fn distinct(choices: &[Vec<usize>], limit: usize) -> Vec<Option<usize>> {
    let mut owner: Vec<Option<usize>> = vec![None; limit];
    let mut chosen = vec![None; choices.len()];
    for (who, first) in
        choices.iter().enumerate().filter_map(|(who, all)| Some((who, all.first()?)))
    {
        if owner[*first].is_none() {
            owner[*first] = Some(who);
            chosen[who] = Some(*first);
        }
    }
    for who in 0..choices.len() {
        if chosen[who].is_none() {
            augment(choices, &mut owner, &mut chosen, who);
        }
    }
    chosen
}

/// Gives `who` a number by moving others to other numbers, along the shortest chain.
fn augment(
    choices: &[Vec<usize>],
    owner: &mut [Option<usize>],
    chosen: &mut [Option<usize>],
    who: usize,
) {
    let mut reached_by = vec![None; owner.len()];
    let mut queue = vec![who];
    let mut at = 0;
    while let Some(&mover) = queue.get(at) {
        at += 1;
        for &number in &choices[mover] {
            if reached_by[number].is_some() {
                continue;
            }
            reached_by[number] = Some(mover);
            match owner[number] {
                Some(other) => queue.push(other),
                None => return shift(&reached_by, owner, chosen, number),
            }
        }
    }
}

/// Hands the numbers along the chain that ends at the free one.
fn shift(
    reached_by: &[Option<usize>],
    owner: &mut [Option<usize>],
    chosen: &mut [Option<usize>],
    free: usize,
) {
    let mut next = Some(free);
    while let Some(number) = next {
        let mover = reached_by[number].expect("every number of the chain was reached");
        next = chosen[mover].replace(number);
        owner[number] = Some(mover);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_others_along_a_chain() {
        let choices = [vec![0, 1], vec![1, 2], vec![0], vec![]];
        assert_eq!(distinct(&choices, 3), [Some(1), Some(2), Some(0), None]);
    }

    #[test]
    fn leaves_out_as_few_as_possible() {
        let choices = [vec![0], vec![0], vec![1, 0]];
        assert_eq!(distinct(&choices, 2), [Some(0), None, Some(1)]);
    }
}
