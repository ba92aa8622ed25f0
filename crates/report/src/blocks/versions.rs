//! Each version of a library against the first: its ratios, and where it is slower the call chain behind the difference.

use crate::block::{Block, Section};
use crate::blocks::chain::Chain;
use crate::blocks::hot_spots;
use crate::blocks::ratios::{self, Ratios};
use crate::document::Document;
use crate::escape::escape;
use crate::figure::noun;
use crate::grid::{Align, Row, grid};
use crate::part::{self, Part};
use crate::ranking::{measured, slower};
use crate::style::Style;
use crate::text::{clean, shorten};
use case::{CodeContrast, Compared, HotSpot, Metric, Version};

pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(|document| pairs(document).iter().map(html).collect()),
    markdown: Some(|document| pairs(document).iter().map(markdown).collect::<Vec<_>>().join("\n")),
    ..Block::of(Section::Matrix, |_| Vec::new())
};

/// A longer version is cut: the table needs its room.
const VERSION_COLUMNS: usize = 12;

/// A version against the first.
struct Pair<'m> {
    first: &'m str,
    version: &'m Version,
}

impl<'m> Pair<'m> {
    fn sides(&self) -> [&'m str; 2] {
        [self.first, &self.version.version]
    }

    /// The chain and the functions of a version that is slower; nothing of another.
    fn code(&self) -> (&'m [CodeContrast], &'m [HotSpot]) {
        if slower(self.version).is_none() || self.version.chain.is_empty() {
            return Default::default();
        }
        (&self.version.chain, &self.version.hot_spots)
    }

    fn carried_by(&self) -> String {
        format!("The call chain behind most of the extra CPU time of {}", clean(&self.version.version))
    }
}

/// Every version that was compared.
fn pairs<'m>(document: &Document<'m>) -> Vec<Pair<'m>> {
    let Some(matrix) = document.matrix() else { return Vec::new() };
    let Some(first) = measured(matrix).next().map(|first| first.version.as_str()) else { return Vec::new() };
    let compared = measured(matrix).filter(|version| !version.ratios.is_empty());
    compared.map(|version| Pair { first, version }).collect()
}

/// All ratios in one table, then the chain of each version that is slower.
fn text(document: &Document, style: Style) -> String {
    let pairs = pairs(document);
    let chains = pairs.iter().map(|pair| chain(pair, style)).filter(|chain| !chain.is_empty());
    let blocks = [ratios(document, &pairs, style)].into_iter().chain(chains);
    blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn ratios(document: &Document, pairs: &[Pair], style: Style) -> String {
    let (Some(matrix), Some(one)) = (document.matrix(), pairs.first()) else { return String::new() };
    let of_metric = |metric: &Metric| {
        let of = pairs.iter().flat_map(|pair| pair.version.ratios.iter().map(move |one| (pair.version, one)));
        let rows = of.filter(|(_, one)| one.metric == *metric).map(|(version, one)| row(&version.version, one));
        let rows = rows.collect::<Vec<_>>();
        let head = if rows.is_empty() { None } else { Some(Row::new(noun(metric), [""])) };
        head.into_iter().chain(rows).collect::<Vec<_>>()
    };
    let rows = matrix.metrics.iter().flat_map(of_metric).collect::<Vec<_>>();
    if rows.is_empty() {
        return String::new();
    }
    let first = clean(one.first);
    let rows = [Row::new("", [&first, "other", "ratio", "", ""])].into_iter().chain(rows).collect::<Vec<_>>();
    let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
    format!("Against {first} (95 % intervals):\n{}", grid(&rows, &aligns, "  ", style))
}

fn row(version: &str, compared: &Compared) -> Row {
    let row = ratios::row(compared);
    Row { name: format!("  {}", shorten(&clean(version), VERSION_COLUMNS)), ..row }
}

fn chain(pair: &Pair, style: Style) -> String {
    let (chain, hot_spots) = pair.code();
    if chain.is_empty() {
        return String::new();
    }
    let title = part::text::of(&[Part::Heading(pair.carried_by())], style);
    let spots = part::text::of(&hot_spots::parts(hot_spots, pair.sides()), style);
    title + &Chain::of(chain, pair.sides()).text(style) + &spots
}

fn titled<'p>(pair: &Pair<'p>, title: &'p str) -> Ratios<'p> {
    Ratios { title, metrics: &pair.version.ratios, sides: pair.sides() }
}

fn html(pair: &Pair) -> String {
    let title = format!("{} against {}", clean(&pair.version.version), clean(pair.first));
    let (chain, hot_spots) = pair.code();
    let mut chain = Chain::of(chain, pair.sides());
    chain.title = pair.carried_by();
    titled(pair, &title).html() + &chain.html() + &part::html::of(&hot_spots::parts(hot_spots, pair.sides()))
}

fn markdown(pair: &Pair) -> String {
    let (chain, hot_spots) = pair.code();
    let title = format!("{} against {}", pair.version.version, pair.first);
    let head = format!("### {}\n\n{}", escape(&title), titled(pair, &title).table());
    let table = Chain::of(chain, pair.sides()).markdown();
    let table = if table.is_empty() { table } else { format!("{}:\n\n{table}", escape(&pair.carried_by())) };
    let spots = part::markdown::of(&hot_spots::parts(hot_spots, pair.sides()));
    [head, table, spots].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
