//! Local ports: how many the system gives to connections, and how many sockets there are.

use case::PortUse;
use std::fs::read_to_string;

/// Now, on the whole machine: TIME_WAIT holds a port for a minute, whoever has left it.
pub(crate) fn now() -> PortUse {
    let range = read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let sockets = read_to_string("/proc/net/sockstat").unwrap_or_default();
    read(&range, &sockets)
}

fn read(range: &str, sockets: &str) -> PortUse {
    let mut ends = range.split_whitespace().filter_map(|end| end.parse::<u64>().ok());
    let available = ends.next().zip(ends.next()).map_or(0, |(low, high)| (high + 1).saturating_sub(low));
    let line = sockets.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words = line.split_whitespace().collect::<Vec<_>>();
    let of = |name: &str| {
        let value = words.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1].parse());
        value.and_then(Result::ok).unwrap_or(0u64)
    };
    PortUse { available, most_sockets: of("inuse") + of("tw"), time_wait: of("tw") }
}

/// The worse of two.
pub(crate) fn worse(one: PortUse, other: PortUse) -> PortUse {
    if other.most_sockets > one.most_sockets { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        let sockets = "sockets: used 9\nTCP: inuse 5 orphan 0 tw 20 alloc 7 mem 3\nUDP: inuse 0 mem 0\n";
        let expected = PortUse { available: 28_232, most_sockets: 25, time_wait: 20 };
        assert_eq!(read("32768\t60999\n", sockets), expected);
        assert_eq!(read("", ""), PortUse::default());
    }
}
