//! What worlds, undo and interventions ask of the broker: the list of it. Each request stands beside what it is about.

use crate::journal::{Note, TickOff};
use crate::link::Network;
use crate::live::SetQuota;
use crate::repair::Mend;
use crate::worlds::making::StartMaker;
use crate::worlds::store::roots::{ListWorlds, OpenCache, OpenWorld, RemoveWorld};
use broker::Entry;

/// All that the laboratory asks of the broker.
pub const REQUESTS: [Entry; 12] = [
    Entry::of::<broker::SetGroup>(),
    Entry::of::<broker::Enter>(),
    Entry::of::<Network>(),
    Entry::of::<Note>(),
    Entry::of::<TickOff>(),
    Entry::of::<Mend>(),
    Entry::of::<SetQuota>(),
    Entry::of::<OpenCache>(),
    Entry::of::<ListWorlds>(),
    Entry::of::<OpenWorld>(),
    Entry::of::<RemoveWorld>(),
    Entry::of::<StartMaker>(),
];
