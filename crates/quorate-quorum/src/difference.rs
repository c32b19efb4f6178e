//! Perfect difference sets: a plane as the rotations of one line.

use crate::SITES_MAX;
use crate::field::Field;

/// For these orders: sets of order + 1 residues modulo order² + order + 1 of which any two
/// neighbouring rotations meet in one residue. [`singer`] computes those of others.
const PERFECT: [(usize, &[usize]); 9] = [
    (2, &[0, 1, 3]),
    (3, &[0, 1, 3, 9]),
    (4, &[0, 1, 4, 14, 16]),
    (5, &[0, 1, 3, 8, 12, 18]),
    (7, &[0, 1, 3, 13, 32, 36, 43, 52]),
    (8, &[0, 1, 3, 7, 15, 31, 36, 54, 63]),
    (9, &[0, 1, 3, 9, 27, 49, 56, 61, 77, 81]),
    (11, &[0, 1, 3, 12, 20, 34, 38, 81, 88, 94, 104, 109]),
    (16, &[0, 1, 3, 7, 15, 31, 63, 90, 116, 127, 136, 181, 194, 204, 233, 238, 255]),
];

/// For each constant c: the other orders in which the map of [`singer`] passes all points with it.
const CUBICS: [(usize, &[usize]); 14] = [
    (1, &[29, 41, 47, 71, 131, 179, 197, 233, 239]),
    (2, &[17, 37, 139, 151, 211, 256]),
    (3, &[31, 83, 127, 157, 163, 251]),
    (4, &[13, 19, 23, 61, 79, 81, 89, 101, 149, 193, 199, 227, 243]),
    (5, &[25, 97, 103, 113, 137, 173, 229]),
    (6, &[32, 64]),
    (7, &[43, 125, 191]),
    (8, &[49, 53, 59, 128]),
    (9, &[27, 107, 223]),
    (10, &[109, 241]),
    (11, &[167, 181]),
    (13, &[67, 121]),
    (14, &[73]),
    (17, &[169]),
];

/// The largest order whose plane has no more points than a cluster may have sites.
pub(crate) const ORDER_MAX: usize = 255;

/// How many points the plane of this order has.
pub(crate) fn points(order: usize) -> usize {
    order * order + order + 1
}

/// The smallest order of a field whose plane has at least `n` points.
pub(crate) fn order_for(n: usize) -> usize {
    let enough = (2..=SITES_MAX).find(|order| points(*order) >= n && is_prime_power(*order));
    enough.expect("a cluster has far fewer sites than the planes below this bound")
}

/// A perfect difference set of this order; 0 and 1 are in it.
pub(crate) fn perfect(order: usize) -> Vec<usize> {
    match PERFECT.iter().find(|row| row.0 == order) {
        Some((_, set)) => set.to_vec(),
        None => {
            let cubic = CUBICS.iter().find(|row| row.1.contains(&order));
            singer(order, cubic.expect("every order of a cluster's plane has its cubic").0)
        }
    }
}

/// Whether there is a field, and so a plane, of this order.
pub(crate) fn is_prime_power(order: usize) -> bool {
    let Some(prime) = (2..=order).find(|divisor| order.is_multiple_of(*divisor)) else {
        return false;
    };
    let powers = std::iter::successors(Some(prime), |power| power.checked_mul(prime));
    powers.take_while(|power| *power <= order).last() == Some(order)
}

/// Singer's theorem (1938): a linear map of the space of homogeneous coordinates over a field may
/// lead from one point through all others in a circle. The points of a line, numbered along that
/// circle, are a perfect difference set.
///
/// The map is x ↦ x·t modulo the cubic t³ = c + t, with the c of [`CUBICS`]; the line is the one
/// without a t² part. From one point to the next but two that part becomes c times itself and its
/// successor, so that it can be followed alone.
fn singer(order: usize, c: usize) -> Vec<usize> {
    match Field::new(order).filter(|field| !field.is_prime()) {
        None => zeros(order, |part, next| (c * part + next) % order),
        Some(field) => zeros(order, |part, next| field.add(field.mul(c, part), next)),
    }
}

/// Where the sequence 0, 0, 1, … has its zeros, up to the number of points.
fn zeros(order: usize, third: impl Fn(usize, usize) -> usize) -> Vec<usize> {
    let mut parts = [0, 0, 1];
    let mut zeros = Vec::with_capacity(order + 1);
    for number in 0..points(order) {
        if parts[0] == 0 {
            zeros.push(number);
        }
        parts = [parts[1], parts[2], third(parts[0], parts[1])];
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_occurs_once() {
        for order in (2..=256).filter(|order| is_prime_power(*order)) {
            let (set, n) = (perfect(order), points(order));
            assert_eq!(set[..2], [0, 1], "order {order}");
            let mut times = vec![0; n];
            for a in &set {
                for b in set.iter().filter(|b| *b != a) {
                    times[(n + a - b) % n] += 1;
                }
            }
            assert!(times[1..].iter().all(|times| *times == 1), "order {order}: {set:?}");
        }
    }

    #[test]
    fn orders_follow_each_other() {
        let sizes = [1, 7, 8, 13, 14, 21, 32, 57, 58, 92, 134, 184, 10_000];
        let orders = sizes.map(order_for);
        assert_eq!(orders, [2, 2, 3, 3, 4, 4, 7, 7, 8, 11, 13, 16, 101]);
        assert_eq!([554, 651, 652, SITES_MAX].map(order_for), [25, 25, 27, 256]);
        assert!(points(ORDER_MAX) <= SITES_MAX && points(ORDER_MAX + 1) > SITES_MAX);
    }
}
