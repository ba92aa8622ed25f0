//! The least selection for which something holds.

use super::{Care, Set};
use crate::error::LabError;

/// The least selection of `items` for which `holds`, which it is known to do for all of them and not to stop doing as more
/// are added.
///
/// The shortest run of items from the first on for which it holds ends with one that is needed; this one is kept, and the
/// rest is searched among those before it. This is `QuickXplain` (Junker 2004) with the dichotomy of Hemery, Lecoutre, Sais and
/// Boussemart (2006), which takes log2(n) + 1 questions for each item of the selection.
pub fn least(items: &[Set], holds: &mut dyn FnMut(&Set, Care) -> Result<bool, LabError>) -> Result<Vec<Set>, LabError> {
    let mut picked: Vec<Set> = Vec::new();
    let mut left = items;
    loop {
        let taken = picked.iter().flatten().copied().collect::<Set>();
        let with = |count: usize| -> Set { &taken | &left[..count].iter().flatten().copied().collect() };
        if left.is_empty() || holds(&taken, Care::Usual)? {
            return Ok(picked);
        }
        let (mut does_not, mut does) = (0, left.len());
        loop {
            while does - does_not > 1 {
                let middle = usize::midpoint(does_not, does);
                if holds(&with(middle), Care::Usual)? { does = middle } else { does_not = middle }
            }
            // What was unclear there points at an item that may be innocent.
            if !holds(&with(does_not), Care::AgainIfUnclear)? {
                break;
            }
            if does_not == 0 {
                return Ok(picked);
            }
            (does_not, does) = (0, does_not);
        }
        picked.push(left[does - 1].clone());
        left = &left[..does - 1];
    }
}
