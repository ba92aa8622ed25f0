use super::*;
use crate::fixture::{CLIENT, Fixture, MS, US, keep_alive};

/// A run that parses for some milliseconds with a version of a library, and reads a file some times.
fn run(parsing: u64, library: &str, reads: u32, file: &str) -> Recording {
    let mut fixture = Fixture::new();
    fixture.path(9, file);
    fixture.stack(1, &["client!render", "client!main"]);
    fixture.computes(CLIENT, 100 * MS, 1);
    fixture.stack(2, &["libc.so.6!memchr", &format!("{library}!parse"), "client!main"]);
    fixture.computes(CLIENT, parsing * MS, 2);
    for _ in 0..reads {
        fixture.does(CLIENT, 10 * US, 0, |call| (call.path, call.result) = (9, 512));
    }
    fixture.end()
}

fn functions(rows: &[CodeContrast]) -> Vec<&str> {
    rows.iter().map(|row| row.function.as_str()).collect()
}

#[test]
fn the_chain_leads_to_what_differs() {
    let contrasts = contrast(&[run(50, "libjson.so.1", 1, "/in")], &[run(250, "libjson.so.1", 1, "/in")]);
    assert_eq!(contrasts.per, Per::Run);
    assert_eq!(functions(&contrasts.chain), ["main", "parse", "memchr"]);
    let parse = &contrasts.chain[1];
    assert_eq!(
        (parse.module.as_str(), parse.a_ns, parse.b_ns, parse.samples),
        ("libjson.so.1", 50 * MS, 250 * MS, 300)
    );
    assert_eq!(contrasts.libraries[0].module, "libjson.so.1");
    assert_eq!(functions(&contrasts.functions), ["main", "memchr", "parse"]);
    assert_eq!(contrasts.ledger[0].name, "CPU: libjson.so.1");
    assert_eq!(contrasts.ledger[0].b_ns.abs_diff(contrasts.ledger[0].a_ns) / MS, 200);
    assert_eq!(contrasts.ledger.len(), 1);
    assert_eq!(contrasts.calls, []);
}

#[test]
fn where_b_takes_less_the_chain_leads_to_what_it_lacks() {
    let contrasts = contrast(&[run(250, "libjson.so.1", 1, "/in")], &[run(0, "libjson.so.1", 1, "/in")]);
    assert_eq!(functions(&contrasts.chain), ["main", "parse", "memchr"]);
    assert_eq!(contrasts.chain[2].b_ns, 0);
}

#[test]
fn a_program_against_itself_has_no_chain() {
    let side = [run(50, "libjson.so.1", 9, "/in"), run(53, "libjson.so.1", 9, "/in")];
    let contrasts = contrast(&side, &[run(54, "libjson.so.1", 9, "/in"), run(51, "libjson.so.1", 9, "/in")]);
    assert_eq!(contrasts, Contrasts { per: Per::Run, ..Contrasts::default() });
}

#[test]
fn another_version_of_a_library_is_the_same_library() {
    let contrasts = contrast(&[run(50, "libssl.so.1.1", 1, "/in")], &[run(250, "libssl.so.3", 1, "/in")]);
    assert_eq!(functions(&contrasts.chain), ["main", "parse", "memchr"]);
    assert_eq!(contrasts.chain[1].module, "libssl.so.1.1 / libssl.so.3");
    assert_eq!(contrasts.ledger[0].name, "CPU: libssl.so.1.1 / libssl.so.3");
    assert_eq!(contrasts.libraries.len(), 1);
}

#[test]
fn a_library_under_the_name_of_a_link_to_it_is_the_same_library() {
    let by_link = |parsing: u64| [run(parsing, "libz.so.1", 1, "/in"), run(parsing, "libz.so.1.2.13", 1, "/in")];
    let contrasts = contrast(&by_link(50), &by_link(250));
    let [library] = contrasts.libraries.as_slice() else { panic!("{:?}", contrasts.libraries) };
    assert_eq!((library.module.as_str(), library.a_ns, library.b_ns), ("libz.so.1.2.13", 50 * MS, 250 * MS));
    assert_eq!(contrasts.ledger[0].name, "CPU: libz.so.1.2.13");
    assert_eq!(functions(&contrasts.chain), ["main", "parse", "memchr"]);
    // By the link's name alone on one side.
    let contrasts = contrast(&[run(50, "libz.so.1", 1, "/in")], &by_link(250));
    assert_eq!((contrasts.libraries.len(), contrasts.libraries[0].a_ns), (1, 50 * MS));
}

#[test]
fn libraries_whose_names_only_begin_alike_are_two() {
    let both = |parsing: u64| [run(parsing, "libcurl.so.4", 1, "/in"), run(30, "libcurl-gnutls.so.4", 1, "/in")];
    let contrasts = contrast(&both(50), &both(250));
    assert_eq!(contrasts.libraries.iter().map(|row| row.module.as_str()).collect::<Vec<_>>(), ["libcurl.so.4"]);
}

#[test]
fn another_program_stands_in_the_others_place() {
    let mut other = run(250, "libjson.so.1", 1, "/in");
    for path in other.processes.iter_mut().map(|row| &mut row.executable) {
        *path = path.replace("/client", "/client-new");
    }
    for path in other.locations.iter_mut().map(|row| &mut row.module) {
        *path = path.replace("/client", "/client-new");
    }
    let contrasts = contrast(&[run(50, "libjson.so.1", 1, "/in")], &[other]);
    assert_eq!(functions(&contrasts.chain), ["main", "parse", "memchr"]);
    assert_eq!(contrasts.chain[0].module, "client / client-new");
}

#[test]
fn calls_are_listed_by_what_they_are_about() {
    let (a, b) = (run(50, "libjson.so.1", 10, "/tmp/in-1"), run(50, "libjson.so.1", 500, "/tmp/in-2"));
    let contrasts = contrast(&[a.clone(), a.clone()], &[b]);
    let call = &contrasts.calls[0];
    assert_eq!((call.call.as_str(), call.about.as_str()), ("read", "/tmp/in-1 / /tmp/in-2"));
    assert_eq!((call.a_count, call.b_count, call.a_ns, call.b_ns), (10.0, 500.0, 100 * US, 5 * MS));
    assert_eq!(contrast(std::slice::from_ref(&a), std::slice::from_ref(&a)).calls, []);
}

#[test]
fn many_files_of_a_folder_count_together() {
    let many = |count: u32| {
        let mut fixture = Fixture::new();
        for file in 1..=count {
            fixture.path(file, &format!("/etc/ssl/certs/{file}.pem"));
            fixture.does(CLIENT, 10 * US, 257, |call| call.path = file);
        }
        fixture.end()
    };
    let contrasts = contrast(&[many(10)], &[many(140)]);
    assert_eq!((contrasts.calls[0].about.as_str(), contrasts.calls[0].b_count), ("/etc/ssl/certs/*", 140.0));
}

#[test]
fn figures_are_of_an_exchange_where_there_are_some() {
    let contrasts = contrast(&[keep_alive(10, 300 * US).end()], &[keep_alive(40, 900 * US).end()]);
    assert_eq!(contrasts.per, Per::Exchange);
    let thinking = contrasts.ledger.iter().find(|row| row.name == "server CPU: user").expect("an account");
    assert!((250 * US..350 * US).contains(&thinking.a_ns) && (850 * US..950 * US).contains(&thinking.b_ns));
    assert!(contrast(&[keep_alive(10, 300 * US).end()], &[keep_alive(40, 300 * US).end()]).calls.is_empty());
}

#[test]
fn nothing_against_nothing_differs_in_nothing() {
    let nothing = contrast(&[], &[]);
    assert_eq!(nothing, Contrasts { per: Per::Run, ..Contrasts::default() });
    assert_eq!(contrast(&[Recording::default()], &[Recording::default()]), nothing);
}

/// A run that computes some milliseconds in `walk`, called by many ways; the heaviest is by `load` and `fetch`.
fn walking(walks: u64, renders: u64) -> Recording {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["client!render", "client!main"]);
    fixture.computes(CLIENT, renders * MS, 1);
    fixture.stack(2, &["lib.so!walk", "lib.so!fetch", "lib.so!load", "client!main"]);
    fixture.computes(CLIENT, 2 * walks * MS, 2);
    for (number, caller) in (3..).zip(["one", "two", "three", "four"]) {
        fixture.stack(number, &["lib.so!walk", &format!("lib.so!{caller}"), "client!main"]);
        fixture.computes(CLIENT, walks * MS, number);
        fixture.stack(number + 4, &[&format!("lib.so!{caller}"), "client!main"]);
        fixture.computes(CLIENT, (walks + 5) * MS, number + 4);
    }
    fixture.end()
}

#[test]
fn what_burns_most_by_many_ways_is_named_with_the_heaviest_of_them() {
    let contrasts = contrast(&[walking(5, 50)], &[walking(50, 50)]);
    assert_eq!(functions(&contrasts.chain), ["main"], "the difference spreads from there");
    let hot_spot = contrasts.hot_spots[0].clone();
    assert_eq!((hot_spot.own.function.as_str(), hot_spot.own.a_ns, hot_spot.own.b_ns), ("walk", 30 * MS, 300 * MS));
    assert!((hot_spot.share - 0.6).abs() < 1e-9, "{}", hot_spot.share);
    assert_eq!(functions(&hot_spot.chain), ["main", "load", "fetch", "walk"]);
    let own = hot_spot.chain.iter().map(|step| step.b_ns / MS).collect::<Vec<_>>();
    assert_eq!(own, [300, 100, 100, 100], "the function's own time alone, so far as it is called this way");
}

#[test]
fn where_all_functions_burn_a_little_more_none_is_a_hot_spot() {
    let run = |each: u64| {
        let mut fixture = Fixture::new();
        for number in 1..=32 {
            fixture.stack(number, &[&format!("lib.so!f{number}"), "client!main"]);
            fixture.computes(CLIENT, each * MS, number);
        }
        fixture.end()
    };
    let contrasts = contrast(&[run(20)], &[run(60)]);
    assert_eq!((functions(&contrasts.chain), contrasts.hot_spots), (vec!["main"], vec![]));
}

#[test]
fn a_function_that_calls_itself_is_a_hot_spot_once() {
    let run = |time: u64| {
        let mut fixture = Fixture::new();
        fixture.stack(1, &["lib.so!descend", "client!main"]);
        fixture.computes(CLIENT, 9 * time * MS, 1);
        fixture.stack(2, &["lib.so!descend", "lib.so!descend", "client!main"]);
        fixture.computes(CLIENT, time * MS, 2);
        fixture.end()
    };
    let hot_spot = contrast(&[run(1)], &[run(20)]).hot_spots.remove(0);
    assert_eq!(functions(&hot_spot.chain), ["main", "descend"]);
    assert_eq!(hot_spot.own.b_ns, 200 * MS);
}

#[test]
fn what_b_lacks_is_a_hot_spot_of_the_difference_too() {
    let hot_spot = contrast(&[walking(50, 50)], &[walking(5, 50)]).hot_spots.remove(0);
    assert_eq!((hot_spot.own.function.as_str(), functions(&hot_spot.chain).len()), ("walk", 4));
}

/// A run of stripped programs, in which `exported` of a library takes some milliseconds; where functions without a name lie is
/// a matter of the build.
fn stripped(version: &str, time: u64, main: u32, hidden: u32, exported: u32) -> Recording {
    let mut fixture = Fixture::new();
    let library = |function: &str| format!("liba.so.{version}!{function}");
    let (outer, inner) = (library(&format!("+0x{hidden:x}")), library(&format!("+0x{:x}", 2 * hidden)));
    let exported = library(&format!("exported+0x{exported:x}"));
    fixture.stack(1, &[&exported, &inner, &outer, &format!("client!+0x{main:x}")]);
    fixture.computes(CLIENT, time * MS, 1);
    fixture.stack(2, &[&outer, &format!("client!+0x{main:x}")]);
    fixture.computes(CLIENT, 40 * MS, 2);
    fixture.end()
}

#[test]
fn functions_without_a_name_are_one_in_builds_that_have_them_elsewhere() {
    let contrasts = contrast(&[stripped("1.0", 20, 0x10, 0x100, 0x300)], &[stripped("1.2", 90, 0x18, 0x110, 0x3a0)]);
    let figures = |step: &CodeContrast| (step.function.clone(), step.a_ns / MS, step.b_ns / MS);
    let library = "liba.so.1.0 / liba.so.1.2+0x...".to_string();
    let expected = [("client+0x...".to_string(), 60, 130), (library, 60, 130), ("exported".to_string(), 20, 90)];
    assert_eq!(contrasts.chain.iter().map(figures).collect::<Vec<_>>(), expected);
    assert_eq!(contrasts.hot_spots.iter().map(|one| figures(&one.own)).collect::<Vec<_>>(), expected[2..]);
}

#[test]
fn functions_without_a_name_are_distinct_in_a_build_that_both_ran() {
    let contrasts = contrast(&[stripped("1.0", 20, 0x10, 0x100, 0x300)], &[stripped("1.0", 90, 0x10, 0x100, 0x300)]);
    assert_eq!(functions(&contrasts.chain), ["client+0x10", "liba.so.1.0+0x100", "liba.so.1.0+0x200", "exported"]);
}

#[test]
fn a_library_with_a_link_to_it_on_both_sides_is_the_same_library_in_two_versions() {
    let run = |version: &str, time: u64| {
        let mut fixture = Fixture::new();
        fixture.stack(1, &[&format!("liba.so.4.{version}!work"), "client!main"]);
        fixture.computes(CLIENT, time * MS, 1);
        fixture.stack(2, &["liba.so.4!work", "client!main"]);
        fixture.computes(CLIENT, time * MS, 2);
        fixture.end()
    };
    let contrasts = contrast(&[run("7.0", 20)], &[run("8.0", 60)]);
    assert_eq!(functions(&contrasts.chain), ["main", "work"]);
    assert_eq!((contrasts.chain[1].a_ns, contrasts.chain[1].b_ns), (40 * MS, 120 * MS));
}
