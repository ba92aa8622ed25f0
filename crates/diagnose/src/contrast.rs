//! What differs between two sides, each recorded once or several times: the ledger's accounts, CPU time by library,
//! by function and along the call chain, and system calls.
//!
//! A was, B is asked about. Figures are of one exchange where every recording has exchanges, else of one run. What
//! differs between the sides only by a version or a number in its name is taken to be the same thing.

pub mod about;
mod accounts;
mod aliases;
mod calls;
mod chance;
mod code;
mod hot_spots;

use crate::Analysis;
use crate::profile::renamed;
use crate::units::Units;
pub(crate) use aliases::Aliases;
use case::{AccountContrast, CallContrast, CodeContrast, HotSpot, Per, Recording};

/// What differs; see [`contrast`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contrasts {
    /// What the figures are of.
    pub per: Per,
    /// Accounts of the run's ledger, largest difference first; differences under 1 % of the whole are left out.
    pub ledger: Vec<AccountContrast>,
    /// CPU time by library, the C library's and the kernel's charged to their caller; largest difference first.
    /// As below, only what differs by more than chance.
    pub libraries: Vec<CodeContrast>,
    /// CPU time by function, callees included, largest difference first.
    pub functions: Vec<CodeContrast>,
    /// The call chain that carries most of the difference in CPU time, outermost first; empty where the difference
    /// is no larger than chance.
    pub chain: Vec<CodeContrast>,
    /// The functions that burn most of that difference by themselves, largest part first.
    pub hot_spots: Vec<HotSpot>,
    /// System calls whose number or time differs, largest difference in time first.
    pub calls: Vec<CallContrast>,
}

/// What differs between two sides.
pub fn contrast(a: &[Recording], b: &[Recording]) -> Contrasts {
    let aliases = Aliases::of_modules(a, b);
    let read = |side: &[Recording], rename: &dyn Fn(&str) -> String| -> Vec<Breakdown> {
        side.iter().map(|recording| Breakdown::keep(recording, rename)).collect()
    };
    let (in_a, in_b) = (|name: &str| aliases.in_a(name), |name: &str| aliases.in_b(name));
    let (breakdown_a, breakdown_b) = (read(a, &in_a), read(b, &in_b));
    let exchanges = |breakdown: &[Breakdown]| breakdown.iter().map(|run| run.exchanges).collect::<Vec<_>>();
    let units = Units::new(&exchanges(&breakdown_a), &exchanges(&breakdown_b));
    let wall = |breakdown: &[Breakdown]| breakdown.iter().map(|run| run.wall).sum::<f64>();
    let wall = (wall(&breakdown_a) / units.a).max(wall(&breakdown_b) / units.b);
    let (profile_a, profile_b) = (renamed(a, aliases.of_a()), renamed(b, aliases.of_b()));
    let (accounts_a, accounts_b) =
        (breakdown_a.iter().map(|run| &run.accounts), breakdown_b.iter().map(|run| &run.accounts));
    let has_exchanges = breakdown_a.iter().chain(&breakdown_b).any(|run| run.exchanges > 0);
    let naming = if has_exchanges { case::Account::name } else { case::Account::name_of_run };
    Contrasts {
        per: if units.exchanges { Per::Exchange } else { Per::Run },
        ledger: accounts::contrast(accounts_a, accounts_b, naming, units, wall),
        libraries: code::libraries(&profile_a, &profile_b, units),
        functions: code::functions(&profile_a, &profile_b, units),
        chain: code::chain(&profile_a, &profile_b, units),
        hot_spots: hot_spots::hot_spots(&profile_a, &profile_b, units),
        calls: calls::contrast(
            breakdown_a.iter().map(|run| &run.calls),
            breakdown_b.iter().map(|run| &run.calls),
            units,
            wall,
        ),
    }
}

/// What of one recording is compared, besides its profile.
struct Breakdown {
    exchanges: usize,
    wall: f64,
    accounts: accounts::Accounts,
    calls: calls::Kinds,
}

impl Breakdown {
    fn keep(recording: &Recording, rename: &dyn Fn(&str) -> String) -> Breakdown {
        let analysis = Analysis::new(recording);
        Breakdown {
            exchanges: analysis.exchanges.len(),
            wall: analysis.wall() as f64,
            accounts: accounts::of_run(&analysis, rename),
            calls: calls::kinds(recording),
        }
    }
}

#[cfg(test)]
mod tests;
