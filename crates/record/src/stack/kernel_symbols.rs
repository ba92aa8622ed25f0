//! The kernel's own symbols, from `/proc/kallsyms`.

/// Function symbols by address. Empty where the kernel hides its addresses (`kernel.kptr_restrict`).
#[derive(Debug, Default)]
pub(super) struct KernelSymbols {
    rows: Vec<(u64, u32)>,
    names: String,
    /// Where the kernel's own code begins and ends, which is drawn anew at each start of the machine; nowhere where that is not
    /// known. Code of modules lies elsewhere.
    text: std::ops::Range<u64>,
}

impl KernelSymbols {
    /// Reads the running kernel's.
    pub fn of_this_host() -> KernelSymbols {
        KernelSymbols::parse(&String::from_utf8_lossy(&crate::peer::kernel_symbols()))
    }

    /// Lines of `address type name`, then perhaps a tab and the module.
    pub(super) fn parse(text: &str) -> KernelSymbols {
        let mut symbols = KernelSymbols::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            // `__pfx_` names the padding before a function, not code.
            if address == 0 || !matches!(kind, "t" | "T" | "w" | "W") || name.starts_with("__pfx_") {
                continue;
            }
            match name {
                "_text" => symbols.text.start = address,
                "_etext" => symbols.text.end = address,
                _ => {}
            }
            symbols.rows.push((address, symbols.names.len() as u32));
            symbols.names.push_str(name);
            symbols.names.push('\n');
        }
        symbols.rows.sort_by_key(|(address, _)| *address);
        symbols
    }

    /// An address without where the kernel was loaded, which attackers would like to know: counted from there, or for a module from
    /// its function; 0 where neither is known.
    pub fn offset(&self, address: u64) -> u64 {
        let own = self.text.contains(&address).then(|| address - self.text.start);
        own.or_else(|| Some(address - self.function(address)?.0)).unwrap_or(0)
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
    fn what_is_written_down_does_not_tell_where_the_kernel_is() {
        let text = "ffffffff9a000000 T _text\nffffffff9a000100 T tcp_sendmsg\nffffffff9b000000 T _etext\nffffffffc0a00000 t helper\t[tls]\n";
        let symbols = KernelSymbols::parse(text);
        assert_eq!(symbols.offset(0xffff_ffff_9a00_0150), 0x150);
        assert_eq!(symbols.offset(0xffff_ffff_c0a0_0010), 0x10, "a module's, from its function");
        assert_eq!(KernelSymbols::default().offset(0xffff_ffff_9a00_0150), 0);
    }

    #[test]
    fn hidden_addresses_name_nothing() {
        assert_eq!(KernelSymbols::parse("0000000000000000 T tcp_sendmsg\n").function(0xffff_ffff_8100_0150), None);
    }
}
