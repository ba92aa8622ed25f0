//! What is varied, and through which values: `size=1..16K:log`, `n=10..100:5`, `cipher=AES128,AES256`.

use super::number::{self, nice};
use super::value::Value;
use case::ValueKind;

/// A sweep in powers needs no more values: cliffs between them are searched for anyway.
const MOST_OF_POWERS: usize = 24;
/// A range without a step has this many values.
const LINEAR: usize = 9;
/// More values would leave too few trials of each.
const MOST: usize = 200;
/// A whole number is narrowed down to this share of itself, any other number to the second: a few bytes of a segment.
const GRAIN_OF_WHOLE: f64 = 0.002;
const GRAIN: f64 = 0.01;
/// What is put into commands anyway.
const TAKEN: [&str; 2] = ["server", "client"];

/// What is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// Its name: what `{name}` stands for in the commands.
    pub name: String,
    kind: ValueKind,
    values: Vec<Value>,
    form: Form,
}

/// How the values were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One by one: what lies between two of them may be nothing that there is.
    List,
    /// A range: what lies between is as good. Shown with units where its ends were typed so.
    Range { with_units: bool },
}

impl Vary {
    /// Reads `NAME=SPEC`. SPEC is a list (`1,100,4K`, or words), or a range: `1..16K:log` (powers of two, both ends
    /// included; at most 24 values), `:log10` (tens), `10..100` (nine values), `10..100:5` (in steps). K, M and G are
    /// powers of 1024; a `rate` has the units of a link's.
    ///
    /// # Errors
    /// One sentence that says what is wrong, and what is allowed.
    pub fn parse(text: &str) -> Result<Vary, String> {
        let (name, spec) = text.split_once('=').ok_or_else(|| {
            format!("`{text}` is not of the form NAME=VALUES, as in size=1,100,4K or size=1..16K:log")
        })?;
        let (name, spec) = (name.trim(), spec.trim());
        check_name(name)?;
        let form =
            if spec.contains("..") { Form::Range { with_units: spec.split("..").any(has_unit) } } else { Form::List };
        let (kind, mut values) = match spec.split_once("..") {
            Some((low, rest)) => range(name, spec, low, rest)?,
            None => list(name, spec)?,
        };
        if form == (Form::Range { with_units: false }) {
            for value in &mut values {
                value.label.clone_from(&value.text);
            }
        }
        if values.len() > MOST {
            return Err(format!("`{spec}` gives {} values; at most {MOST} can be measured", values.len()));
        }
        Ok(Vary { name: name.to_string(), kind, values, form })
    }

    /// The values to begin with, in rising order; words as they were typed.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// What the values are.
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// Whether the values are words: then nothing lies between two of them.
    pub fn is_of_words(&self) -> bool {
        self.kind == ValueKind::Word
    }

    /// The value of a number.
    pub fn at(&self, number: f64) -> Value {
        let known = self.values.iter().find(|value| (value.number - number).abs() <= f64::EPSILON * number.abs());
        let reckoned = || {
            let value = number::value(self.kind, number);
            let label = if self.form == (Form::Range { with_units: true }) { value.label } else { value.text.clone() };
            Value { label, ..value }
        };
        // Its number stays exactly what was asked for: measurements are found by it.
        Value { number, ..known.cloned().unwrap_or_else(reckoned) }
    }

    /// Whether the values were asked for one by one: those between are not tried, since nobody said that there are any.
    pub fn is_list(&self) -> bool {
        self.form == Form::List
    }

    /// Down to which distance a cliff between two values is narrowed; none where nothing lies between them, as between
    /// those of a list. A number that is asked for counts, but whole numbers stay whole.
    pub fn grain(&self, below: f64, above: f64, asked: Option<f64>) -> Option<f64> {
        if self.is_list() {
            return None;
        }
        let middle = if below > 0.0 { (below * above).sqrt() } else { f64::midpoint(below, above).abs() };
        let least = number::least_step(self.kind, middle);
        let usual = match self.kind {
            ValueKind::Word => return None,
            ValueKind::Whole => nice(middle * GRAIN_OF_WHOLE),
            ValueKind::Real | ValueKind::Rate => nice(middle * GRAIN),
        };
        let grain = asked.filter(|asked| *asked > 0.0).unwrap_or(usual).max(least);
        let grain = if self.kind == ValueKind::Whole { grain.round() } else { grain };
        (above - below > grain * (1.0 + 1e-9)).then_some(grain)
    }
}

/// Whether a number was typed with a unit of its own: `16K`.
fn has_unit(part: &str) -> bool {
    let number = part.split(':').next().unwrap_or_default().trim();
    number.ends_with(|last: char| last.is_ascii_alphabetic())
}

fn check_name(name: &str) -> Result<(), String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') || !name.chars().all(is_letter) {
        return Err(format!(
            "`{name}` is not a name; use a letter, then letters, digits, `_` and `-`, as in size=1,100"
        ));
    }
    if TAKEN.contains(&name) {
        return Err(format!("`{{{name}}}` is reserved for an address in the commands: use another name"));
    }
    Ok(())
}

fn list(name: &str, spec: &str) -> Result<(ValueKind, Vec<Value>), String> {
    let parts = spec.split(',').map(str::trim).collect::<Vec<_>>();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(format!("`{spec}` has an empty value: values are separated by single commas, as in 1,100,4K"));
    }
    let kind = number::named(name, spec);
    let numbers = parts.iter().map(|part| number::parse(kind, part)).collect::<Vec<_>>();
    if let Some(wrong) = numbers.iter().position(Result::is_err) {
        let is_of_numbers = number::is_of_numbers(name) || numbers.iter().any(Result::is_ok);
        if is_of_numbers {
            let wrong = numbers[wrong].as_ref().err().cloned().unwrap_or_default();
            return Err(format!("{wrong}; a list holds either numbers or words"));
        }
        return distinct(words(&parts)).map(|values| (ValueKind::Word, values));
    }
    let numbers = numbers.into_iter().flatten().collect::<Vec<_>>();
    let kind = number::settled(kind, &numbers);
    let typed = |(number, label): (&f64, &&str)| Value { label: (*label).to_string(), ..number::value(kind, *number) };
    let mut values = numbers.iter().zip(&parts).map(typed).collect::<Vec<_>>();
    values.sort_by(|one, other| one.number.total_cmp(&other.number));
    distinct(values).map(|values| (kind, values))
}

fn words(parts: &[&str]) -> Vec<Value> {
    let word = |(place, part): (usize, &&str)| Value {
        number: place as f64,
        label: (*part).to_string(),
        text: (*part).to_string(),
    };
    parts.iter().enumerate().map(word).collect()
}

fn distinct(values: Vec<Value>) -> Result<Vec<Value>, String> {
    let again = values
        .iter()
        .enumerate()
        .find(|(place, value)| values[..*place].iter().any(|before| before.text == value.text));
    match again {
        Some((_, value)) => Err(format!("`{}` is in the list twice", value.label)),
        None => Ok(values),
    }
}

fn range(name: &str, spec: &str, low: &str, rest: &str) -> Result<(ValueKind, Vec<Value>), String> {
    let (high, way) = rest.split_once(':').map_or((rest, None), |(high, way)| (high, Some(way.trim())));
    let kind = number::named(name, spec);
    let (low, high) = (number::parse(kind, low)?, number::parse(kind, high)?);
    if low > high {
        return Err(format!("`{spec}` is empty: a range goes from its smaller end to its larger, as in 1..16"));
    }
    if low >= high {
        return Err(format!(
            "`{spec}` is one value: give a larger end, or {name}={} as a list",
            number::parse_back(kind, low)
        ));
    }
    let kind = number::settled(kind, &[low, high]);
    let numbers = match way {
        Some("log") => powers(spec, low, high, 2.0)?,
        Some("log10") => powers(spec, low, high, 10.0)?,
        Some(step) => {
            let step = number::parse(kind, step).ok().filter(|step| *step > 0.0).ok_or_else(|| {
                format!(
                    "`{step}` is not a step; use a number above 0, or `log` or `log10` for powers, as in 1..16K:log"
                )
            })?;
            steps(spec, low, high, step)?
        }
        None => (0..LINEAR).map(|place| low + (high - low) * place as f64 / (LINEAR - 1) as f64).collect(),
    };
    // A step that is no whole number leaves the whole numbers.
    let is_whole_step = way.and_then(|step| number::parse(kind, step).ok()).is_none_or(|step| step.fract() == 0.0);
    let kind = if kind == ValueKind::Whole && !is_whole_step { ValueKind::Real } else { kind };
    let mut numbers = numbers.into_iter().map(|number| number::rounded(kind, number)).collect::<Vec<_>>();
    numbers.dedup();
    Ok((kind, numbers.into_iter().map(|number| number::value(kind, number)).collect()))
}

/// The low end times powers of `base`, and the high end. Where these are too many, every second, third, ... power.
fn powers(spec: &str, low: f64, high: f64, base: f64) -> Result<Vec<f64>, String> {
    if low <= 0.0 {
        return Err(format!("`{spec}` cannot go up in powers from {low}: start above 0, as in 1..16K:log"));
    }
    let count = ((high / low).ln() / base.ln() - 1e-9).ceil() as usize;
    let stride = count.div_ceil(MOST_OF_POWERS - 1).max(1);
    let below = (0..count).step_by(stride).map(|power| low * base.powi(power as i32));
    Ok(below.chain([high]).collect())
}

fn steps(spec: &str, low: f64, high: f64, step: f64) -> Result<Vec<f64>, String> {
    let count = ((high - low) / step + 1e-9).floor();
    if count >= MOST as f64 {
        return Err(format!("`{spec}` gives {} values; at most {MOST} can be measured", count + 1.0));
    }
    Ok((0..=count as usize).map(|place| low + step * place as f64).collect())
}

#[cfg(test)]
mod tests;
