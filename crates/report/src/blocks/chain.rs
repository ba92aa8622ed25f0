//! A call chain as a tree: figures on the left, each function one step further in than its caller. What it says of a
//! comparison is a block; bisections, versions and sweeps show theirs within others.

use crate::block::{Block, Section};
use crate::contrast::{per, signed};
use crate::document::Document;
use crate::escape::escape;
use crate::function::{code, readable};
use crate::grid::Row;
use crate::part::{Table, markdown};
use crate::style::Style;
use crate::text::{clean, counted, shorten, wrap};
use askama::Template;
use case::{CodeContrast, Nanos};

/// Further out, callers only carry the whole: they are counted.
const MOST_FRAMES: usize = 16;

/// The chain of a comparison that carries most of the difference.
pub(crate) const BLOCK: Block = Block {
    text: Some(
        |document, style| if super::contrasts::in_code(document) { text(document, style) } else { String::new() },
    ),
    html: Some(|document| {
        super::contrasts::folded(document, titled(document).map_or(String::new(), |(_, chain)| chain.html()))
    }),
    markdown: Some(|document| {
        titled(document)
            .map_or(String::new(), |(title, chain)| format!("### {}\n\n{}", escape(&title), chain.markdown()))
    }),
    ..Block::of(Section::Compared, |_| Vec::new())
};

fn titled(document: &Document) -> Option<(String, Chain)> {
    let comparison = document.comparison().filter(|comparison| !comparison.chain.is_empty())?;
    let title = format!("The call chain behind most of it (CPU time {})", per(comparison));
    Some((title.clone(), Chain { title, ..Chain::of(&comparison.chain, ["A", "B"]) }))
}

fn text(document: &Document, style: Style) -> String {
    let Some((title, chain)) = titled(document) else { return String::new() };
    wrap(&format!("{title}:"), style.columns(), "", "  ") + &chain.text(style)
}

/// A chain, outermost function first.
#[derive(Default)]
pub(crate) struct Chain {
    /// What stands over it on the page; empty for nothing.
    pub title: String,
    /// The heads of its figures.
    pub headings: Vec<String>,
    /// Its functions.
    pub frames: Vec<ChainFrame>,
    /// Functions without a name that are left out.
    pub nameless: usize,
}

/// One function of a chain.
pub(crate) struct ChainFrame {
    /// Its figures, one a column.
    pub figures: Vec<String>,
    /// What it is called.
    pub name: String,
}

impl Chain {
    /// The chain of a difference between two sides: the time of each, and the difference.
    pub(crate) fn of(contrasts: &[CodeContrast], [a, b]: [&str; 2]) -> Chain {
        let (contrasts, nameless) = readable(contrasts);
        let frame = |one: &CodeContrast| ChainFrame {
            figures: vec![Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)],
            name: code(&one.function, &one.module),
        };
        let headings = vec![clean(a), clean(b), format!("{} - {}", clean(b), clean(a))];
        Chain { title: String::new(), headings, frames: contrasts.iter().map(frame).collect(), nameless }
    }

    fn further_out(&self) -> usize {
        self.frames.len().saturating_sub(MOST_FRAMES)
    }

    fn shown(&self) -> &[ChainFrame] {
        &self.frames[self.further_out()..]
    }

    /// What is left out, in words; empty for nothing.
    fn left_out(&self) -> String {
        if self.nameless == 0 {
            return String::new();
        }
        format!("({} without a name left out)", counted(self.nameless as u64, "function"))
    }

    /// As text; empty for none.
    pub(crate) fn text(&self, style: Style) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let heading = ChainFrame { figures: self.headings.clone(), name: String::new() };
        let width = |column: usize| {
            let rows = [&heading].into_iter().chain(self.shown());
            rows.map(|row| row.figures.get(column).map_or(0, |figure| figure.chars().count())).max().unwrap_or(0)
        };
        let widths = (0..self.headings.len()).map(width).collect::<Vec<_>>();
        let line = |frame: &ChainFrame, depth: usize| {
            let figures = widths.iter().enumerate().map(|(column, width)| {
                let figure = frame.figures.get(column).map_or("", String::as_str);
                format!("  {figure:>width$}")
            });
            let figures = figures.collect::<String>();
            let room = style.columns().saturating_sub(figures.chars().count() + 2 + depth);
            let text = format!("{figures}  {}{}", " ".repeat(depth), shorten(&frame.name, room));
            text.trim_end().to_string() + "\n"
        };
        let mut text = line(&heading, 0);
        if self.further_out() > 0 {
            let name = format!("({} further out)", counted(self.further_out() as u64, "caller"));
            text += &line(&ChainFrame { figures: Vec::new(), name }, 0);
        }
        text.extend(self.shown().iter().enumerate().map(|(depth, frame)| line(frame, depth)));
        let left_out = self.left_out();
        if left_out.is_empty() { text } else { text + &format!("  {left_out}\n") }
    }

    /// As HTML; empty for none.
    pub(crate) fn html(&self) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let further_out = match self.further_out() {
            0 => String::new(),
            callers => counted(callers as u64, "caller"),
        };
        let drawn = Drawn { chain: self, further_out, left_out: self.left_out() };
        drawn.render().unwrap_or_default()
    }

    /// As Markdown; empty for none.
    pub(crate) fn markdown(&self) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let rows = self.shown().iter().map(|frame| Row::new(frame.name.clone(), frame.figures.clone()));
        let headings = self.headings.iter().map(String::as_str);
        markdown::table(&Table::of("Function, callees included", headings, rows.collect()))
    }
}

#[derive(Template)]
#[template(path = "blocks/chain.html")]
struct Drawn<'c> {
    chain: &'c Chain,
    /// `2 callers`, that are left out; empty for none.
    further_out: String,
    left_out: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(frames: impl IntoIterator<Item = (&'static str, String)>) -> String {
        let frame = |(figure, name): (&str, String)| ChainFrame { figures: vec![figure.into()], name };
        let frames = frames.into_iter().map(frame).collect();
        Chain { headings: vec!["A".into()], frames, ..Chain::default() }.text(Style::default())
    }

    #[test]
    fn each_function_is_one_step_further_in() {
        let text = chain([("12 ms", "main".into()), ("9 ms", code("load", "x.so"))]);
        assert_eq!(text, "      A\n  12 ms  main\n   9 ms   load (x.so)\n");
    }

    #[test]
    fn a_deep_chain_keeps_its_inner_end_and_its_width() {
        let text = chain((0..40).map(|depth| ("1 ms", format!("f{depth} {}", "x".repeat(99)))));
        assert!(
            text.contains("(24 callers further out)") && text.contains("f39 x") && !text.contains("f23 "),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
