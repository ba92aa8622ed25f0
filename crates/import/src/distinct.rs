//! How many different ones there were, in 4 KiB (Flajolet et al., "HyperLogLog", 2007, with linear counting where there are
//! few).

/// 2^12 registers: a standard error of 1.04 / 64.
const BITS: u32 = 12;
const REGISTERS: usize = 1 << BITS;
/// The highest rank that a register can have.
const HIGHEST: u8 = (64 - BITS) as u8 + 1;

/// A set of which only the size is known, nearly.
#[derive(Clone)]
pub struct Distinct {
    registers: Box<[u8; REGISTERS]>,
}

impl Default for Distinct {
    fn default() -> Distinct {
        Distinct { registers: Box::new([0; REGISTERS]) }
    }
}

impl Distinct {
    /// The standard error of [`Distinct::count`], as a share of it.
    pub const ERROR: f64 = 1.04 / 64.0;

    /// Notes one, by 128 bits of it.
    pub fn note(&mut self, one: u128) {
        let hash = mixed(mixed(one as u64) ^ (one >> 64) as u64);
        let register = (hash >> (64 - BITS)) as usize;
        let rank = ((hash << BITS) | 1 << (BITS - 1)).leading_zeros() as u8 + 1;
        if self.registers[register] < rank {
            self.registers[register] = rank;
        }
    }

    /// Takes in another's.
    pub fn merge(&mut self, other: &Distinct) {
        for (mine, theirs) in self.registers.iter_mut().zip(other.registers.iter()) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The registers as text, one sign each, from `0` up.
    pub fn text(&self) -> String {
        self.registers.iter().map(|rank| char::from(b'0' + rank)).collect()
    }

    /// That of such a text; none where it is none.
    pub fn of_text(text: &str) -> Option<Distinct> {
        let mut registers = Box::new([0; REGISTERS]);
        if text.len() != REGISTERS {
            return None;
        }
        for (register, sign) in registers.iter_mut().zip(text.bytes()) {
            *register = sign.checked_sub(b'0').filter(|rank| *rank <= HIGHEST)?;
        }
        Some(Distinct { registers })
    }

    /// How many there were, nearly.
    pub fn count(&self) -> u64 {
        let all = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|rank| f64::exp2(-f64::from(*rank))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / all) * all * all / sum;
        let empty = memchr::memchr_iter(0, &self.registers[..]).count();
        let few = raw <= 2.5 * all && empty > 0;
        (if few { all * (all / empty as f64).ln() } else { raw }).round() as u64
    }
}

/// Every bit of the result depends on every bit (the finaliser of `SplitMix64`).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_are_counted_well_and_a_million_nearly() {
        for count in [0u64, 1, 100, 5_000, 1_000_000] {
            let mut set = Distinct::default();
            (0..count).for_each(|one| set.note(0xffff_0000_0000 + u128::from(one)));
            let error = (set.count() as f64 - count as f64).abs() / count.max(1) as f64;
            assert!(error < 4.0 * Distinct::ERROR, "{count}: {}", set.count());
        }
    }

    #[test]
    fn two_halves_together_are_the_whole() {
        let (mut left, mut right) = (Distinct::default(), Distinct::default());
        (0..600u128).for_each(|one| left.note(one));
        (400..1_000u128).for_each(|one| right.note(one));
        left.merge(&right);
        assert!((left.count() as f64 - 1_000.0).abs() < 60.0, "{}", left.count());
    }
}
