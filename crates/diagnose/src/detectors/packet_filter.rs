//! P72: packets go through long lists of rules.

use super::in_kernel::{self, Words};
use super::{Found, detector};
use crate::analysis::Analysis;
use case::KernelWork;

detector! {
    /// # packet-filter
    ///
    /// ## What it is
    /// The host's firewall tries its rules one after the other on every packet, and there are thousands of them: a rule for each
    /// address that was banned once, or for each service of a cluster.
    ///
    /// ## Evidence
    /// CPU samples in the kernel's packet filters (nftables, iptables, ebtables), on the stack of a program that sends or receives, a
    /// tenth of the requests' time or more.
    ///
    /// ## What proves it
    /// Nothing that is safe: rules are there to keep others out, and whyslow leaves them alone. Namespaces of one's own have none: where
    /// the same run over `--link` has no samples there, the rules are what it lacks.
    ///
    /// ## Remedy
    /// Let packets of known connections pass first (`ct state established,related accept` as the first rule), and put addresses and
    /// ports into sets or maps (nftables sets, ipset): one look-up in place of a thousand rules.
    ///
    /// ## Not to be confused with
    /// Rules that drop packets (loss-and-rto, mtu-blackhole); a network device that filters on its own.
    "P72" "packet-filter",
    not_switched: "The host's firewall stays as it is.",
    needs: &[Samples]
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let words = Words {
        what: "Each packet goes through a long list of firewall rules",
        spent_in: "the kernel's packet filters, which try one rule after the other",
        remedy: "Let packets of known connections pass first (ct state established,related accept), and put addresses and ports \
                     into sets or maps (nftables sets, ipset).",
    };
    in_kernel::found(analysis, KernelWork::PacketFilters, &words)
}

#[cfg(test)]
mod tests {
    use crate::fixture::requests_in_kernel;
    use crate::tests::names;

    fn is_found(function: &str, work: u64) -> bool {
        names(&requests_in_kernel(function, work)).contains(&"packet-filter".to_string())
    }

    #[test]
    fn rules_that_take_much_of_the_requests_time_are_found_and_a_few_are_not() {
        assert!(is_found("nft_do_chain", 8));
        assert!(is_found("ipt_do_table", 8));
        assert!(!is_found("nft_do_chain", 1), "a twentieth");
        assert!(!is_found("tcp_sendmsg_locked", 8));
    }
}
