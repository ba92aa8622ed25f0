//! The order in which the arms of an experiment run.

use fastrand::Rng;

/// The order of the arms (numbered from 0) in each round: every second round is the mirror of the one before it, which
/// is in random order (randomised ABBA blocks).
///
/// Random order makes what differs between places of a round, and whatever else the world does meanwhile, fall on all
/// arms alike; the mirror cancels a steady drift. The same `seed` gives the same order.
pub fn schedule(arms: usize, rounds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Rng::with_seed(seed);
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..arms).collect();
        match orders.last() {
            Some(before) if round % 2 == 1 => order = before.iter().rev().copied().collect(),
            _ => random.shuffle(&mut order),
        }
        orders.push(order);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::schedule;

    #[test]
    fn every_round_runs_every_arm_once() {
        for order in schedule(5, 20, 7) {
            let mut arms = order.clone();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn each_odd_round_mirrors_the_one_before_it() {
        let orders = schedule(4, 9, 3);
        assert_eq!(orders.len(), 9);
        for block in orders.chunks_exact(2) {
            let mirrored: Vec<usize> = block[0].iter().rev().copied().collect();
            assert_eq!(block[1], mirrored);
        }
    }

    #[test]
    fn each_arm_comes_first_equally_often() {
        let mut first = [0_u32; 3];
        for order in schedule(3, 3000, 11).iter().step_by(2) {
            first[order[0]] += 1;
        }
        // 500 each are expected of 1,500, with a standard deviation of 18.
        assert!(first.iter().all(|count| (420..580).contains(count)), "{first:?}");
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(schedule(6, 10, 1), schedule(6, 10, 1));
        assert_ne!(schedule(6, 10, 1), schedule(6, 10, 2));
    }

    #[test]
    fn nothing_to_run_is_no_error() {
        assert!(schedule(3, 0, 1).is_empty());
        assert_eq!(schedule(0, 2, 1), vec![Vec::<usize>::new(); 2]);
    }
}
