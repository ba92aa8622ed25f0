//! A flame for the script that draws it: each string once, and the nodes as columns.

use crate::embed;
use crate::text::clean;
use case::views::Flame;
use serde::Serialize;
use std::collections::HashMap;

/// The columns; the script's reader is `FlamePicture.read`.
#[derive(Serialize)]
struct Columns {
    strings: Vec<String>,
    parent: Vec<i64>,
    function: Vec<usize>,
    module: Vec<usize>,
    ns: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Vec<u64>>,
    /// The time that a sample stands for, in B and in A.
    sample: (u64, u64),
}

/// The element with the data of the canvas of this id.
pub fn element(id: &str, flame: &Flame) -> String {
    let mut strings = Strings::default();
    let nodes = &flame.nodes;
    let columns = Columns {
        parent: nodes.iter().map(|node| node.parent.map_or(-1, i64::from)).collect(),
        function: nodes.iter().map(|node| strings.number(&node.function)).collect(),
        module: nodes.iter().map(|node| strings.number(&node.module)).collect(),
        ns: nodes.iter().map(|node| node.ns).collect(),
        before: flame.before_ns.map(|_| nodes.iter().map(|node| node.before_ns.unwrap_or_default()).collect()),
        sample: (flame.sample_ns, flame.before_sample_ns.unwrap_or_default()),
        strings: strings.all,
    };
    embed::data(&format!("{id}-data"), &columns)
}

/// Each string once, in order of its first use.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Strings {
    fn number(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.all.push(clean(text));
        self.numbers.insert(text.to_string(), self.all.len() - 1);
        self.all.len() - 1
    }
}
