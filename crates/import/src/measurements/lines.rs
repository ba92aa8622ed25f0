//! Series that stand in lines: numbers, tables, and whatever a pattern finds.

use super::{Measurement, Measurements};
use regex::Regex;

/// One number a line, or a time and a number.
pub fn numbers(text: &str) -> Measurements {
    let mut found = Measurements::default();
    let mut is_timed = true;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split([',', ';', '\t', ' ']).filter(|word| !word.is_empty()).collect();
        let numbers: Option<Vec<f64>> = words.iter().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some([value]) => {
                is_timed = false;
                found.push(Measurement { value: *value, ..Measurement::default() }, line);
            }
            Some([at_s, value]) => found.push(Measurement { at_s: *at_s, length_s: 0.0, value: *value }, line),
            _ => found.skip(line),
        }
    }
    found.complete(is_timed);
    found
}

/// A column of a table whose first row may name the columns.
pub fn table(text: &str, values: &str, times: Option<&str>) -> Measurements {
    let mut found = Measurements::default();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let Some(&first) = lines.peek() else { return found };
    let separator = [',', ';', '\t'].into_iter().max_by_key(|one| first.matches(*one).count()).unwrap_or(',');
    let head = cells(first, separator);
    let place = |name: &str| {
        let named = head.iter().position(|cell| cell == name);
        named.or_else(|| name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)))
    };
    let (value_place, time_place) = (place(values), times.and_then(place));
    let is_head = value_place.is_none_or(|place| head.get(place).is_none_or(|cell| cell.parse::<f64>().is_err()));
    for line in lines.skip(usize::from(is_head)) {
        let cells = cells(line, separator);
        let number = |place: Option<usize>| cells.get(place?)?.trim().parse::<f64>().ok();
        match (number(value_place), times.is_some(), number(time_place)) {
            (Some(value), true, Some(at_s)) => found.push(Measurement { at_s, length_s: 0.0, value }, line),
            (Some(value), false, _) => found.push(Measurement { value, ..Measurement::default() }, line),
            _ => found.skip(line),
        }
    }
    found.complete(times.is_some());
    found
}

/// The cells of a row (RFC 4180): those in quotation marks may hold the separator.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().expect("there is one");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            letter if letter == separator && !is_quoted => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells.iter().map(|cell| cell.trim().to_string()).collect()
}

/// Lines that match.
pub fn matching(text: &str, pattern: &Regex) -> Measurements {
    let mut found = Measurements::default();
    let is_timed = pattern.capture_names().flatten().any(|name| name == "time");
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let matched = pattern.captures(line).and_then(|groups| {
            let value = groups.name("value").or_else(|| groups.get(1)).or_else(|| groups.get(0))?;
            let at_s = match groups.name("time") {
                Some(time) => time.as_str().parse().ok()?,
                None if is_timed => return None,
                None => 0.0,
            };
            Some(Measurement { at_s, length_s: 0.0, value: value.as_str().parse().ok()? })
        });
        match matched {
            Some(measurement) => found.push(measurement, line),
            None => found.skip(line),
        }
    }
    found.complete(is_timed);
    found
}
