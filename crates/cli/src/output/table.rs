//! Tables that stay readable on any terminal: names, ids and moments are never broken, words are wrapped; where that is not enough
//! each row becomes a block of lines.

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

    /// Its text, for the terminal there is; for a program, a line each row unless it holds words.
    pub(crate) fn fitted(&self) -> String {
        let terminal = comfy_table::Table::new()
            .width()
            .filter(|_| std::io::stdout().is_terminal());
        match terminal.map(usize::from) {
            Some(width) => self.text(width),
            None => self.columns(&self.widths(WIDTH)),
        }
    }

    /// Its text, at most so wide where that is possible without breaking a name.
    pub(crate) fn text(&self, width: usize) -> String {
        let widths = self.widths(width);
        if self.has_headings() && total(&widths) > width {
            self.blocks(width)
        } else {
            self.columns(&widths)
        }
    }

    /// Rows below each other, each a block of its cells.
    fn blocks(&self, width: usize) -> String {
        let block = |row: &Vec<String>| {
            let mut block = Self::new(["", ""]);
            for (heading, cell) in self.headings.iter().zip(row) {
                if !cell.is_empty() {
                    block.row([heading.clone(), cell.clone()]);
                }
            }
            block.text(width)
        };
        self.rows.iter().map(block).collect::<Vec<_>>().join("\n\n")
    }

    fn has_headings(&self) -> bool {
        self.headings.iter().any(|heading| !heading.is_empty())
    }

    fn columns(&self, widths: &[usize]) -> String {
        let mut table = comfy_table::Table::new();
        let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
        table
            .load_style(style)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::MAX);
        if self.has_headings() {
            table.set_header(&self.headings);
        }
        table.add_rows(&self.rows);
        let last = self.headings.len().saturating_sub(1);
        for (place, (column, fitted)) in table.column_iter_mut().zip(widths).enumerate() {
            // Half of the gap is the table's own, the other half padding, which counts as the column's width.
            let padding = u16::from(place < last);
            let fitted = u16::try_from(*fitted).unwrap_or(u16::MAX).saturating_add(padding);
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

    /// The widths of the columns. What gives way is, time and again, the widest column of words; others never do, nor does the first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.headings.len())
            .map(|place| self.natural(place))
            .collect();
        let words: Vec<bool> = (0..self.headings.len())
            .map(|place| self.has_words(place))
            .collect();
        loop {
            if total(&widths) <= width {
                return widths;
            }
            let shrinkable = |place: &usize| {
                *place > 0
                    && words.get(*place) == Some(&true)
                    && widths.get(*place).is_some_and(|width| *width > NARROWEST)
            };
            let widest = (0..widths.len())
                .filter(shrinkable)
                .max_by_key(|place| widths.get(*place).copied());
            let Some(widest) = widest else {
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

/// How wide columns are together.
fn total(widths: &[usize]) -> usize {
    widths
        .iter()
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn fits_and_breaks_no_name() {
        let id = "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        let mut table = Table::new(["id", "tool", "arguments", "expires at"]);
        let arguments = "words and more words ".repeat(12);
        table.row([
            id.to_owned(),
            "sample__delete_note".to_owned(),
            arguments,
            "2026-11-30 20:00:00Z".to_owned(),
        ]);
        for (width, heads) in [(100, 1), (80, 0), (60, 0)] {
            let text = table.text(width);
            for whole in [id, "sample__delete_note", "2026-11-30 20:00:00Z"] {
                assert!(text.contains(whole), "{width}: {text}");
            }
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{width}: {text}"
            );
            assert!(text.lines().count() > 3, "{width}: {text}");
            assert_eq!(text.matches('─').count().min(1), heads, "{width}: {text}");
        }
        // Two that do not fit stand apart, and without what they do not have.
        table.row([
            id.to_owned(),
            String::new(),
            String::new(),
            "2026-11-30 21:00:00Z".to_owned(),
        ]);
        assert!(
            table
                .text(60)
                .ends_with(&format!("\n\nid          {id}\nexpires at  2026-11-30 21:00:00Z")),
            "{}",
            table.text(60)
        );
    }
}
