//! The kernel's own symbols, from `/proc/kallsyms`.

/// Function symbols by address. Empty where the kernel hides its addresses (`kernel.kptr_restrict`).
#[derive(Debug, Default)]
pub(super) struct KernelSymbols {
    rows: Vec<(u64, u32)>,
    names: String,
}

impl KernelSymbols {
    /// Reads the running kernel's.
    pub fn of_this_host() -> KernelSymbols {
        std::fs::read("/proc/kallsyms")
            .map(|bytes| KernelSymbols::parse(&String::from_utf8_lossy(&bytes)))
            .unwrap_or_default()
    }

    /// Lines of `address type name`, then perhaps a tab and the module.
    fn parse(text: &str) -> KernelSymbols {
        let mut symbols = KernelSymbols::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            // `__pfx_` names the padding before a function, not code.
            if address == 0 || !matches!(kind, "t" | "T" | "w" | "W") || name.starts_with("__pfx_") {
                continue;
            }
            symbols.rows.push((address, symbols.names.len() as u32));
            symbols.names.push_str(name);
            symbols.names.push('\n');
        }
        symbols.rows.sort_by_key(|(address, _)| *address);
        symbols
    }

    /// The function at an address: its start and name. Kernel functions follow each other without gaps.
    pub fn function(&self, address: u64) -> Option<(u64, &str)> {
        let after = self.rows.partition_point(|(start, _)| *start <= address);
        let (start, name) = self.rows.get(after.checked_sub(1)?)?;
        let name = self.names.get(*name as usize..)?.lines().next()?;
        Some((*start, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_the_function_it_is_in() {
        let text = "ffffffff81000100 T tcp_sendmsg\nffffffff810000f0 T __pfx_tcp_sendmsg\nffffffff81000200 t helper\t[tls]\n\
                    ffffffff81000140 d data\n";
        let symbols = KernelSymbols::parse(text);
        assert_eq!(symbols.function(0xffff_ffff_8100_0150), Some((0xffff_ffff_8100_0100, "tcp_sendmsg")));
        assert_eq!(symbols.function(0xffff_ffff_8100_0200), Some((0xffff_ffff_8100_0200, "helper")));
        assert_eq!(symbols.function(0x1000), None);
    }

    #[test]
    fn hidden_addresses_name_nothing() {
        assert_eq!(KernelSymbols::parse("0000000000000000 T tcp_sendmsg\n").function(0xffff_ffff_8100_0150), None);
    }
}
