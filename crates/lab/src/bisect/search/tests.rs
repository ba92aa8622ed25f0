use super::*;
use std::collections::BTreeMap;

/// A made-up pair of worlds: what needs what, and what is slow when all of it is bad.
struct Made {
    count: usize,
    needs: BTreeMap<usize, Set>,
    slow: Vec<Set>,
    not_starting: Set,
    wrong: f64,
    unclear: f64,
    random: fastrand::Rng,
    probes: Vec<(ProbeKind, Set)>,
}

fn set<const N: usize>(members: [usize; N]) -> Set {
    members.into()
}

impl Made {
    fn new(count: usize, slow: &[&[usize]]) -> Made {
        Made {
            count,
            needs: BTreeMap::new(),
            slow: slow.iter().map(|members| members.iter().copied().collect()).collect(),
            not_starting: Set::new(),
            wrong: 0.0,
            unclear: 0.0,
            random: fastrand::Rng::with_seed(7),
            probes: Vec::new(),
        }
    }

    fn needing(mut self, one: usize, others: &[usize]) -> Made {
        self.needs.entry(one).or_default().extend(others);
        self
    }

    /// Each needs up to two others at random, mostly without circles.
    fn with_random_needs(mut self, seed: u64) -> Made {
        let mut random = fastrand::Rng::with_seed(seed);
        for one in 0..self.count {
            for _ in 0..random.usize(0..3) {
                let other = random.usize(0..self.count);
                if other < one || random.u8(0..20) == 0 {
                    self.needs.entry(one).or_default().insert(other);
                }
            }
        }
        self
    }

    fn close(&self, set: &Set) -> Set {
        let mut closed = set.clone();
        loop {
            let more = closed.iter().filter_map(|one| self.needs.get(one)).flatten().copied().collect::<Set>();
            if more.is_subset(&closed) {
                return closed;
            }
            closed.extend(more);
        }
    }

    fn is_good(&self, taken: &Set) -> bool {
        self.slow.iter().all(|together| !together.is_disjoint(taken))
    }

    fn search(&mut self, order: &[usize]) -> Option<Found> {
        self.probes.clear();
        search(order, self).expect("no end")
    }

    /// Each order by its seed, the first being the plain one.
    fn order(&self, seed: u64) -> Vec<usize> {
        let mut order = (0..self.count).collect::<Vec<_>>();
        if seed > 0 {
            fastrand::Rng::with_seed(seed).shuffle(&mut order);
        }
        order
    }

    /// What is found in thirty orders, which has to be the same in all.
    fn found_in_any_order(&mut self) -> Option<Found> {
        let first = self.search(&self.order(0));
        for seed in 1..30 {
            let order = self.order(seed);
            assert_eq!(self.search(&order), first, "{order:?} needs {:?} slow {:?}", self.needs, self.slow);
        }
        first
    }
}

impl Bench for Made {
    fn closed(&mut self, set: &Set) -> Result<Set, String> {
        let closed = self.close(set);
        if closed.is_disjoint(&self.not_starting) { Ok(closed) } else { Err("it does not start".to_string()) }
    }

    fn probe(&mut self, kind: ProbeKind, asked: &Set, closed: &Set) -> Result<ProbeResult, LabError> {
        assert_eq!(self.close(asked), *closed, "only closed sets are run");
        let before = self.probes.iter().filter(|(_, probed)| probed == closed).count();
        assert!(before < if self.unclear > 0.0 { 2 } else { 1 }, "{closed:?} is asked {} times", before + 1);
        self.probes.push((kind, closed.clone()));
        let is_good = self.is_good(closed) != (self.random.f64() < self.wrong);
        Ok(match self.random.f64() < self.unclear {
            true => ProbeResult::Unclear,
            false if is_good => ProbeResult::Good,
            false => ProbeResult::Bad,
        })
    }
}

/// The logarithm to base 2, rounded up.
fn halvings(count: usize) -> usize {
    count.next_power_of_two().ilog2() as usize
}

#[test]
fn a_single_culprit_is_found_wherever_it_is_within_the_budget() {
    for count in [1, 2, 3, 5, 24, 64, 200] {
        let mut most = 0;
        for culprit in 0..count {
            let mut made = Made::new(count, &[&[culprit]]);
            for seed in 0..5 {
                let found = made.search(&made.order(seed)).expect("a culprit");
                assert_eq!((found.cure, found.cause, found.bond), (set([culprit]), set([culprit]), Bond::Single));
                most = most.max(made.probes.len());
            }
        }
        assert!(most <= halvings(count) + 6, "{count} factors took {most} probes");
        assert!(most as f64 <= 2.0 * (count as f64).log2() + 6.0, "{count} factors took {most} probes");
    }
}

#[test]
fn the_right_suspicion_needs_three_probes() {
    for count in [1, 2, 24, 200] {
        let culprit = count - 1;
        let order = std::iter::once(culprit).chain(0..culprit).collect::<Vec<_>>();
        let mut made = Made::new(count, &[&[culprit]]);
        assert_eq!(made.search(&order).expect("a culprit").cure, set([culprit]));
        let kinds = made.probes.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
        assert!(kinds.len() <= 3, "{kinds:?}");
        if count > 1 {
            assert_eq!(kinds, [ProbeKind::All, ProbeKind::Suspect, ProbeKind::Removal]);
        }
    }
}

#[test]
fn two_that_are_slow_each_by_itself_are_cured_together() {
    for (one, other) in [(0, 1), (3, 17), (11, 12), (22, 23)] {
        let mut made = Made::new(24, &[&[one], &[other]]);
        let found = made.found_in_any_order().expect("a culprit");
        assert_eq!((found.cure, found.cause, found.bond), (set([one, other]), set([one, other]), Bond::Each));
        assert!(made.probes.len() <= 2 * halvings(24) + 8, "{}", made.probes.len());
    }
}

#[test]
fn two_that_are_slow_only_together_are_a_pair() {
    for (one, other) in [(0, 1), (3, 17), (11, 12), (22, 23)] {
        let mut made = Made::new(24, &[&[one, other]]);
        let found = made.found_in_any_order().expect("a culprit");
        assert_eq!((found.cure, found.cause, found.bond), (set([one]), set([one, other]), Bond::Together));
    }
}

#[test]
fn every_pair_stays_within_the_budget() {
    for count in [2, 3, 5, 16, 24] {
        for one in 0..count {
            for other in 0..one {
                for slow in [vec![set([one]), set([other])], vec![set([one, other])]] {
                    let mut made = Made::new(count, &[]);
                    made.slow = slow;
                    for seed in 0..3 {
                        assert!(made.search(&made.order(seed)).is_some());
                        let (most, took) = (2 * halvings(count) + 8, made.probes.len());
                        assert!(took <= most, "{count} factors, {:?} took {took} probes", made.slow);
                    }
                }
            }
        }
    }
}

#[test]
fn three_that_need_each_other_are_one_bundle() {
    let bundle = set([4, 9, 20]);
    for culprit in bundle.clone() {
        let made = Made::new(24, &[&[culprit]]);
        let mut made = made.needing(4, &[9]).needing(9, &[20]).needing(20, &[4]);
        let found = made.found_in_any_order().expect("a culprit");
        assert_eq!((found.cure, found.cause, found.bond), (bundle.clone(), bundle.clone(), Bond::Bundle));
        assert!(made.probes.len() <= halvings(24) + 6);
    }
}

#[test]
fn a_library_under_another_name_is_found_with_those_that_load_it() {
    // 0 is the new library, which nobody loads unless 1 or 2, built against it, come along; 2 needs 1.
    let mut made = Made::new(24, &[&[1]]).needing(1, &[0, 2]).needing(2, &[0]);
    let found = made.found_in_any_order().expect("a culprit");
    assert_eq!((found.cure, found.cause, found.bond), (set([0, 1, 2]), set([0, 1, 2]), Bond::Bundle));
}

#[test]
fn nothing_is_found_where_nothing_that_can_be_switched_makes_the_difference() {
    let mut made = Made::new(24, &[&[]]);
    assert_eq!(made.found_in_any_order(), None);
    assert_eq!(made.probes.len(), 1);
    assert_eq!(Made::new(0, &[]).search(&[]), None);
}

#[test]
fn what_does_not_start_is_left_out_and_listed() {
    let mut made = Made::new(24, &[&[7]]).needing(5, &[6]);
    made.not_starting = set([6]);
    let found = made.found_in_any_order().expect("a culprit");
    let untestable = found.untestable.iter().map(|(factor, _)| *factor).collect::<Vec<_>>();
    assert_eq!((found.cure, untestable), (set([7]), vec![5, 6]));
}

#[test]
fn what_cannot_start_without_the_culprit_is_listed_as_forced() {
    let mut made = Made::new(24, &[&[3]]).needing(8, &[3]);
    let found = made.found_in_any_order().expect("a culprit");
    assert_eq!((found.cure, found.bond), (set([3]), Bond::Single));
    assert_eq!((found.cause, found.forced), (set([3, 8]), set([8])));
    let mut all_need_it = Made::new(5, &[&[0]]);
    for one in 1..5 {
        all_need_it = all_need_it.needing(one, &[0]);
    }
    let found = all_need_it.found_in_any_order().expect("a culprit");
    assert_eq!((found.cure, found.cause), (set([0]), set([])), "there is nothing to compare its removal with");
}

#[test]
fn whatever_needs_whatever_the_answer_is_least_and_the_same_in_any_order() {
    for seed in 0..150 {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = 4 + random.usize(0..26);
        let (one, other) = (random.usize(0..count), random.usize(0..count));
        for slow in [vec![set([one])], vec![set([one]), set([other])], vec![set([one, other])]] {
            let mut made = Made::new(count, &[]).with_random_needs(seed);
            made.slow = slow;
            let found = made.found_in_any_order().expect("a culprit");
            assert!(made.is_good(&found.cure) && made.close(&found.cure) == found.cure, "{found:?}");
            for member in &found.cure {
                let without = found.cure.iter().filter(|other| !made.close(&set([**other])).contains(member));
                assert!(!made.is_good(&without.copied().collect()), "{found:?} holds {member} for nothing");
            }
            let good = (0..count).filter(|factor| !found.cause.contains(factor)).collect::<Set>();
            assert!(found.cause.is_empty() || !made.is_good(&good), "{found:?}");
        }
    }
}

#[test]
fn an_unclear_answer_blames_nobody_before_it_was_asked_again() {
    let mut wrong = 0;
    for seed in 0..200 {
        let mut made = Made::new(24, &[&[seed as usize % 24]]);
        (made.unclear, made.random) = (0.05, fastrand::Rng::with_seed(seed));
        match made.search(&made.order(seed)) {
            Some(found) if found.cure == set([seed as usize % 24]) => {}
            Some(found) => {
                wrong += 1;
                assert!(made.is_good(&found.cure), "{found:?}");
            }
            None => wrong += 1,
        }
    }
    assert!(wrong <= 6, "{wrong} of 200");
}

#[test]
fn wrong_answers_neither_hang_nor_break_it() {
    let mut right = 0;
    for seed in 0..400 {
        let mut made = Made::new(24, &[&[3]]).with_random_needs(seed);
        (made.wrong, made.unclear, made.random) = (0.01, 0.01, fastrand::Rng::with_seed(seed));
        let expected = made.close(&set([3]));
        right += usize::from(made.search(&made.order(seed)).is_some_and(|found| found.cure == expected));
        assert!(made.probes.len() < 24 * 6, "{} probes", made.probes.len());
    }
    assert!(right > 320, "{right} of 400");
}
