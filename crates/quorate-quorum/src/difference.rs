//! Perfect difference sets: a plane as the rotations of one line.

use crate::SITES_MAX;
use crate::field::Field;

/// For these orders: sets of order + 1 residues modulo order² + order + 1 of which any two
/// neighbouring rotations meet in one residue. Those of other orders are computed.
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
        None => singer(&Field::new(order).expect("a plane is built over a field")),
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
/// The map is x ↦ x·t modulo a cubic, t³ = c₀ + c₁t + c₂t²; a few cubics are tried until one passes
/// all points. The line is the one without a t² part.
fn singer(field: &Field) -> Vec<usize> {
    let q = field.order();
    for cubic in (1..q * q * q).map(|all| [all % q, all / q % q, all / q / q]) {
        if let Some(line) = circle(field, cubic) {
            return line;
        }
    }
    unreachable!("a primitive cubic exists over every field")
}

/// The numbers of the points on one line, if the map of this cubic passes all points.
fn circle(field: &Field, cubic: [usize; 3]) -> Option<Vec<usize>> {
    if cubic[0] == 0 {
        return None; // the map is not invertible
    }
    let mut line = Vec::with_capacity(field.order() + 1);
    let [mut x, mut y, mut z] = [1, 0, 0];
    for number in 0..points(field.order()) {
        if number > 0 && y == 0 && z == 0 {
            return None; // back at the first point too early
        }
        if z == 0 {
            line.push(number);
        }
        let wrapped = cubic.map(|part| field.mul(part, z));
        [x, y, z] = [wrapped[0], field.add(x, wrapped[1]), field.add(y, wrapped[2])];
    }
    (y == 0 && z == 0).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_occurs_once() {
        for order in (2..80).filter(|order| order_for(points(*order)) == *order) {
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
