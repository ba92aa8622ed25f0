//! Few requests that hold up the others: something to say of a line, whoever found it.

use case::facts::Observation;
use case::{Queue, RequestKind};

/// As large a part of the requests at most hold up the others, and are not simply what there is most of.
const FEW_HOLD_UP: f64 = 0.125;

/// The few requests of one kind, known by what they ask for, behind which half of the others' waiting in line is or more.
pub(super) fn held_up(queue: &Queue, of: usize) -> Option<Observation> {
    let holder = queue.holder().filter(|one| one.held_ns.saturating_mul(2) >= queue.ns)?;
    let is_few = holder.count as f64 <= FEW_HOLD_UP * of as f64;
    let is_known = matches!(holder.kind, RequestKind::Http { .. });
    (is_few && is_known).then(|| Observation::HeldUp { by: holder.kind.clone(), requests: holder.count, of: of as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::ServedKind;

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
}
