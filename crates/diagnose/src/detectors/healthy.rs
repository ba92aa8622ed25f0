//! N0: nothing to report. It has a page and no rule: it is the answer when no detector has found anything.

use super::Page;

/// The page.
pub const PAGE: Page = Page {
    id: "N0",
    name: "healthy",
    text: "\
# healthy

## What it is
Nothing to report: no mechanism was recognised whose removal could save 5 % of the wall or the processor time.

## Evidence
The ledger tells where the time went all the same, in one sentence and account by account. A place is not an
accusation: work takes time.

## What proves it
Nothing can. What was not looked for, and what was lost while recording, is printed below the ledger: not found differs
from not looked for.

## Remedy
Where it still is too slow: record the other end too (--server), make the run longer, look at smaller findings (--all).

## Not to be confused with
An inconclusive run (exit code 3), of which too much is unexplained or too little was recorded to judge.
",
};
