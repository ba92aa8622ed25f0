//! Where a subject runs.

use crate::link::Link;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A world: everything about a trial that is neither the subject nor an intervention. The default is the host as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// Networks of their own for client and server, and the link between them.
    pub link: Option<Link>,
    /// Variables set (or, where none, removed) in the environment.
    pub environment: BTreeMap<String, Option<String>>,
    /// The working folder; none is ours.
    pub folder: Option<PathBuf>,
    /// Processors to run on; empty for any.
    pub processors: Vec<usize>,
    /// Processor time allowed, in processors: 0.5 is half of one. None is no limit of ours.
    pub processor_quota: Option<f64>,
    /// Memory allowed, in bytes.
    pub memory: Option<u64>,
    /// Kernel settings inside the namespaces of a link: `net.ipv4.tcp_sack` to `0`.
    pub settings: BTreeMap<String, String>,
    /// Routes changed inside the namespaces, as words for `ip route change`.
    pub routes: Vec<(crate::arrangement::End, String)>,
}
