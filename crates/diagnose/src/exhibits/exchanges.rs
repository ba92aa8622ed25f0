//! Accounts of the exchanges, down to single ones.

use super::choice::Chosen;
use crate::evidence::Evidence;
use case::Ledger;
use case::exhibits::{AccountExhibit, ExchangeExhibit};

/// The accounts of all exchanges together, each with its dearest exchanges; and every exchange that is named.
pub fn accounts(
    _evidence: &Evidence,
    _ledgers: &[Ledger],
    _chosen: &[Chosen],
) -> (Vec<AccountExhibit>, Vec<ExchangeExhibit>) {
    (Vec::new(), Vec::new())
}
