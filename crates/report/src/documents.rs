//! Which blocks each kind of document has, in their order. The terminal, the page and Markdown all walk these lists; the
//! page groups them by section.

use crate::block::Block;
use crate::blocks::{
    again, attached, burner, calls, chain, connections, contrasts, cures, curve, dots, environment, evidence, factors,
    findings, flame, gain, gates, grounds, growth, hot_spots, ladder, lead, ledger, lengths, live, points, probes,
    ratios, reasons, regimes, sides, spread, states, together, trials, versions, way_back,
};
use crate::document::Body;

const ANSWER: &[&Block] = &[
    &lead::BLOCK,
    &gain::BLOCK,
    &findings::BLOCK,
    &together::BLOCK,
    &lead::WHOLE,
    &live::BLOCK,
    &dots::BLOCK,
    &ledger::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
    &evidence::BLOCK,
    &trials::BLOCK,
    &trials::NOT_TRIED,
    &environment::BLOCK,
    &environment::LOSSES,
    &environment::MISSING,
    &again::BLOCK,
];

const COMPARISON: &[&Block] = &[
    &gates::BLOCK,
    &lead::BLOCK,
    &gain::BLOCK,
    &dots::BLOCK,
    &sides::BOTH,
    &ratios::METRICS,
    &contrasts::LEDGER,
    &contrasts::UNKNOWN,
    &contrasts::LIBRARIES,
    &contrasts::FUNCTIONS,
    &chain::BLOCK,
    &hot_spots::BLOCK,
    &contrasts::CALLS,
    &ledger::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
    &trials::BLOCK,
    &trials::WARNINGS,
    &environment::BLOCK,
    &environment::LOSSES,
    &environment::MISSING,
    &again::BLOCK,
];

const SWEEP: &[&Block] = &[
    &lead::BLOCK,
    &reasons::BLOCK,
    &sides::VARIED,
    &curve::BLOCK,
    &points::BLOCK,
    &regimes::BLOCK,
    &growth::BLOCK,
    &ledger::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
    &trials::BLOCK,
    &trials::WARNINGS,
    &environment::BLOCK,
    &environment::LOSSES,
    &environment::MISSING,
    &again::BLOCK,
];

const BISECTION: &[&Block] = &[
    &lead::BLOCK,
    &gain::BLOCK,
    &grounds::BLOCK,
    &cures::BLOCK,
    &findings::BLOCK,
    &way_back::BLOCK,
    &sides::WORLDS,
    &ratios::BASELINE,
    &burner::BLOCK,
    &factors::BLOCK,
    &probes::BLOCK,
    &ratios::CONTROL,
    &ledger::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
    &trials::NOT_TRIED,
    &trials::BLOCK,
    &trials::WARNINGS,
    &environment::BLOCK,
    &environment::LOSSES,
    &environment::MISSING,
    &again::BLOCK,
];

const MATRIX: &[&Block] = &[
    &lead::BLOCK,
    &sides::RAN,
    &spread::BLOCK,
    &versions::BLOCK,
    &attached::BLOCK,
    &states::BLOCK,
    &ledger::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
    &trials::BLOCK,
    &trials::WARNINGS,
    &environment::BLOCK,
    &environment::LOSSES,
    &environment::MISSING,
    &again::BLOCK,
];

/// The blocks of a document.
pub(crate) fn blocks(body: Body) -> &'static [&'static Block] {
    match body {
        Body::Answer(_) => ANSWER,
        Body::Comparison(_) => COMPARISON,
        Body::Sweep(_) => SWEEP,
        Body::Bisection(_) => BISECTION,
        Body::Matrix(_) => MATRIX,
    }
}
