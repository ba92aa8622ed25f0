//! In which order arms take their turns.

/// How rounds are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each even round in an order drawn from the seed, each odd one in the reverse order of the round before it: blocks of
    /// ABBA, in which a steady drift cancels (see [`stats::schedule`]).
    Random(u64),
    /// Every round in this order. An arm can have several turns.
    Listed(Vec<usize>),
}

impl Order {
    /// The arms of each round.
    pub(super) fn rounds(&self, arms: usize, most: u32) -> Box<dyn Iterator<Item = Vec<usize>>> {
        match self {
            Order::Random(seed) => Box::new(stats::schedule(arms, most as usize, *seed).into_iter()),
            Order::Listed(order) => Box::new(std::iter::repeat_n(order.clone(), most as usize)),
        }
    }
}
