//! The sentences about requests that wait in line: for how long, behind which others, and what holds the threads up.

use crate::activity;
use crate::located::in_sentence;
use crate::request_kind::request_kind;
use crate::text::{clean, count};
use case::{Activity, Nanos, Queue, RequestKind, ServedKind, Share};

/// So many kinds that wait are named.
const MOST_NAMED: usize = 3;

/// A kind that waits less than this part of what the longest does is not named: to whoever reads it, it does not wait.
const MATTERS: f64 = 0.05;

/// `72 % of each 88.5 ms request is waiting in line for the server's only thread that answers requests, behind GET /render.`
pub(super) fn sentence(queue: &Queue) -> Option<String> {
    let holder = queue.holder()?;
    let whose = match clean(&queue.behind) {
        server if server.is_empty() => "the server's".to_string(),
        behind => format!("{behind}'s"),
    };
    let threads = match queue.threads {
        1 => format!("{whose} only thread that answers requests"),
        several => format!("one of {whose} {several} threads that answer requests"),
    };
    let share = Share(queue.share());
    let place = in_sentence(&holder.place, holder.place_share);
    let alone = is_alone(queue, holder);
    let behind = if alone {
        "others".to_string()
    } else {
        let part = holder.held_ns as f64 / queue.ns.max(1) as f64;
        format!(
            "{}{}",
            request_kind(&holder.kind, true),
            if part < 0.95 { format!(" ({} of it)", Share(part)) } else { String::new() }
        )
    };
    let what = match holder.activity {
        Activity::RunDelay if !place.is_empty() => "on CPU or waiting for one".to_string(),
        _ => doing(&holder.activity),
    };
    Some(format!(
        "{share} of each {} request is waiting in line for {threads}, behind {behind}. {} the thread for {}, mostly {what}{place}. {}",
        Nanos(queue.of_ns),
        if alone {
            "Each request takes".to_string()
        } else {
            format!("One {} takes", request_kind(&holder.kind, false))
        },
        Nanos(holder.usual_ns),
        waiting(queue, alone),
    ))
}

/// Whether all requests are alike.
fn is_alone(queue: &Queue, holder: &ServedKind) -> bool {
    queue.kinds.len() == 1 || holder.kind == RequestKind::Any
}

fn waiting(queue: &Queue, alone: bool) -> String {
    let line = format!(
        "Up to {} at a time",
        if queue.most == 1 { "one waits".into() } else { format!("{} wait", count(queue.most)) }
    );
    if alone {
        return format!("{line}.");
    }
    let mut kinds: Vec<&ServedKind> = queue.kinds.iter().filter(|kind| kind.waited_ns > 0).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.waited_ns));
    let longest = kinds.first().map_or(0, |kind| kind.waited_ns);
    kinds.retain(|kind| kind.waited_ns as f64 >= longest as f64 * MATTERS);
    let named = kinds
        .iter()
        .take(MOST_NAMED)
        .map(|one| format!("a {} waits {}", request_kind(&one.kind, false), Nanos(one.waited_ns)));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { format!("{line}.") } else { format!("{line}; on average {named}.") }
}

fn doing(activity: &Activity) -> String {
    match activity {
        Activity::OnCpu => "on CPU".into(),
        Activity::RunDelay => "waiting for a CPU".into(),
        Activity::Blocked { call, wait, object } => activity::blocked(call, *wait, object.as_ref()),
        Activity::PageFault => "waiting for a disk outside calls".into(),
        Activity::BlockedElsewhere | Activity::Other => "blocked outside recorded calls".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Place;

    fn http(path: &str) -> RequestKind {
        RequestKind::Http { method: "GET".into(), path: path.into() }
    }

    fn line(kinds: Vec<ServedKind>) -> Queue {
        Queue { ns: 60_000_000, of_ns: 80_000_000, behind: String::new(), threads: 1, most: 3, waited: 80, kinds }
    }

    #[test]
    fn who_holds_the_thread_and_who_waits_are_both_named() {
        let place = Place { function: "render".into(), file: "/srv/app.py".into(), line: 3, ..Place::default() };
        let held_ns = 59_000_000;
        let (usual_ns, activity) = (48_000_000, Activity::OnCpu);
        let render = ServedKind {
            kind: http("/render"),
            held_ns,
            usual_ns,
            activity,
            place: vec![place],
            ..ServedKind::default()
        };
        let ping = ServedKind { kind: http("/ping"), waited_ns: 70_000_000, ..ServedKind::default() };
        let said = sentence(&line(vec![render.clone(), ping])).expect("a line");
        let wanted = "75 % of each 80.0 ms request is waiting in line for the server's only thread that answers requests, behind \
                      GET /render. One GET /render takes the thread for 48.0 ms, mostly on CPU, app.py:3 in render. Up to 3 wait \
                      at a time; on average a GET /ping waits 70.0 ms.";
        assert_eq!(said, wanted);
        let said = sentence(&line(vec![render.clone()])).expect("a line");
        assert!(said.contains("behind others. Each request takes the thread for 48.0 ms"), "{said}");
        let behind = Queue { behind: "node".into(), ..line(vec![render]) };
        let said = sentence(&behind).expect("a line");
        assert!(
            said.contains("is waiting in line for node's only thread that answers requests, behind others."),
            "{said}"
        );
    }

    #[test]
    fn a_command_is_named_and_who_hardly_waits_is_not() {
        let command = |name: &str| RequestKind::Command { name: name.into() };
        let keys = ServedKind {
            kind: command("KEYS"),
            held_ns: 59_000_000,
            waited_ns: 40_000,
            activity: Activity::OnCpu,
            ..ServedKind::default()
        };
        let get = ServedKind { kind: command("GET"), waited_ns: 70_000_000, ..ServedKind::default() };
        let said = sentence(&line(vec![keys, get])).expect("a line");
        assert!(said.contains("behind KEYS commands. One KEYS command takes the thread"), "{said}");
        assert!(said.ends_with("on average a GET command waits 70.0 ms."), "{said}");
    }

    #[test]
    fn where_nobody_waits_nothing_is_said() {
        assert_eq!(sentence(&line(vec![ServedKind::default()])), None);
    }
}
