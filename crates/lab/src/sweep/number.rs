//! The numbers of a sweep: how they are read, rounded and shown.

use super::value::Value;
use crate::rate::Rate;
use case::ValueKind;

/// Units of numbers, largest first.
const UNITS: [(char, f64); 3] = [('G', 1_073_741_824.0), ('M', 1_048_576.0), ('K', 1024.0)];
/// What is a number by its meaning: a word for one of these is a mistake.
const NUMBERS: [&str; 7] = ["size", "mtu", "rate", "quota", "memory", "processors", "concurrency"];
/// Digits that are kept of a number that was reckoned: 0.1 + 0.2 is to be put into a command as 0.3.
const DIGITS: usize = 11;

/// What the values of a name are, as far as it and their units tell: a link's rate is in bits, a load's in plain numbers.
pub(super) fn named(name: &str, spec: &str) -> ValueKind {
    if name == "rate" && spec.to_ascii_lowercase().contains("bit") { ValueKind::Rate } else { ValueKind::Real }
}

/// Whether the values of a name can be nothing else but numbers.
pub(super) fn is_of_numbers(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// What the values are, once the numbers are known.
pub(super) fn settled(kind: ValueKind, numbers: &[f64]) -> ValueKind {
    let are_whole = numbers.iter().all(|number| number.fract() == 0.0);
    if kind == ValueKind::Real && are_whole { ValueKind::Whole } else { kind }
}

/// A number as it is typed.
pub(super) fn parse(kind: ValueKind, text: &str) -> Result<f64, String> {
    let text = text.trim();
    if kind == ValueKind::Rate {
        return text.parse::<Rate>().map(|rate| rate.bits_per_second as f64);
    }
    let upper = text.to_ascii_uppercase();
    let unit = UNITS.iter().find_map(|(letter, factor)| Some((upper.strip_suffix(*letter)?, *factor)));
    let (digits, factor) = unit.unwrap_or((&upper, 1.0));
    // Rust reads `inf` and `nan` as numbers, too.
    let number = digits.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.map(|number| number * factor).filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a number; use digits, with K, M or G for powers of 1024, as in 16K"))
}

/// A number as a command takes it.
pub(super) fn parse_back(kind: ValueKind, number: f64) -> String {
    match kind {
        ValueKind::Rate => Rate { bits_per_second: number as u64 }.to_string(),
        _ => number.to_string(),
    }
}

/// The nearest number that can be a value.
pub(super) fn rounded(kind: ValueKind, number: f64) -> f64 {
    match kind {
        ValueKind::Whole | ValueKind::Word => number.round(),
        ValueKind::Rate => {
            let unit = least_step(kind, number);
            (number / unit).round() * unit
        }
        ValueKind::Real => format!("{number:.DIGITS$e}").parse().unwrap_or(number),
    }
}

/// A number as a value.
pub(super) fn value(kind: ValueKind, number: f64) -> Value {
    let number = rounded(kind, number);
    let text = parse_back(kind, number);
    let unit = UNITS.iter().find(|(_, factor)| number != 0.0 && number % factor == 0.0);
    let label = match (kind, unit) {
        (ValueKind::Whole, Some((letter, factor))) => format!("{}{letter}", number / factor),
        _ => text.clone(),
    };
    Value { number, label, text }
}

/// The least distance between two values about `number`.
pub(super) fn least_step(kind: ValueKind, number: f64) -> f64 {
    match kind {
        ValueKind::Whole | ValueKind::Word => 1.0,
        // Three digits of a rate are enough, and the unit below is readable.
        ValueKind::Rate => 10_f64.powf((number.max(1.0).log10() - 2.0).floor()).max(1_000.0),
        ValueKind::Real => number.abs() * 1e-9,
    }
}

/// The largest of 1, 2, 5 times a power of ten that is no larger: distances that make readable values.
pub(super) fn nice(number: f64) -> f64 {
    if number <= 0.0 {
        return f64::MIN_POSITIVE;
    }
    let power = 10_f64.powf((number.log10() + 1e-9).floor());
    let digit = [5.0, 2.0].into_iter().find(|digit| digit * power <= number * (1.0 + 1e-9)).unwrap_or(1.0);
    digit * power
}
