//! Tables that stay readable at 100 columns: what identifies a row is never broken, the rest is wrapped.

use std::io::IsTerminal as _;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

/// Width where there is no terminal to ask.
const WIDTH: usize = 100;
/// Space between columns.
const GAP: usize = 2;
/// Columns are not made narrower than this.
const NARROWEST: usize = 12;

/// Rows under headings.
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows. Headings that are all empty are not shown.
    pub(crate) fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Self {
            headings: headings.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Its text, as wide as the terminal.
    pub(crate) fn fitted(&self) -> String {
        let width = comfy_table::Table::new()
            .width()
            .filter(|_| std::io::stdout().is_terminal());
        self.text(width.map_or(WIDTH, usize::from))
    }

    /// Its text, at most so wide where that is possible.
    pub(crate) fn text(&self, width: usize) -> String {
        let mut table = comfy_table::Table::new();
        let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
        table
            .load_style(style)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::MAX);
        if self.headings.iter().any(|heading| !heading.is_empty()) {
            table.set_header(&self.headings);
        }
        table.add_rows(&self.rows);
        let last = self.headings.len().saturating_sub(1);
        for (place, (column, fitted)) in table.column_iter_mut().zip(self.widths(width)).enumerate() {
            // Half of the gap is the table's own, the other half padding, which counts as the column's width.
            let padding = u16::from(place < last);
            let fitted = u16::try_from(fitted).unwrap_or(u16::MAX).saturating_add(padding);
            column
                .set_padding((0, padding))
                .set_constraint(ColumnConstraint::Absolute(Width::Fixed(fitted)));
        }
        table
            .to_string()
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The widths of the columns. What has to give way is, time and again, the widest column of words; only then one of names or
    /// ids, and the first never.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.headings.len())
            .map(|place| self.natural(place))
            .collect();
        let words: Vec<bool> = (0..self.headings.len())
            .map(|place| self.has_words(place))
            .collect();
        loop {
            let total: usize = widths.iter().map(|width| width + GAP).sum();
            if total <= width + GAP {
                return widths;
            }
            let shrinkable =
                |place: &usize| *place > 0 && widths.get(*place).is_some_and(|width| *width > NARROWEST);
            let key = |place: &usize| (words.get(*place).copied(), widths.get(*place).copied());
            let Some(widest) = (0..widths.len()).filter(shrinkable).max_by_key(key) else {
                return widths;
            };
            if let Some(width) = widths.get_mut(widest) {
                *width -= 1;
            }
        }
    }

    fn natural(&self, place: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        let lines = cells
            .chain(self.headings.get(place))
            .flat_map(|cell| cell.lines());
        lines
            .map(|line| line.chars().count())
            .max()
            .unwrap_or_default()
            .max(1)
    }

    /// Whether any cell may be broken: a text, or a document. An id, a name or a moment may not.
    fn has_words(&self, place: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(place));
        cells.any(|cell| {
            cell.starts_with('{')
                || cell.len() > 20 && cell.contains(' ') && cell.chars().any(char::is_alphabetic)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn fits_a_hundred_columns_and_breaks_no_id() {
        let id = "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        let mut table = Table::new(["id", "tool", "arguments", "expires at"]);
        let arguments = "words and more words ".repeat(12);
        table.row([
            id.to_owned(),
            "sample__delete_note".to_owned(),
            arguments,
            "2026-11-30 20:00:00Z".to_owned(),
        ]);
        let text = table.text(100);
        assert!(text.contains(id), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }
}
