//! The switch by which the kernel side is told to make rows, or sums alone; and how much it has not made rows of.

use crate::error::RecordError;
use crate::events::{kind, table_of};
use crate::kernel::{Counts, Kernel};
use crate::loaded::SwitchRows;
use aya::maps::{Array, MapData};
use broker::ask;
use std::collections::BTreeMap;

/// Where among the kinds of events the requests are counted that were in events not made.
const WITHHELD_REQUESTS: usize = 0;

/// Rows are made until told otherwise.
pub struct RowSwitch {
    /// Of the recorder whose switch it is.
    id: u64,
    epoch: Array<MapData, u32>,
    /// Even: rows are made.
    current: u32,
    withheld: Counts,
    before: [u64; kind::COUNT as usize],
}

/// What was not made since last asked.
#[derive(Debug, Default)]
pub struct Withheld {
    /// Requests on clients' connections.
    pub requests: u64,
    /// Events, by the table that lacks their rows.
    pub events: BTreeMap<&'static str, u64>,
}

impl RowSwitch {
    /// Takes it from the kernel side, once.
    ///
    /// # Errors
    /// Where it is not there.
    pub fn take(kernel: &mut Kernel) -> Result<RowSwitch, RecordError> {
        let (epoch, withheld) = (kernel.take_array("rows_epoch")?, kernel.take_counts("withheld")?);
        Ok(RowSwitch { id: kernel.id(), epoch, current: 0, withheld, before: [0; kind::COUNT as usize] })
    }

    /// Whether rows are made.
    pub fn makes_rows(&self) -> bool {
        self.current.is_multiple_of(2)
    }

    /// Has rows made from now on, or sums alone. Where the kernel refuses, whether they are stays as it was.
    ///
    /// What only makes rows is on its trace points before there are any, and taken off when there are none any more.
    pub fn turn(&mut self, makes_rows: bool) {
        if makes_rows == self.makes_rows() || makes_rows && !self.attach(true) {
            return;
        }
        if self.epoch.set(0, self.current + 1, 0).is_ok() {
            self.current += 1;
        }
        if !self.makes_rows() {
            // What stays attached finds nothing to do.
            self.attach(false);
        }
    }

    fn attach(&self, makes_rows: bool) -> bool {
        ask(SwitchRows { id: self.id, makes_rows }, &[]).is_ok_and(|reply| reply.answer.is_ok())
    }

    /// What was not made since last asked.
    pub fn withheld(&mut self) -> Withheld {
        if self.current == 0 {
            return Withheld::default();
        }
        let counts = self.withheld.counts();
        let mut withheld = Withheld::default();
        for (kind, (count, before)) in counts.into_iter().zip(self.before).enumerate() {
            match count - before {
                0 => {}
                more if kind == WITHHELD_REQUESTS => withheld.requests = more,
                more => *withheld.events.entry(table_of(kind as u32)).or_default() += more,
            }
        }
        self.before = counts;
        withheld
    }
}
