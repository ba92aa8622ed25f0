//! Which blocks each kind of document has, in their order. The terminal, the page and Markdown all walk these lists; the
//! page groups them by section.

use crate::block::{Block, Section};
use crate::blocks::{
    again, attached, burner, calls, chain, connections, contrasts, cures, curve, dots, environment, evidence, factors,
    findings, flame, gain, gates, grounds, growth, hot_spots, ladder, lead, ledger, lengths, live, points, probes,
    ratios, reasons, reconciled, regimes, sides, spread, stairs, states, together, trials, troubles, versions, waits,
    way_back, whole_run,
};
use crate::document::Body;

const ANSWER: &[&Block] = &[
    &lead::BLOCK,
    &gain::BLOCK,
    &findings::BLOCK,
    &together::BLOCK,
    &lead::WHOLE,
    &troubles::BLOCK,
    &live::BLOCK,
    &dots::BLOCK,
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
];

const SWEEP: &[&Block] =
    &[&lead::BLOCK, &reasons::BLOCK, &sides::VARIED, &curve::BLOCK, &points::BLOCK, &regimes::BLOCK, &growth::BLOCK];

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
    &stairs::BLOCK,
    &factors::BLOCK,
    &probes::BLOCK,
    &ratios::CONTROL,
];

const MATRIX: &[&Block] =
    &[&lead::BLOCK, &sides::RAN, &spread::BLOCK, &versions::BLOCK, &attached::BLOCK, &states::BLOCK];

/// What recordings show, in every document.
const RECORDED: &[&Block] = &[
    &ledger::BLOCK,
    &waits::BLOCK,
    &whole_run::BLOCK,
    &reconciled::BLOCK,
    &ladder::BLOCK,
    &flame::BLOCK,
    &lengths::BLOCK,
    &connections::BLOCK,
    &calls::BLOCK,
];

/// What stands at the end of every document.
const LAST: &[&Block] = &[&environment::BLOCK, &environment::LOSSES, &environment::MISSING, &again::BLOCK];

/// The blocks of a document: its own, what its recordings show, what its trials were, and what holds for all.
pub(crate) fn blocks(body: Body) -> Vec<&'static Block> {
    let (own, trials): (_, &[&Block]) = match body {
        Body::Measured(measured) => return measured.shown().blocks.to_vec(),
        Body::Answer(_) => (ANSWER, &[&evidence::BLOCK, &trials::BLOCK, &trials::NOT_TRIED]),
        Body::Comparison(_) => (COMPARISON, &[&trials::BLOCK, &trials::WARNINGS]),
        Body::Sweep(_) => (SWEEP, &[&trials::BLOCK, &trials::WARNINGS]),
        Body::Bisection(_) => (BISECTION, &[&trials::NOT_TRIED, &trials::BLOCK, &trials::WARNINGS]),
        Body::Matrix(_) => (MATRIX, &[&trials::BLOCK, &trials::WARNINGS]),
    };
    let is_capture = matches!(body, Body::Answer(answer) if answer.is_of_capture());
    let mut all = [own, RECORDED, trials, LAST].concat();
    // Of threads and calls a capture of packets knows nothing.
    all.retain(|block| !is_capture || !matches!(block.section, Section::Flame | Section::Calls));
    all
}
