//! N0: nothing to report. It has a page and no rule: it is the answer when no detector has found anything.

use super::Page;

/// The page.
pub const PAGE: Page = Page {
    id: "N0",
    name: "healthy",
    text: "\
# healthy

## What it is
Nothing to report: no mechanism was recognised whose removal could save 5 % of wall or CPU time.

## Evidence
The ledger still shows where the time went, in one sentence and account by account. A place is not an accusation: work
takes time.

## What proves it
Nothing can. What was not looked for, and what was lost while recording, is listed below the ledger: 'not found' is not
the same as 'not looked for'.

## Remedy
If it is still too slow: record the other end, too (--server), run longer, or look at smaller findings (--all).

## Not to be confused with
An inconclusive run (exit code 3), in which too much is unexplained or too little was recorded.
",
};
