//! Values and times of a series in words.

use crate::figure::three;
use case::Quantity;

/// Units of bits in a second, the largest first.
const RATES: [(&str, f64); 3] = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
/// Units of bytes.
const BYTES: [(&str, f64); 3] = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];

/// A value of a series: `80.1 Mbit/s`, `12.5`.
pub(super) fn value(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::BitsPerSecond => in_units(value, &RATES, "bit/s"),
        Quantity::Number => three(value),
    }
}

/// A rate in bits a second.
pub(in crate::blocks) fn rate(bits: f64) -> String {
    value(Quantity::BitsPerSecond, bits)
}

/// An amount of bytes.
pub(super) fn bytes(bytes: f64) -> String {
    in_units(bytes, &BYTES, "bytes")
}

/// A time of a series, which is in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{} s", three(seconds))
}

fn in_units(value: f64, units: &[(&str, f64)], smallest: &str) -> String {
    // Less than half of the last digit below a unit is written in that unit.
    let unit = units.iter().find(|(_, size)| value.abs() >= size * 0.9995);
    let (name, size) = unit.copied().unwrap_or((smallest, 1.0));
    format!("{} {name}", three(value / size))
}
