//! Few requests that hold up the others: something to say of a line, whoever found it.

use case::facts::Observation;
use case::{Queue, RequestKind, ServedKind};

/// As large a part of the requests at most hold up the others, and are not simply what there is most of.
const FEW_HOLD_UP: f64 = 0.125;

/// Others that take a thread for this part of what a request takes it for, or less, are quick beside it.
const QUICK: u64 = 10;

/// The requests of one kind, known by what they ask for, behind which half of the others' waiting in line is or more: they are few,
/// or the others are quick.
pub(super) fn held_up(queue: &Queue, of: usize) -> Option<Observation> {
    let holder = queue.holder().filter(|one| one.held_ns.saturating_mul(2) >= queue.ns)?;
    let is_few = holder.count as f64 <= FEW_HOLD_UP * of as f64;
    let is_known = matches!(holder.kind, RequestKind::Http { .. } | RequestKind::Command { .. });
    let is_apart = is_few || are_quick(queue, holder);
    (is_apart && is_known).then(|| Observation::HeldUp {
        by: holder.kind.clone(),
        requests: holder.count,
        of: of as u64,
    })
}

/// Whether most of the waiting in line is of requests that are quick beside a kind.
pub(super) fn are_quick(queue: &Queue, holder: &ServedKind) -> bool {
    let waited = |kind: &ServedKind| kind.waited_ns.saturating_mul(kind.count);
    let is_quick = |kind: &&ServedKind| kind.usual_ns.saturating_mul(QUICK) <= holder.usual_ns;
    let quick: u64 = queue.kinds.iter().filter(is_quick).map(waited).fold(0, u64::saturating_add);
    let all = queue.kinds.iter().map(waited).fold(0, u64::saturating_add);
    quick > 0 && quick.saturating_mul(2) >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_few_that_hold_up_the_others_are_named_where_they_are_few_and_of_one_kind() {
        let kind = |path: &str, count, held_ns| {
            let kind = RequestKind::Http { method: "GET".into(), path: path.into() };
            ServedKind { kind, count, held_ns, ..ServedKind::default() }
        };
        let queue = |logins| Queue {
            ns: 100,
            kinds: vec![kind("/login", logins, 80), kind("/page/:n", 90, 20)],
            ..Queue::default()
        };
        let named = Some(Observation::HeldUp {
            by: RequestKind::Http { method: "GET".into(), path: "/login".into() },
            requests: 10,
            of: 100,
        });
        assert_eq!(held_up(&queue(10), 100), named);
        assert_eq!(held_up(&queue(20), 110), None, "that is every fifth");
        let mut unknown = queue(10);
        unknown.kinds[0].kind = RequestKind::Any;
        assert_eq!(held_up(&unknown, 100), None);
    }

    #[test]
    fn those_that_hold_up_much_quicker_ones_are_named_however_many() {
        let kind = |name: &str, usual_ns, held_ns, waited_ns| {
            let kind = RequestKind::Command { name: name.into() };
            ServedKind { kind, count: 50, usual_ns, held_ns, waited_ns, ..ServedKind::default() }
        };
        let queue = |usual| Queue {
            ns: 100,
            kinds: vec![kind("KEYS", 8_000_000, 98, 10_000), kind("GET", usual, 2, 4_000_000)],
            ..Queue::default()
        };
        let by = RequestKind::Command { name: "KEYS".into() };
        assert_eq!(held_up(&queue(20_000), 100), Some(Observation::HeldUp { by, requests: 50, of: 100 }));
        assert_eq!(held_up(&queue(4_000_000), 100), None, "half as long");
    }
}
