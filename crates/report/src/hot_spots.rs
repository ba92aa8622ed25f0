//! The functions that burn most of a difference by themselves: a part of a sentence, and a table with how each is called.

use crate::bisection::burner::{is_named, readable};
use crate::chain::code;
use crate::comparison::origin::signed;
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::clean;
use case::{CodeContrast, HotSpot, Nanos, Share};

/// What stands over them.
pub(crate) const TITLE: &str = "What takes most of the difference by itself, callees left out";
/// A sentence has room for so many.
const IN_A_SENTENCE: usize = 3;
/// A way has room for so many functions.
const IN_A_WAY: usize = 6;

/// `by itself, ossl_sa_doall_arg takes 18 % of the difference, getrn 14 %`; empty where none has a name.
pub(crate) fn said(hot_spots: &[HotSpot]) -> String {
    let named = hot_spots.iter().filter(|one| is_named(&one.own)).take(IN_A_SENTENCE);
    let mut told = named.map(|one| (name(&one.own), Share(one.share)));
    let Some((first, share)) = told.next() else { return String::new() };
    let others = told.map(|(name, share)| format!(", {name} {share}")).collect::<String>();
    format!("by itself, {first} takes {share} of the difference{others}")
}

/// As a table, each with how it is called; empty for none.
pub(crate) fn table(hot_spots: &[HotSpot], sides: [&str; 3], style: Style) -> String {
    if hot_spots.is_empty() {
        return String::new();
    }
    let heading = Row::new("", sides.into_iter().chain(["part"]));
    let rows = hot_spots.iter().map(|one| Row { note: called(one), ..Row::new(title(one), figures(one)) });
    let rows = [heading].into_iter().chain(rows).collect::<Vec<_>>();
    format!("{TITLE}:\n{}", grid(&rows, &[Align::Right; 4], "  ", style))
}

/// `ossl_sa_doall_arg (libcrypto.so.3)`.
pub(crate) fn title(hot_spot: &HotSpot) -> String {
    let (named, _) = readable(std::slice::from_ref(&hot_spot.own));
    named.first().map(|one| code(&one.function, &one.module)).unwrap_or_default()
}

/// Its own time on both sides, the difference, and its part of the whole difference.
pub(crate) fn figures(HotSpot { own, share, .. }: &HotSpot) -> [String; 4] {
    let part = Share(*share).to_string();
    [Nanos(own.a_ns).to_string(), Nanos(own.b_ns).to_string(), signed(own.a_ns, own.b_ns), part]
}

/// How most of it comes about: the functions by which each library is entered, and what calls it in the end. `by main >
/// curl_easy_perform > ... > SSL_CTX_new_ex > ... > ossl_method_store_cache_set`; empty where nobody calls it.
pub(crate) fn called(hot_spot: &HotSpot) -> String {
    let (chain, _) = readable(&hot_spot.chain);
    let callers = &chain[..chain.len().saturating_sub(1)];
    let is_entry = |place: usize| place == 0 || callers[place - 1].module != callers[place].module;
    let told = (0..callers.len()).filter(|&place| is_entry(place) || place + 1 == callers.len()).collect::<Vec<_>>();
    let told = &told[told.len().saturating_sub(IN_A_WAY)..];
    let mut way = String::new();
    let mut next = 0;
    for &place in told {
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
