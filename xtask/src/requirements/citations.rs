//! Comments in test code that cite requirements.

use super::document;
use crate::workspace::Source;

/// An id and the file and line that cite it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) id: String,
    pub(super) place: String,
}

/// The ids in the comments of the test code of a file, in order.
pub(super) fn in_source(source: &Source) -> Vec<Citation> {
    let mark = if source.path.ends_with(".py") { "#" } else { "//" };
    let lines = source.text.lines().enumerate().skip(source.first_test_line());
    let comments = lines.filter_map(|(index, line)| Some((index, line.split_once(mark)?.1)));
    let cited = comments.flat_map(|(index, comment)| {
        let words = comment.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        words
            .filter(|word| document::is_id(word))
            .map(move |id| (index, id))
    });
    let cited = cited.map(|(index, id)| Citation {
        id: id.to_owned(),
        place: format!("{}:{}", source.path, index + 1),
    });
    cited.collect()
}
