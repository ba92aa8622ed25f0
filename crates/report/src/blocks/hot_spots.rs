//! The functions that take most of a difference by themselves: a part of a sentence, and a table with how each is called.

use crate::block::{Block, Section};
use crate::contrast::signed;
use crate::document::Document;
use crate::function::{code, is_named, readable};
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::clean;
use case::{CodeContrast, HotSpot, Nanos, Share};

/// What stands over them.
const TITLE: &str = "Functions that take most of the difference themselves, callees excluded";
/// A sentence has room for so many.
const IN_A_SENTENCE: usize = 3;
/// A way has room for so many functions.
const IN_A_WAY: usize = 6;

/// Those of a comparison.
pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| match document.comparison() {
        Some(comparison) if super::contrasts::in_code(document) => {
            crate::part::text::of(&parts(&comparison.hot_spots, ["A", "B"]), style)
        }
        _ => String::new(),
    }),
    html: Some(|document| super::contrasts::folded(document, crate::part::html::of(&of_comparison(document)))),
    ..Block::of(Section::Compared, of_comparison)
};

fn of_comparison(document: &Document) -> Vec<Part> {
    document.comparison().map(|comparison| parts(&comparison.hot_spots, ["A", "B"])).unwrap_or_default()
}

/// As a table, each with how it is called; nothing for none.
pub(crate) fn parts(hot_spots: &[HotSpot], [a, b]: [&str; 2]) -> Vec<Part> {
    let rows = hot_spots.iter().map(|one| Row::new(title(one), figures(one)).with_note(called(one)));
    let difference = format!("{b} - {a}");
    under(TITLE, [Part::Table(Table::of("", [a, b, &difference, "share"], rows.collect()).code())])
}

/// `ossl_sa_doall_arg alone accounts for 18 % of the difference, getrn 14 %`; empty where none has a name.
pub(crate) fn said(hot_spots: &[HotSpot]) -> String {
    let named = hot_spots.iter().filter(|one| is_named(&one.own)).take(IN_A_SENTENCE);
    let mut named_so = named.map(|one| (name(&one.own), Share(one.share)));
    let Some((first, share)) = named_so.next() else { return String::new() };
    let others = named_so.map(|(name, share)| format!(", {name} {share}")).collect::<String>();
    format!("{first} alone accounts for {share} of the difference{others}")
}

/// `ossl_sa_doall_arg (libcrypto.so.3)`.
fn title(hot_spot: &HotSpot) -> String {
    let (named, _) = readable(std::slice::from_ref(&hot_spot.own));
    named.first().map(|one| code(&one.function, &one.module)).unwrap_or_default()
}

/// Its own time on both sides, the difference, and its part of the whole difference.
fn figures(HotSpot { own, share, .. }: &HotSpot) -> [String; 4] {
    let part = Share(*share).to_string();
    [Nanos(own.a_ns).to_string(), Nanos(own.b_ns).to_string(), signed(own.a_ns, own.b_ns), part]
}

/// How most of it comes about: the functions by which each library is entered, and what calls it in the end. `by main >
/// curl_easy_perform > ... > SSL_CTX_new_ex > ... > ossl_method_store_cache_set`; empty where nobody calls it.
fn called(hot_spot: &HotSpot) -> String {
    let (chain, _) = readable(&hot_spot.chain);
    let callers = &chain[..chain.len().saturating_sub(1)];
    let is_entry = |place: usize| place == 0 || callers[place - 1].module != callers[place].module;
    let shown = (0..callers.len()).filter(|&place| is_entry(place) || place + 1 == callers.len()).collect::<Vec<_>>();
    let shown = &shown[shown.len().saturating_sub(IN_A_WAY)..];
    let mut way = String::new();
    let mut next = 0;
    for &place in shown {
        way += if next < place { "... > " } else { "" };
        way += &format!("{} > ", name(&callers[place]));
        next = place + 1;
    }
    way.strip_suffix(" > ").map(|way| format!("by {way}")).unwrap_or_default()
}

fn name(own: &CodeContrast) -> String {
    let (named, _) = readable(std::slice::from_ref(own));
    named.first().map(|one| clean(&one.function)).unwrap_or_default()
}
