//! Where values go.

use super::super::values::Vary;
use super::place;
use crate::launch::Subject;
use crate::world::World;

fn subject(client: &[&str], server: &[&str]) -> Subject {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    Subject { client: words(client), server: Some(words(server)), ..Subject::default() }
}

fn placed(vary: &str, subject: &Subject, world: &World) -> Result<(Subject, World), String> {
    let vary = Vary::parse(vary)?;
    place(&vary, subject, world, &vary.values()[vary.values().len() - 1])
}

fn linked() -> World {
    let mut world = World::default();
    world.change("link", "mtu=1500,rate=10mbit,burst=256k").expect("a link");
    world
}

#[test]
fn a_value_stands_wherever_its_name_is_in_braces_in_either_command() {
    let subject = subject(&["get", "{server}/{size}?a={size}", r#"{"size":1}"#], &["serve", "--body={size}"]);
    let (placed, world) = placed("size=1..16K:log", &subject, &World::default()).expect("placed");
    assert_eq!(placed.client, ["get", "{server}/16384?a=16384", r#"{"size":1}"#]);
    assert_eq!(placed.server.as_deref(), Some(&["serve".to_string(), "--body=16384".to_string()][..]));
    assert_eq!(world, World::default());
}

#[test]
fn mtu_and_rate_change_the_link_and_nothing_else_of_it() {
    let subject = subject(&["get"], &["serve"]);
    let link = |vary: &str| placed(vary, &subject, &linked()).expect("placed").1.link.expect("a link").to_string();
    assert_eq!(link("mtu=1000,1400"), "mtu=1400,rate=10mbit,burst=256k");
    assert_eq!(link("rate=1mbit..1gbit:log"), "mtu=1500,rate=1gbit,burst=256k");
    assert!(placed("rate=100", &subject, &linked()).is_err_and(|error| error.contains("10mbit")));
    assert!(placed("mtu=1000", &subject, &World::default()).is_err_and(|error| error.contains("--link")));
    assert!(placed("mtu=10", &subject, &linked()).is_err_and(|error| error.contains("68")));
}

#[test]
fn a_placeholder_goes_before_the_link() {
    let subject = subject(&["get", "--mtu", "{mtu}"], &["serve"]);
    let (placed, world) = placed("mtu=1000", &subject, &linked()).expect("placed");
    assert_eq!((placed.client[2].as_str(), world), ("1000", linked()));
}

#[test]
fn quota_memory_and_processors_change_the_world() {
    let subject = subject(&["get"], &["serve"]);
    let world = |vary: &str| placed(vary, &subject, &World::default()).expect("placed").1;
    assert_eq!(world("quota=0.1..0.5:0.1").processor_quota, Some(0.5));
    assert_eq!(world("memory=64M").memory, Some(64 << 20));
    assert_eq!(world("processors=1..4").processors, [0, 1, 2, 3]);
    assert!(placed("processors=0", &subject, &World::default()).is_err_and(|error| error.contains("from 1")));
}

#[test]
fn concurrency_runs_the_client_side_by_side_and_ends_as_a_copy_that_fails() {
    let script = "echo x >> $0; exit $(( $(wc -l < $0) > 1 ? 3 : 0 ))";
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().display().to_string();
    let subject = subject(&["sh", "-c", script, &path], &["serve"]);
    let (placed, _) = placed("concurrency=1..3", &subject, &World::default()).expect("placed");
    let status = std::process::Command::new(&placed.client[0]).args(&placed.client[1..]).status().expect("a shell");
    assert_eq!(std::fs::read_to_string(&path).expect("lines").lines().count(), 3);
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_mistyped_placeholder_is_named() {
    let error =
        |client: &[&str]| placed("size=1,2", &subject(client, &["serve"]), &World::default()).expect_err("refused");
    assert_eq!(error(&["get", "{sise}"]), "the command has `{sise}`, but --vary names `size`");
    assert_eq!(error(&["get", "{Size}"]), "the command has `{Size}`, but --vary names `size`");
    // JSON, a program for awk, and the addresses are no mistakes.
    for word in [r#"{"size":1}"#, "{print}", "{server}", "${size", "{ size }"] {
        assert!(error(&["get", word]).contains("does not contain"), "{word}");
    }
}
