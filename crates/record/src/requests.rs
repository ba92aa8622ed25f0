//! The requests of this crate's, for the broker's list.

use broker::Entry;

/// All that recording and starting programs asks of the broker.
pub const REQUESTS: [Entry; 15] = [
    Entry::of::<crate::loaded::Load>(),
    Entry::of::<crate::loaded::SwitchRows>(),
    Entry::of::<crate::loaded::Unload>(),
    Entry::of::<crate::program::Plan>(),
    Entry::of::<crate::program::TryTree>(),
    Entry::of::<broker::Signal>(),
    Entry::of::<broker::Look>(),
    Entry::of::<broker::OpenOf>(),
    Entry::of::<broker::OpenMemory>(),
    Entry::of::<broker::OpenKernelSymbols>(),
    Entry::of::<crate::live_sockets::Duplicate>(),
    Entry::of::<broker::MakeGroup>(),
    Entry::of::<broker::RemoveGroup>(),
    Entry::of::<crate::resolver::StartResolver>(),
    Entry::of::<crate::scheduling::Prefer>(),
];
