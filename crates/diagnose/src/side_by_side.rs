//! Work done at the same time, where no part of it asks for another: an analysis does not change while it is read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads than this do not help: the dearest detector takes a tenth of what all take.
const MOST_THREADS: usize = 4;

/// Does two things at the same time. What panics panics here.
pub fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    if threads() == 1 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), ended(other))
    })
}

/// Does the same with each of some items; the results are in the items' order.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let share = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let numbers = numbers.take_while(|&number| number < items.len());
        numbers.map(|number| (number, work(&items[number]))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads().min(items.len())).map(|_| scope.spawn(share)).collect();
        let mut done = share();
        done.extend(others.into_iter().flat_map(ended));
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

fn ended<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whoever_is_done_first() {
        for count in [0, 1, 2, 100] {
            let items: Vec<u64> = (0..count).rev().collect();
            let slow_first = |&item: &u64| {
                thread::sleep(std::time::Duration::from_micros(item));
                item
            };
            assert_eq!(each(&items, slow_first), items);
        }
        assert_eq!(both(|| 1, || "other"), (1, "other"));
    }

    #[test]
    fn a_panic_is_passed_on() {
        let panics = || std::panic::catch_unwind(|| both(|| 1, || std::panic::resume_unwind(Box::new("broken"))));
        let panic: Box<dyn std::any::Any + Send> = panics().map(|(one, ())| one).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"broken"));
    }
}
