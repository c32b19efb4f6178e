//! Short lists of numbers in the names of constructions.

use std::fmt;
use std::str::FromStr;

use crate::QuorumError;

/// A few numbers, such as the widths of rows or the votes of sites: `1,2,3`.
///
/// Kept in place, so that a [`Kind`](crate::Kind) can be copied like any name.
///
/// ```
/// use quorate_quorum::Numbers;
/// let widths: Numbers = "1,2,3".parse()?;
/// assert_eq!(widths.iter().sum::<usize>(), 6);
/// assert!("1,,3".parse::<Numbers>().is_err());
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numbers {
    len: u8,
    list: [u16; Numbers::MAX],
}

impl Numbers {
    /// The most numbers in a list.
    pub const MAX: usize = 63;

    /// The numbers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> {
        self.list[..usize::from(self.len)].iter().map(|number| usize::from(*number))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.iter().map(|number| number.to_string()).collect();
        f.pad(&numbers.join(","))
    }
}

impl FromStr for Numbers {
    type Err = QuorumError;

    fn from_str(text: &str) -> Result<Self, QuorumError> {
        let bad = || QuorumError::BadNumbers(text.to_owned());
        let mut numbers = Self { len: 0, list: [0; Self::MAX] };
        for number in text.split(',') {
            let place = numbers.list.get_mut(usize::from(numbers.len)).ok_or_else(bad)?;
            *place = number.trim().parse().map_err(|_| bad())?;
            numbers.len += 1;
        }
        Ok(numbers)
    }
}
