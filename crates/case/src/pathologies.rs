//! The catalogue: every pathology that whyslow knows by name, whether or not anything looks for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pathology's identifier and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Pathology {
    /// The stable identifier, `P01`.
    pub id: String,
    /// The name, `nagle-delayed-ack`.
    pub name: String,
}

impl Pathology {
    /// One of the catalogue by its identifier.
    pub fn of(id: &str) -> Option<Pathology> {
        let (id, name) = CATALOGUE.iter().find(|(known, _)| *known == id)?;
        Some(Pathology { id: (*id).to_string(), name: (*name).to_string() })
    }
}

/// Identifiers and names. Both are stable: what is not looked for any more keeps its number.
pub const CATALOGUE: [(&str, &str); 59] = [
    ("P01", "nagle-delayed-ack"),
    ("P02", "delayed-ack-at-mss-multiple"),
    ("P03", "split-writes"),
    ("P04", "tiny-tls-records"),
    ("P05", "busy-spin"),
    ("P06", "sleep-polling"),
    ("P07", "connection-churn"),
    ("P08", "no-resumption"),
    ("P09", "context-per-request"),
    ("P10", "ca-bundle-per-context"),
    ("P11", "ca-path-layout"),
    ("P12", "openssl3-fetch-locks"),
    ("P13", "slow-key-type"),
    ("P14", "chain-over-initial-window"),
    ("P15", "inline-revocation-check"),
    ("P16", "startup-self-tests"),
    ("P17", "client-per-request"),
    ("P18", "pool-exhausted"),
    ("P19", "body-not-drained"),
    ("P20", "listen-backlog-overflow"),
    ("P21", "app-window-below-bdp"),
    ("P22", "fixed-socket-buffers"),
    ("P23", "slow-reader"),
    ("P24", "slow-start-after-idle"),
    ("P25", "loss-and-rto"),
    ("P26", "bufferbloat"),
    ("P27", "token-bucket"),
    ("P28", "server-rate-limit"),
    ("P29", "cpu-quota-throttling"),
    ("P30", "run-queue-delay"),
    ("P31", "name-lookup"),
    ("P32", "dead-ipv6"),
    ("P33", "expect-continue"),
    ("P34", "close-wait-framing"),
    ("P35", "serial-requests"),
    ("P36", "superlinear-work"),
    ("P37", "allocator-pressure"),
    ("P38", "lock-convoy"),
    ("P39", "sync-disk"),
    ("P40", "compression-level"),
    ("P41", "uneven-accept"),
    ("P42", "tiny-reads"),
    ("P43", "dependency-regression"),
    ("P44", "bots"),
    ("P45", "retry-storm"),
    ("P46", "debug-build"),
    ("P47", "slow-clock-or-entropy"),
    ("P48", "port-exhaustion"),
    ("P49", "mtu-blackhole"),
    ("P50", "saturated-thread"),
    ("P51", "hot-library"),
    ("P52", "process-per-request"),
    ("P53", "silent-upstream"),
    ("P54", "costly-switch"),
    ("P55", "files-per-request"),
    ("P56", "corked-writes"),
    ("P57", "traced-program"),
    ("P58", "poll-scan"),
    ("P59", "cpu-affinity"),
];
