//! Did you mean?

/// Shorter words are near to too many others.
const LEAST_WORD: usize = 5;

fn is_near(slips: usize, name: &str) -> bool {
    slips <= name.len() / 3
}

/// The names nearest to what was typed, best first: at most three, none that has little to do with it.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let score = |name: &str| {
        // A part of the name that was typed whole counts as one slip, however short it is.
        let is_part = typed.len() >= 3 && name.contains(typed.as_str());
        let slips = if is_part { 1 } else { strsim::osa_distance(&typed, name) };
        // Or a word of it that was meant: a slip more than the whole name with as many.
        let words = name.split('-').filter(|word| word.len() >= LEAST_WORD);
        let word =
            words.map(|word| (strsim::osa_distance(&typed, word), word)).filter(|(slips, word)| is_near(*slips, word));
        word.map(|(slips, _)| slips + 1).chain(is_near(slips, name).then_some(slips)).min()
    };
    let mut scored = names.filter_map(|name| Some((score(name)?, name))).collect::<Vec<_>>();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["nagle-delayed-ack", "busy-spin", "tiny-reads", "connection-churn"];

    #[test]
    fn slips_and_parts_find_the_name() {
        assert_eq!(nearest("busyspin", NAMES.into_iter()), ["busy-spin"]);
        assert_eq!(nearest("nagle", NAMES.into_iter()), ["nagle-delayed-ack"]);
        assert_eq!(nearest("nagel", NAMES.into_iter()), ["nagle-delayed-ack"]);
        assert_eq!(nearest("Tiny-Read", NAMES.into_iter()), ["tiny-reads"]);
        assert_eq!(nearest("rnu", ["run", "attach"].into_iter()), ["run"]);
    }

    #[test]
    fn nonsense_finds_nothing() {
        assert!(nearest("xyzzy", NAMES.into_iter()).is_empty());
        assert!(nearest("", NAMES.into_iter()).is_empty());
    }
}
