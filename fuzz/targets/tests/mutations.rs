//! Every target takes its seeds, and what chance makes of them. `WHYSLOW_FUZZ` says how many inputs each is given, and
//! `WHYSLOW_FUZZ_TARGET` names one.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, Instant};

/// Inputs for each target where nobody says how many: all of them together take some seconds.
const INPUTS: u32 = 300;

/// No target thinks longer about one input: some milliseconds are usual, and machines may be slow.
const LONGEST: Duration = Duration::from_secs(10);

/// Numbers that lengths and counts go wrong with.
const ABSURD: [u64; 8] = [0, 1, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0x8000_0000, u64::MAX];

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Flip(Index, u8),
    Absurd(Index, usize, usize),
    Cut(Index),
    Remove(Index, u8),
    Repeat(Index, u8, u8),
    Insert(Index, Vec<u8>),
    /// What another seed has, from there on.
    Cross(Index, Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, value)| Mutation::Set(at, value)),
        (place(), 0..8_u8).prop_map(|(at, bit)| Mutation::Flip(at, 1 << bit)),
        (place(), 0..ABSURD.len(), 0..4_usize).prop_map(|(at, number, size)| Mutation::Absurd(at, number, 1 << size)),
        place().prop_map(Mutation::Cut),
        (place(), any::<u8>()).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (place(), any::<u8>(), 1..8_u8).prop_map(|(at, length, times)| Mutation::Repeat(at, length, times)),
        (place(), prop::collection::vec(any::<u8>(), 1..24)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (place(), place(), place()).prop_map(|(at, seed, from)| Mutation::Cross(at, seed, from)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Mutation::Set(index, value) => {
                let at = at(index);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = *value);
            }
            Mutation::Flip(index, bit) => {
                let at = at(index);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
            }
            Mutation::Absurd(index, number, size) => {
                let at = at(index);
                let number = ABSURD[*number].to_le_bytes();
                bytes.iter_mut().skip(at).zip(&number[..*size]).for_each(|(byte, value)| *byte = *value);
            }
            Mutation::Cut(index) => bytes.truncate(at(index)),
            Mutation::Remove(index, length) => {
                let at = at(index);
                bytes.drain(at..bytes.len().min(at + usize::from(*length)));
            }
            Mutation::Repeat(index, length, times) => {
                let at = at(index);
                let part = bytes[at..bytes.len().min(at + usize::from(*length))].repeat(usize::from(*times));
                bytes.splice(at..at, part);
            }
            Mutation::Insert(index, part) => {
                let at = at(index);
                bytes.splice(at..at, part.iter().copied());
            }
            Mutation::Cross(index, seed, from) => {
                let at = at(index);
                let other = seed.get(seeds);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
    }
}

/// Gives a target so many inputs, the same each time; those of a number are the first of those of a larger one.
fn try_target(name: &str, target: fuzz::Target, inputs: u32) -> Result<(), String> {
    let seeds = fuzz::seeds(name).unwrap_or_else(|error| panic!("the seeds of {name}: {error}"));
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for seed in &seeds {
        target(seed);
    }
    let config = Config { cases: inputs, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (any::<Index>(), prop::collection::vec(mutation(), 0..12));
    let tried = runner.run(&strategy, |(seed, mutations)| {
        let mut bytes = seed.get(&seeds).clone();
        for mutation in &mutations {
            mutation.apply(&mut bytes, &seeds);
        }
        let begun = Instant::now();
        target(&bytes);
        prop_assert!(begun.elapsed() < LONGEST, "it took {:?}", begun.elapsed());
        Ok(())
    });
    tried.map_err(|failure| format!("{name}: {failure}"))
}

#[test]
fn every_target_takes_its_seeds_and_what_chance_makes_of_them() {
    let inputs = std::env::var("WHYSLOW_FUZZ").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(INPUTS);
    let only = std::env::var("WHYSLOW_FUZZ_TARGET").ok();
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let targets = fuzz::targets().filter(|(name, _)| wanted(name)).collect::<Vec<_>>();
    assert!(!targets.is_empty(), "there is no target {only:?}");
    fuzz::keep_quiet_about_damage();
    let mut failures = Vec::new();
    for (name, target) in targets {
        let begun = Instant::now();
        let tried = try_target(name, target, inputs);
        println!("{name}: {inputs} inputs in {:.1} s", begun.elapsed().as_secs_f64());
        failures.extend(tried.err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
