//! Finite fields: arithmetic with as many numbers as a power of a prime.

/// The field with `order` elements, which are numbered from 0, the zero, and 1, the one.
///
/// Element number e is the polynomial whose coefficients are the digits of e to the base of the
/// prime. Sums are taken digit by digit. Products go through logarithms to the base t, the
/// polynomial that is the prime itself as a number; or a primitive root if the order is prime.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    order: usize,
    prime: usize,
    /// The powers of the generator, twice in a row.
    powers: Vec<usize>,
    /// For each element but zero: which power it is.
    logarithms: Vec<usize>,
}

impl Field {
    /// The field of this order; `None` unless it is a power of a prime.
    pub(crate) fn new(order: usize) -> Option<Self> {
        let prime = (2..=order).find(|divisor| order.is_multiple_of(*divisor))?;
        let mut digits = 0;
        let mut rest = order;
        while rest.is_multiple_of(prime) {
            rest /= prime;
            digits += 1;
        }
        if rest > 1 {
            return None;
        }
        let powers = (1..order).find_map(|seed| generate(order, prime, digits, seed));
        let powers = powers.expect("the elements of a field but zero are the powers of one");
        let mut logarithms = vec![0; order];
        for (power, element) in powers.iter().enumerate() {
            logarithms[*element] = power;
        }
        Some(Self { order, prime, powers: powers.repeat(2), logarithms })
    }

    pub(crate) fn order(&self) -> usize {
        self.order
    }

    /// Whether sums and products are those of whole numbers, modulo the order.
    pub(crate) fn is_prime(&self) -> bool {
        self.order == self.prime
    }

    pub(crate) fn add(&self, a: usize, b: usize) -> usize {
        add(self.prime, a, b)
    }

    pub(crate) fn mul(&self, a: usize, b: usize) -> usize {
        if a == 0 || b == 0 {
            return 0;
        }
        self.powers[self.logarithms[a] + self.logarithms[b]]
    }
}

/// The sum of two polynomials, digit by digit.
fn add(prime: usize, mut a: usize, mut b: usize) -> usize {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a % prime + b % prime) % prime * place;
        (a, b, place) = (a / prime, b / prime, place * prime);
    }
    sum
}

/// The powers of a generator, if there are order - 1 of them: of t where the highest power of t is
/// `seed`, or of the number `seed` modulo a prime.
fn generate(order: usize, prime: usize, digits: usize, seed: usize) -> Option<Vec<usize>> {
    let times_t = |element: usize| {
        let shifted = element % (order / prime) * prime;
        let carry = element / (order / prime);
        (0..carry).fold(shifted, |sum, _| add(prime, sum, seed))
    };
    let step = |element: usize| {
        if digits == 1 { element * seed % prime } else { times_t(element) }
    };
    let mut powers = vec![1];
    loop {
        let next = step(powers[powers.len() - 1]);
        match next {
            1 => return (powers.len() == order - 1).then_some(powers),
            0 => return None,
            _ if powers.len() == order - 1 => return None,
            _ => powers.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_prime_powers() {
        let orders: Vec<_> = (0..=32).filter(|order| Field::new(*order).is_some()).collect();
        assert_eq!(orders, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        assert!(Field::new(256).is_some() && Field::new(255).is_none());
    }

    #[test]
    fn the_laws_of_a_field_hold() {
        for field in (2..=27).filter_map(Field::new) {
            let all = || 0..field.order();
            for a in all() {
                assert_eq!((field.add(a, 0), field.mul(a, 1), field.mul(a, 0)), (a, a, 0));
                assert!(all().any(|b| field.add(a, b) == 0));
                assert!(a == 0 || all().any(|b| field.mul(a, b) == 1));
                for b in all() {
                    assert_eq!(field.add(a, b), field.add(b, a));
                    assert_eq!(field.mul(a, b), field.mul(b, a));
                    for c in all() {
                        let (left, right) = (field.mul(a, field.mul(b, c)), field.mul(a, b));
                        assert_eq!(left, field.mul(right, c), "order {}", field.order());
                        let (left, right) = (field.add(a, field.add(b, c)), field.add(a, b));
                        assert_eq!(left, field.add(right, c), "order {}", field.order());
                        let left = field.mul(a, field.add(b, c));
                        assert_eq!(left, field.add(field.mul(a, b), field.mul(a, c)));
                    }
                }
            }
        }
    }
}
