use super::*;
use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, keep_alive};
use case::views::FlameNode;

/// The chains of a flame, as `client client > main > work`, each with its time in milliseconds.
fn chains(flame: &Flame) -> Vec<(String, u64)> {
    let mut names: Vec<String> = Vec::new();
    for node in &flame.nodes {
        let above = node.parent.map(|parent| format!("{} > ", names[parent as usize]));
        names.push(above.unwrap_or_default() + &node.function);
    }
    names.into_iter().zip(&flame.nodes).map(|(name, node)| (name, node.ns / MS)).collect()
}

fn has(flame: &Flame, chain: &str, milliseconds: u64) -> bool {
    chains(flame).contains(&(chain.to_string(), milliseconds))
}

/// Callers stand before their callees and hold at least their time; the whole is the sum of the programs.
fn adds_up(flame: &Flame) -> bool {
    let below = |index: usize, of: &dyn Fn(&FlameNode) -> u64| -> u64 {
        flame.nodes.iter().filter(|node| node.parent == Some(index as u32)).map(of).sum()
    };
    let roots: u64 = flame.nodes.iter().filter(|node| node.parent.is_none()).map(|node| node.ns).sum();
    let before = |node: &FlameNode| node.before_ns.unwrap_or_default();
    let nodes = flame.nodes.iter().enumerate();
    roots == flame.total_ns
        && nodes.clone().all(|(at, node)| node.parent.is_none_or(|parent| (parent as usize) < at))
        && nodes.clone().all(|(at, node)| below(at, &|child| child.ns) <= node.ns)
        && nodes.clone().all(|(at, node)| below(at, &before) <= before(node))
}

fn sampled(stacks: &[(&[&str], u64)]) -> Recording {
    let mut fixture = Fixture::new();
    for (stack, (frames, milliseconds)) in (1..).zip(stacks) {
        fixture.stack(stack, frames);
        fixture.computes(CLIENT, milliseconds * MS, stack);
    }
    fixture.end()
}

#[test]
fn each_program_is_a_root_of_its_own() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["client!work", "client!main"]);
    fixture.computes(CLIENT, 5 * MS, 1);
    fixture.computes(SERVER, 3 * MS, 0);
    let flame = processor(&fixture.end());
    assert!(adds_up(&flame));
    assert_eq!((flame.total_ns, flame.sample_ns), (8 * MS, MS));
    assert!(has(&flame, "client client > main > work", 5), "{flame:?}");
    assert!(has(&flame, "server server > (stack not known)", 3));
    assert_eq!(flame.of, "8 samples, 8.00 ms of CPU time in all");
}

#[test]
fn a_script_is_shown_by_its_own_functions_and_what_they_called_beneath_the_interpreter() {
    let mut fixture = Fixture::new();
    let interpreter = ["libpython3.so!call", "libpython3.so!_PyEval_EvalFrameDefault", "libpython3.so!Py_Main"];
    fixture.stack(1, &[&["libssl.so!SSL_read", "libpython3.so!wrap"], &interpreter[..]].concat());
    fixture.stack(2, &[&["libpython3.so!collect_garbage"], &interpreter[1..]].concat());
    fixture.script(3, &["/srv/shop.py:7:fetch", "<frozen importlib._bootstrap>:1:_load", "/srv/shop.py:20:main"]);
    for stack in [1, 2] {
        fixture.computes(CLIENT, 2 * MS, stack);
    }
    let mut recording = fixture.end();
    recording.samples.iter_mut().for_each(|row| row.script_stack = 3);
    let flame = processor(&recording);
    let program = "client client > main > fetch";
    assert!(has(&flame, &format!("{program} > SSL_read"), 2), "{flame:?}");
    assert!(has(&flame, &format!("{program} > collect_garbage"), 2), "{flame:?}");
    assert_eq!(flame.nodes.len(), 5);
    let fetch = flame.nodes.iter().find(|node| node.function == "fetch").expect("fetch");
    assert_eq!(fetch.module, "shop.py");
}

#[test]
fn what_a_line_called_stands_beneath_it_in_every_language_whose_lines_are_read() {
    let interpreters = [
        ["php8.2!spl_call", "php8.2!execute_ex"],
        ["libperl.so.5.36!pp_call", "libperl.so.5.36!Perl_runops_standard"],
        ["libruby-3.1.so!call_cfunc", "libruby-3.1.so!rb_vm_exec"],
        ["libruby-3.1.so!", "libruby-3.1.so!"],
    ];
    for interpreter in interpreters {
        let mut fixture = Fixture::new();
        fixture.stack(1, &[&["libssl.so!SSL_read"], &interpreter[..], &["server!main"]].concat());
        fixture.script(2, &["/srv/shop:7:fetch", "/srv/shop:20:main"]);
        fixture.computes(CLIENT, 2 * MS, 1);
        let mut recording = fixture.end();
        recording.samples.iter_mut().for_each(|row| row.script_stack = 2);
        let flame = processor(&recording);
        assert!(has(&flame, "client client > main > fetch > SSL_read", 2), "{interpreter:?}: {flame:?}");
        assert_eq!(flame.nodes.len(), 4, "{interpreter:?}: {flame:?}");
    }
}

#[test]
fn what_javascript_called_in_cpp_stands_beneath_it_and_what_runs_it_does_not() {
    let mut fixture = Fixture::new();
    let runtime = ["node!Builtins_JSEntry", "node!uv_run", "node!main"];
    let interpreted = ["node!JsonParser::Parse", "node!Builtins_CEntry", "node!Builtins_InterpreterEntryTrampoline"];
    fixture.stack(1, &[&interpreted[..], &runtime].concat());
    fixture.stack(2, &[&["node!Builtins_AddHandler"], &runtime[..]].concat());
    fixture.script(3, &["/srv/shop.js:7:price", "/srv/main.js:1:emit"]);
    for stack in [1, 2] {
        fixture.computes(CLIENT, 2 * MS, stack);
    }
    let mut recording = fixture.end();
    recording.samples.iter_mut().for_each(|row| row.script_stack = 3);
    let flame = processor(&recording);
    assert!(has(&flame, "client client > emit > price > JsonParser::Parse", 2), "{flame:?}");
    assert!(has(&flame, "client client > emit > price", 4) && flame.nodes.len() == 4, "{flame:?}");
}

#[test]
fn a_small_function_is_folded_into_its_caller_and_the_whole_stays() {
    let names: Vec<String> = (0..3_100).map(|number| format!("client!f{number}")).collect();
    let mut fixture = Fixture::new();
    for (stack, name) in (1..).zip(&names) {
        fixture.stack(stack, &[name, "client!main"]);
        fixture.computes(CLIENT, MS, stack);
    }
    fixture.stack(4_000, &["client!work", "client!main"]);
    fixture.computes(CLIENT, 5 * MS, 4_000);
    let flame = processor(&fixture.end());
    assert!(adds_up(&flame));
    assert_eq!(flame.total_ns, 3_105 * MS);
    let expected = [("client client", 3_105), ("client client > main", 3_105), ("client client > main > work", 5)];
    assert_eq!(chains(&flame), expected.map(|(name, time)| (name.to_string(), time)));
}

#[test]
fn a_wait_is_named_by_its_call_and_its_object_under_the_line_that_made_it() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!read", "client!load", "client!main"]);
    fixture.path(5, "/etc/settings");
    fixture.waits(CLIENT, 10 * MS, READ, |call| (call.stack, call.path) = (1, 5));
    fixture.waits(CLIENT, 3 * MS, READ, |_| {});
    let flame = blocked_of(&fixture.end());
    assert!(adds_up(&flame));
    let leaf = |path: &str| chains(&flame).iter().any(|(name, _)| name == path);
    assert!(leaf("client client > main > load > blocked in read (/etc/settings)"), "{flame:?}");
    assert!(leaf("client client > (stack not known) > blocked in read"), "{flame:?}");
    assert_eq!(flame.of, "13.0 ms in which one thread was blocked");
    assert_eq!(flame.sample_ns, 0);
}

#[test]
fn a_server_that_waits_for_work_does_not_drown_the_rest() {
    let mut fixture = keep_alive(3, 2 * MS);
    fixture.now += 50 * MS;
    let start = fixture.now;
    fixture.waits(SERVER, 100 * MS, EPOLL_WAIT, |_| {});
    fixture.now = start;
    fixture.waits(CLIENT, 10 * MS, 35, |_| {});
    fixture.now = start + 100 * MS;
    let flame = blocked_of(&fixture.end());
    assert!(has(&flame, "client client > (stack not known) > asleep in nanosleep", 9), "{flame:?}");
    assert!(flame.of.ends_with("in which servers waited for work is left out"), "{}", flame.of);
    let server: u64 = flame.nodes.iter().filter(|node| node.function == "server server").map(|node| node.ns).sum();
    assert!(server < MS, "the server had work for all but {server} ns");
}

#[test]
fn time_blocked_outside_recorded_calls_is_there_once() {
    let mut fixture = Fixture::new();
    fixture.waits(CLIENT, 10 * MS, READ, |_| {});
    let start = fixture.now;
    fixture.off(CLIENT, start, start + 4 * MS);
    fixture.now += 5 * MS;
    let flame = blocked_of(&fixture.end());
    assert!(has(&flame, "client client > (stack not known) > blocked in a call that is not recorded", 4), "{flame:?}");
    assert_eq!(flame.total_ns, 14 * MS - 2 * US);
}

#[test]
fn a_difference_has_what_either_side_did() {
    let old = sampled(&[(&["client!parse", "client!main"], 6), (&["client!old", "client!main"], 2)]);
    let new = sampled(&[(&["client!parse", "client!main"], 1), (&["client!new", "client!main"], 4)]);
    let flame = flame_difference(&[old.clone(), old], &[new]);
    assert!(adds_up(&flame));
    let sides: Vec<(&str, u64, u64)> = flame
        .nodes
        .iter()
        .map(|node| (node.function.as_str(), node.before_ns.unwrap_or_default() / MS, node.ns / MS))
        .collect();
    let expected = [("client client", 8, 5), ("main", 8, 5), ("parse", 6, 1), ("new", 0, 4), ("old", 2, 0)];
    assert_eq!(sides, expected);
    assert_eq!((flame.before_ns, flame.total_ns), (Some(8 * MS), 5 * MS));
    assert_eq!((flame.before_sample_ns, flame.sample_ns), (Some(MS / 2), MS));
    assert_eq!(flame.of, "each run: A from 16 samples of 2 runs, B from 5 samples of one run");
}

#[test]
fn nothing_sampled_gives_nothing() {
    assert_eq!(processor(&Fixture::new().end()), Flame { sample_ns: MS, ..Flame::default() });
}

#[test]
fn a_program_is_what_its_process_was_at_the_time() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["client!main"]);
    fixture.computes(CLIENT, 2 * MS, 1);
    fixture.process(CLIENT, "server");
    fixture.computes(CLIENT, 3 * MS, 1);
    let flame = processor(&fixture.end());
    assert!(has(&flame, "client client", 2) && has(&flame, "server server", 3), "{flame:?}");
}

fn blocked_of(recording: &Recording) -> Flame {
    blocked(&crate::Analysis::new(recording))
}
