//! A stacked bar: boxes side by side, as wide as their shares.

use super::meaning::class;
use crate::text::clean;
use case::{Account, AccountTime, Nanos};

/// A box narrower than this, in percent of the bar, has no room for its number.
const LEAST_LABELLED: f64 = 4.0;
/// Accounts named where a bar is put into words.
const MOST_SAID: usize = 3;

/// A stacked bar.
pub(super) struct Bar {
    /// Whose it is: `A`, `at 1424`; empty where there is one.
    pub name: String,
    /// What it adds up to.
    pub total: String,
    /// Its width in percent of the longest.
    pub width: String,
    /// Its boxes.
    pub segments: Vec<Segment>,
}

/// One box of a bar.
pub(super) struct Segment {
    /// The entry that it leads to.
    pub number: usize,
    /// Its look.
    pub class: String,
    /// Its weight among the others, in percent.
    pub percent: String,
    /// Its number again where there is room for it.
    pub label: String,
    /// All of it in words.
    pub said: String,
}

/// One box, of an account or of several.
pub(super) fn segment(number: usize, (name, account): (&str, Option<&Account>), time: Nanos, whole: Nanos) -> Segment {
    let share = time.share_of(whole);
    let percent = (share.0 * 100.0).clamp(0.0, 100.0);
    Segment {
        number,
        class: class(account),
        percent: format!("{percent:.3}"),
        label: if percent >= LEAST_LABELLED { number.to_string() } else { String::new() },
        said: format!("{}: {share}, {time}", clean(name)),
    }
}

/// The ledger of one request as a thin bar.
pub(super) struct Thin {
    /// Class and percent of each box.
    pub boxes: Vec<(String, String)>,
    /// The largest of them in words.
    pub said: String,
}

/// The thin bar of one request's accounts.
pub(super) fn thin(accounts: &[AccountTime]) -> Thin {
    let whole = accounts.iter().map(|account| Nanos(account.ns)).sum::<Nanos>();
    let share = |account: &AccountTime| Nanos(account.ns).share_of(whole);
    let boxes =
        accounts.iter().map(|account| (class(Some(&account.account)), format!("{:.2}", share(account).0 * 100.0)));
    let said = accounts.iter().take(MOST_SAID).map(|account| format!("{} {}", clean(&account.name), share(account)));
    Thin { boxes: boxes.collect(), said: said.collect::<Vec<_>>().join(", ") }
}
