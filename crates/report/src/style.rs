//! How the text is to look. Colour only underlines what the words already say.

/// Whether escape sequences for colour and weight may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// How the text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colour may be used.
    pub colour: Colour,
    /// Columns to fill at most; more than 80 are never used.
    pub width: usize,
}

/// Longer lines are hard to read, whatever the terminal's width.
const MOST_COLUMNS: usize = 80;
/// In less than this the ledger's names, shares and times do not fit beside each other.
const LEAST_COLUMNS: usize = 70;

impl Default for Style {
    fn default() -> Style {
        Style { colour: Colour::Plain, width: MOST_COLUMNS }
    }
}

impl Style {
    /// The columns to fill.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(LEAST_COLUMNS, MOST_COLUMNS)
    }

    /// Text in bold.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Text in the colour of a warning.
    pub(crate) fn warm(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.colour {
            Colour::Ansi if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_string(),
        }
    }
}
