//! Tables for people.

/// Rows of cells, aligned in columns; lines have no trailing spaces.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        // Not by a width in the format: more than 65 535 is too much for that.
        let padding = |cell: &str, width| " ".repeat(width - cell.chars().count());
        let cells =
            row.iter().zip(&widths).map(|(cell, &width)| cell.clone() + &padding(cell, width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A row of a table.
pub fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [row(["NAME", "FOR"]), row(["größer", "3s"]), row(["a", ""])];
        assert_eq!(aligned(&rows), ["NAME    FOR", "größer  3s", "a"]);
    }

    #[test]
    fn a_cell_may_be_very_long() {
        let long = "x".repeat(100_000);
        let lines = aligned(&[row([&long, "b"]), row(["c", "d"])]);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [100_003, 100_003]);
    }
}
