use super::*;
use crate::fixture::{CLIENT, Fixture, MS};

fn inclusive(profile: &Profile, function: &str) -> u64 {
    profile.inclusive.iter().filter(|(frame, _)| frame.function == function).map(|(_, time)| time.ns).sum()
}

/// The call chains of a profile, as `main > work 5`, with their samples.
fn chains(profile: &Profile) -> Vec<String> {
    fn walk(tree: &Tree, node: usize, above: &str, found: &mut Vec<String>) {
        let mut below = 0;
        for (frame, child) in tree.children(node) {
            below += tree.time(child).samples;
            let chain = if above.is_empty() { frame.function.clone() } else { format!("{above} > {}", frame.function) };
            walk(tree, child, &chain, found);
        }
        let own = tree.time(node).samples - below;
        if own > 0 {
            found.push(format!("{above} {own}"));
        }
    }
    let mut found = Vec::new();
    walk(&profile.tree, ROOT, "", &mut found);
    found
}

#[test]
fn what_every_program_begins_with_is_left_out() {
    let mut fixture = Fixture::new();
    let start = ["libc.so.6!__libc_start_call_main", "libc.so.6!__libc_start_main", "client!_start"];
    fixture.stack(1, &[&["client!work", "client!main"], &start[..]].concat());
    fixture.computes(CLIENT, 5 * MS, 1);
    fixture.stack(2, &["client!worker", "libc.so.6!start_thread", "libc.so.6!clone3"]);
    fixture.computes(CLIENT, 3 * MS, 2);
    assert_eq!(chains(&profile(&[fixture.end()])), ["main > work 5", "worker 3"]);
}

#[test]
fn libc_and_the_kernel_are_charged_to_their_caller_and_stay_in_the_chain() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!memcpy", "libz.so.1!inflate", "client!main"]);
    fixture.computes(CLIENT, 5 * MS, 1);
    let mut recording = fixture.end();
    recording.samples.iter_mut().take(2).for_each(|row| (row.kernel, row.call_plus_one) = (true, 1));
    let profile = profile(&[recording]);
    assert_eq!(profile.libraries["libz.so.1"], Time { ns: 5 * MS, samples: 5 });
    assert_eq!(chains(&profile), ["main > inflate > memcpy > read 2", "main > inflate > memcpy 3"]);
}

#[test]
fn entering_and_leaving_a_call_is_the_calls_time_and_no_page_fault() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!__read", "client!main"]);
    fixture.computes(CLIENT, 5 * MS, 1);
    fixture.stack(2, &["libc.so.6!memset", "client!main"]);
    fixture.computes(CLIENT, 3 * MS, 2);
    let mut recording = fixture.end();
    recording.samples.iter_mut().for_each(|row| row.kernel = true);
    recording.samples[0].call_plus_one = 1;
    let expected = ["main > __read > read 5", "main > memset > page fault or interrupt 3"];
    assert_eq!(chains(&profile(&[recording])), expected);
}

#[test]
fn functions_that_call_each_other_are_there_once_however_deep() {
    let mut fixture = Fixture::new();
    let ring = ["client!pong", "client!ping"].repeat(20);
    fixture.stack(1, &[&["client!leaf"], &ring[..], &["client!main"]].concat());
    fixture.computes(CLIENT, 4 * MS, 1);
    fixture.stack(2, &[&["client!leaf", "client!ping"], &ring[..], &["client!main"]].concat());
    fixture.computes(CLIENT, 3 * MS, 2);
    let expected = ["main > ping > pong > ping > leaf 3", "main > ping > pong > leaf 4"];
    assert_eq!(chains(&profile(&[fixture.end()])), expected);
}

#[test]
fn a_function_that_calls_itself_counts_once() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["client!visit", "client!visit", "client!step", "client!visit", "client!main"]);
    fixture.computes(CLIENT, 4 * MS, 1);
    let profile = profile(&[fixture.end()]);
    assert_eq!(inclusive(&profile, "visit"), 4 * MS);
    assert_eq!(chains(&profile), ["main > visit > step > visit 4"]);
}

#[test]
fn a_stack_cut_short_continues_where_a_whole_one_passes() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["client!leaf", "client!work", "client!main"]);
    fixture.computes(CLIENT, 5 * MS, 1);
    fixture.stack(2, &["client!other", "client!work"]);
    fixture.computes(CLIENT, 2 * MS, 2);
    fixture.stack(3, &["client!lost"]);
    fixture.computes(CLIENT, MS, 3);
    let mut recording = fixture.end();
    recording.stacks.iter_mut().filter(|row| row.stack > 1).for_each(|row| row.complete = false);
    let profile = profile(&[recording]);
    assert_eq!(chains(&profile), ["main > work > leaf 5", "main > work > other 2", "(callers not known) > lost 1"]);
    assert_eq!(inclusive(&profile, "main"), 7 * MS);
    assert_eq!(inclusive(&profile, CUT_SHORT), 0);
}

#[test]
fn recordings_of_one_side_are_summed_up() {
    let run = || {
        let mut fixture = Fixture::new();
        fixture.stack(1, &["client!main"]);
        fixture.computes(CLIENT, 5 * MS, 1);
        fixture.end()
    };
    let profile = profile(&[run(), run()]);
    assert_eq!((profile.total_ns, profile.samples), (10 * MS, 10));
    assert_eq!(profile.own.values().next(), Some(&Time { ns: 10 * MS, samples: 10 }));
}
