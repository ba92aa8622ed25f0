//! Where a value goes: into the commands, the world, or the number of clients.

use super::value::Value;
use super::values::Vary;
use crate::launch::Subject;
use crate::link::Link;
use crate::world::World;

/// Runs a command several times side by side, and ends as the last of those that failed.
const SIDE_BY_SIDE: &str = "n=$1; shift; p=; while [ $n -gt 0 ]; do \"$@\" & p=\"$p $!\"; n=$((n-1)); done; \
                            s=0; for i in $p; do wait $i || s=$?; done; exit $s";
/// What can be varied without a placeholder.
const OF_THE_WORLD: &str = "mtu, rate, delay, loss, quota, memory, processors and concurrency";
/// A placeholder is taken for a mistyped one where so many letters at most differ.
const NEAR: usize = 2;

/// The subject and world at a value: it stands wherever the commands say `{name}`; without that, `mtu`, `rate`, `delay` and `loss` are the
/// link's, `quota`, `memory` and `processors` (the first so many) the world's, and `concurrency` is how often the client
/// runs side by side.
///
/// # Errors
/// One sentence that says where it could go.
pub fn place(vary: &Vary, subject: &Subject, world: &World, value: &Value) -> Result<(Subject, World), String> {
    let name = vary.name.as_str();
    let (mut subject, mut world) = (subject.clone(), world.clone());
    if fill(&mut subject, &format!("{{{name}}}"), &value.text) {
        return Ok((subject, world));
    }
    match name {
        "mtu" => link(&mut world, name)?.mtu = parsed(&format!("mtu={}", value.text))?.mtu,
        "rate" => link(&mut world, name)?.rate = parsed(&format!("rate={}", value.text))?.rate,
        "delay" => link(&mut world, name)?.delay = parsed(&format!("delay={}", value.text))?.delay,
        "loss" => link(&mut world, name)?.loss = parsed(&format!("loss={}", value.text))?.loss,
        "quota" | "memory" => world.change(name, &value.text)?,
        "processors" => world.change(name, &format!("0-{}", count(name, value)? - 1))?,
        "concurrency" => {
            let copies = count(name, value)?.to_string();
            let shell = ["sh", "-c", SIDE_BY_SIDE, "sh", copies.as_str()].map(String::from);
            subject.client.splice(0..0, shell);
        }
        _ => return Err(nowhere(name, &subject)),
    }
    Ok((subject, world))
}

/// Puts the text wherever the placeholder is; whether it was anywhere.
fn fill(subject: &mut Subject, placeholder: &str, text: &str) -> bool {
    let mut is_placed = false;
    for word in subject.client.iter_mut().chain(subject.server.iter_mut().flatten()) {
        is_placed |= word.contains(placeholder);
        *word = word.replace(placeholder, text);
    }
    is_placed
}

fn link<'a>(world: &'a mut World, name: &str) -> Result<&'a mut Link, String> {
    let without = || format!("{name} is a property of the link, and there is none: add --link mtu=1500");
    world.link.as_mut().ok_or_else(without)
}

fn parsed(text: &str) -> Result<Link, String> {
    text.parse().map_err(|error: crate::link::LinkError| error.to_string())
}

fn count(name: &str, value: &Value) -> Result<u32, String> {
    let wrong = || format!("`{}` is not a number of {name}; use a whole number from 1", value.label);
    value.text.parse().ok().filter(|count| *count > 0).ok_or_else(wrong)
}

fn nowhere(name: &str, subject: &Subject) -> String {
    let words = subject.client.iter().chain(subject.server.iter().flatten());
    let others = words.flat_map(|word| placeholders(word));
    let near = others.map(|other| (distance(other, name), other)).filter(|(distance, _)| *distance <= NEAR).min();
    match near {
        Some((_, near)) => format!("the command has `{{{near}}}`, but --vary names `{name}`"),
        None => format!(
            "the command does not contain `{{{name}}}`: write it where the value goes; only {OF_THE_WORLD} need none"
        ),
    }
}

/// The words in braces of a text, but those of the addresses. What is no single word, as JSON, is none.
fn placeholders(text: &str) -> Vec<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let inner = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_word =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.chars().all(is_letter);
    inner.filter(is_word).filter(|word| !["server", "client"].contains(word)).collect()
}

/// How many letters must be changed, added or left out to make one word of the other (Levenshtein 1966), whatever their
/// case.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let mut row = (0..=other.len()).collect::<Vec<_>>();
    for (place, letter) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = place + 1;
        for (column, opposite) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != opposite);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests;
