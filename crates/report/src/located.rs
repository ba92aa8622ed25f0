//! A place in the code in words: short, for a sentence, and whole, as one would type it into an editor.

use crate::text::clean;
use case::{Function, Place, PlaceShare, Share};

/// A share this close to the whole is not worth a clause.
const NEARLY_ALL: f64 = 0.95;

/// What code that belongs to no known file is recorded as, with its address.
const UNKNOWN: &str = "[unknown]";

/// A place in a sentence, behind a comma: `, client.py:31 in send_body and 3 more places`; empty where none is known.
pub(crate) fn in_sentence(places: &[Place], share: Option<PlaceShare>) -> String {
    // An address in no file helps nobody.
    let is_known = |place: &&Place| place.line > 0 || !place.function.starts_with(UNKNOWN);
    let Some(place) = places.first().filter(is_known) else { return String::new() };
    let base = |path: &str| clean(path.rsplit('/').next().unwrap_or(path));
    let function = clean(&Function::short(&place.function));
    let words = match (place.line, place.module.is_empty()) {
        (line, _) if line > 0 => format!(", {}:{line} in {function}", base(&place.file)),
        (_, true) => format!(", {function}"),
        _ if Function::of(&place.function).is_address() => format!(", {function}"),
        _ => format!(", {function} in {}", base(&place.module)),
    };
    match share.map_or(0, |share| share.others) {
        0 => words,
        others => format!("{words} and {}", more(others)),
    }
}

/// How much of a cost is at the place that is named: `62 % of it; 3 more places`; empty where that is nearly all, or not
/// known.
pub(crate) fn part(share: Option<PlaceShare>) -> String {
    let Some(PlaceShare { share, others }) = share else { return String::new() };
    match others {
        0 if share >= NEARLY_ALL => String::new(),
        0 => format!("{} of it", Share(share)),
        others => format!("{} of it; {}", Share(share), more(others)),
    }
}

fn more(others: u32) -> String {
    if others == 1 { "1 more place".into() } else { format!("{others} more places") }
}

/// A place as one would type it into an editor: `client.py:31 in send_body`.
pub(crate) fn whole(place: &Place) -> String {
    let function = clean(&Function::short(&place.function));
    let position = match (place.file.is_empty(), place.line) {
        (true, _) => clean(&place.module),
        (false, 0) => clean(&place.file),
        (false, line) => format!("{}:{line}", clean(&place.file)),
    };
    match (position.is_empty(), function.is_empty()) {
        (true, _) => function,
        (_, true) => position,
        // An address in a module names the module already.
        _ if place.file.is_empty() && Function::of(&place.function).is_address() => function,
        _ => format!("{position} in {function}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_how_much_of_the_cost_it_carries() {
        let place =
            Place { function: "post".into(), module: "python3".into(), file: "/srv/client.py".into(), line: 26 };
        let share = |share, others| Some(PlaceShare { share, others });
        let places = [place];
        assert_eq!(in_sentence(&places, share(0.99, 0)), ", client.py:26 in post");
        assert_eq!(in_sentence(&places, share(0.6, 3)), ", client.py:26 in post and 3 more places");
        assert_eq!(part(share(0.6, 3)), "60 % of it; 3 more places");
        assert_eq!((part(share(0.99, 0)), part(None)), (String::new(), String::new()));
        assert_eq!(in_sentence(&[], share(0.6, 3)), "");
    }

    #[test]
    fn an_address_in_no_file_is_not_said() {
        let place = Place { function: "[unknown]+0x7f2f75487ad7".into(), ..Place::default() };
        assert_eq!(in_sentence(&[place], None), "");
    }
}
