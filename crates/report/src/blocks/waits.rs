//! Who waits for whom: a tree of what threads did while somebody waited for them, with the time on each branch.

use crate::activity;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::escape::escape;
use crate::located::in_sentence;
use crate::style::Style;
use crate::text::{clean, count, counted, wrap};
use askama::Template;
use case::{Answer, End, Ender, Nanos, Share, WaitNode, WaitTree};

/// Steps further in than this are not drawn: a line has no room for them.
const MOST_STEPS: usize = 10;

/// The terminal leaves what takes less of the whole than this to the page.
const WORTH_A_LINE: f64 = 0.1;

/// The terminal shows it where no finding is said first.
pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(|document| tree_of(document).map_or(String::new(), |(answer, tree)| html(answer, tree))),
    markdown: Some(|document| tree_of(document).map_or(String::new(), |(answer, tree)| markdown(answer, tree))),
    ..Block::of(Section::Ledger, |_| Vec::new())
};

/// One line of the tree.
struct Line {
    depth: usize,
    ns: u64,
    words: String,
    /// Whether the most of what it is part of is here.
    main: bool,
}

fn tree_of<'d>(document: &Document<'d>) -> Option<(&'d Answer, &'d WaitTree)> {
    let answer = document.answer()?;
    Some((answer, answer.waits.as_ref().filter(|tree| is_worth_drawing(tree))?))
}

/// A tree without a wait that leads anywhere says what the ledger says.
fn is_worth_drawing(tree: &WaitTree) -> bool {
    tree.nodes().any(|node| !node.waits_for.is_empty() || !node.ended.is_empty())
}

/// `Who waits for whom in each 45.0 ms request`.
fn title(tree: &WaitTree) -> String {
    let of = Nanos(tree.of_ns);
    match tree.followed {
        0 => format!("Who waits for whom in the {of} run"),
        1 => format!("Who waits for whom in the one request ({of})"),
        _ => format!("Who waits for whom in each {of} request"),
    }
}

fn how(answer: &Answer, tree: &WaitTree) -> String {
    let how = "Each line is a part of the one it is indented under: what the thread that ended that wait was doing.";
    if tree.followed == 0 || tree.followed >= answer.exchanges {
        return how.into();
    }
    format!(
        "{how} Averages over {}, evenly spread over all {}.",
        counted(tree.followed, "request"),
        count(answer.exchanges)
    )
}

fn lines(tree: &WaitTree) -> Vec<Line> {
    let mut lines = Vec::new();
    add(&tree.branches, tree.of_ns, None, (0, true), &mut lines);
    lines
}

fn add(
    nodes: &[WaitNode],
    whole: u64,
    waits: Option<&WaitNode>,
    (depth, on_main): (usize, bool),
    lines: &mut Vec<Line>,
) {
    for node in nodes {
        let words =
            format!("{} {}{}", who(node, waits), activity::of(node), in_sentence(&node.place, node.place_share));
        let main = on_main && node.ns * 2 >= whole;
        lines.push(Line { depth, ns: node.ns, words, main });
        if depth + 1 >= MOST_STEPS {
            continue;
        }
        add(&node.waits_for, node.ns, Some(node), (depth + 1, main), lines);
        // A sleep that a clock ended says so itself.
        for ended in node.ended.iter().filter(|ended| !(node.regular && ended.by == Ender::Timer)) {
            let main = main && ended.ns * 2 >= node.ns;
            lines.push(Line { depth: depth + 1, ns: ended.ns, words: ended_by(&ended.by), main });
        }
    }
}

/// The program by its end of the exchanges, the others by name; where it is the one that waits, another thread of it, or
/// another process.
pub(crate) fn who(node: &WaitNode, waits: Option<&WaitNode>) -> String {
    let program = clean(&node.program);
    if let Some(waits) = waits.filter(|waits| (&waits.program, waits.end) == (&node.program, node.end)) {
        return match node.pid.filter(|_| node.pid == waits.pid) {
            Some(_) => "another thread".into(),
            None => format!("another {program}"),
        };
    }
    // What a server starts, or asks, is not the server that the client asks.
    let end = node.end.filter(|end| waits.is_none_or(|waits| waits.end != Some(*end)));
    match end {
        Some(End::Client) => format!("the client {program}"),
        Some(End::Server) => format!("the server {program}"),
        None if program.is_empty() => "a process".into(),
        None => program,
    }
}

/// What ended a wait, where it is no thread.
pub(crate) fn ended_by(by: &Ender) -> String {
    match by {
        Ender::Timer => "a time-out that the program set".into(),
        Ender::Disk => "a disk, or something else the kernel waits for".into(),
        Ender::Network => "bytes in flight, or held in a kernel".into(),
        Ender::Peer { remote: Some(remote) } => format!("{}, which was not recorded", clean(remote)),
        Ender::Peer { remote: None } => "a peer that was not recorded".into(),
        Ender::NewConnection => "a new connection".into(),
        Ender::Unknown => "unknown: an interrupt, or a process that was not recorded".into(),
    }
}

fn text(document: &Document, style: Style) -> String {
    let Some((answer, tree)) = tree_of(document) else { return String::new() };
    if answer.leading_account().is_none() {
        return String::new();
    }
    let mut text = wrap(&format!("{}:", title(tree)), style.columns(), "", "");
    for line in lines(tree).into_iter().filter(|line| line.ns as f64 >= tree.of_ns as f64 * WORTH_A_LINE) {
        let indent = "  ".repeat(line.depth + 1);
        let first = format!("{indent}{:>8}  ", Nanos(line.ns).to_string());
        let rest = " ".repeat(first.chars().count());
        text += &wrap(&line.words, style.columns(), &first, &rest);
    }
    text
}

#[derive(Template)]
#[template(path = "blocks/waits.html")]
struct Tree {
    title: String,
    how: String,
    lines: Vec<Drawn>,
}

struct Drawn {
    depth: usize,
    time: String,
    share: String,
    percent: String,
    words: String,
    main: bool,
}

fn html(answer: &Answer, tree: &WaitTree) -> String {
    let drawn = |line: Line| {
        let share = line.ns as f64 / tree.of_ns.max(1) as f64;
        Drawn {
            depth: line.depth,
            time: Nanos(line.ns).to_string(),
            share: Share(share).to_string(),
            percent: format!("{:.1}", (share * 100.0).clamp(0.0, 100.0)),
            words: line.words,
            main: line.main,
        }
    };
    let lines = lines(tree).into_iter().map(drawn).collect();
    Tree { title: title(tree), how: how(answer, tree), lines }.render().unwrap_or_default()
}

fn markdown(answer: &Answer, tree: &WaitTree) -> String {
    let line = |line: Line| format!("{}- {}: {}\n", "  ".repeat(line.depth), Nanos(line.ns), escape(&line.words));
    let lines: String = lines(tree).into_iter().map(line).collect();
    format!("### {}\n\n{}\n\n{lines}", escape(&title(tree)), escape(&how(answer, tree)))
}
