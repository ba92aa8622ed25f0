//! What is built, in the order in which it has to be.

use super::release::Release;
use super::source::Source;

/// A version of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// How it is built.
    pub source: Source,
    /// Where its files are.
    pub release: Release,
}

/// The items in the order of building: each after what it is built on.
///
/// # Errors
/// One sentence, where something that one of them is built on is not among them.
pub fn chain(mut items: Vec<Item>) -> Result<Vec<Item>, String> {
    let names = items.iter().map(|item| item.source.name.clone()).collect::<Vec<_>>();
    for item in &items {
        if let Some(missing) = item.source.on.iter().find(|name| !names.contains(name)) {
            let name = &item.source.name;
            return Err(format!(
                "{name} is built on {missing}, but no version of it is given: add --with {missing}=VERSION"
            ));
        }
    }
    let mut ordered: Vec<Item> = Vec::new();
    while !items.is_empty() {
        let is_built = |name: &String| ordered.iter().any(|item| item.source.name == *name);
        let ready = items.iter().position(|item| item.source.on.iter().all(is_built));
        match ready {
            Some(place) => ordered.push(items.remove(place)),
            None => return Err(format!("{} is built on itself", items[0].source.name)),
        }
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::super::Sources;
    use super::*;

    fn item(name: &str, on: &[&str]) -> Item {
        let mut source = Sources::with(&[]).expect("sources").named("zstd").expect("zstd").clone();
        source.name = name.to_string();
        source.on = on.iter().map(ToString::to_string).collect();
        let release =
            Release { upstream: "1".into(), version: "1+1".into(), checksum: String::new(), is_yanked: false };
        Item { source, release }
    }

    #[test]
    fn what_is_built_on_comes_first() {
        let names = |items: Vec<Item>| {
            chain(items).map(|items| items.into_iter().map(|item| item.source.name).collect::<Vec<_>>())
        };
        let three = vec![item("c", &["b", "a"]), item("b", &["a"]), item("a", &[])];
        assert_eq!(names(three).expect("ordered"), ["a", "b", "c"]);
        assert!(names(vec![item("b", &["a"])]).is_err_and(|why| why.contains("--with a=VERSION")));
        assert!(names(vec![item("a", &["b"]), item("b", &["a"])]).is_err_and(|why| why.contains("on itself")));
    }
}
