use super::*;
use std::path::PathBuf;

fn member(name: &str, cpu_share: f64, difference: f64) -> Member {
    Member {
        name: name.to_string(),
        version: "3.0.20-1~deb12u2".to_string(),
        packages: vec![format!("lib{name}")],
        sonames: vec![format!("lib{name}.so.3")],
        cpu_share: Some(cpu_share),
        difference: Some(difference),
    }
}

/// One that burns the time, and two that come along.
fn bundle() -> Vec<Member> {
    vec![member("agent", 0.018, 0.01), member("folder", 0.0, 0.0), member("cipher", 0.96, 0.98)]
}

fn prefix(name: &str, version: &str, sonames: &[&str]) -> Prefix {
    Prefix {
        name: name.to_string(),
        version: version.to_string(),
        folder: PathBuf::from("/built"),
        libraries: sonames.iter().map(|soname| (soname.to_string(), PathBuf::from("/built").join(soname))).collect(),
        key: String::new(),
    }
}

fn tried(way: Way, result: ProbeResult, place: f64) -> Tried {
    Tried { way, version: "8.1".to_string(), result, place: Some(place) }
}

fn of_suite(factor: usize) -> Way {
    Way::OtherSuite { suite: "new-backports".to_string(), factor, packages: Vec::new() }
}

fn cleared(split: &Split) -> Vec<&str> {
    split.cleared.iter().map(|cleared| cleared.factor.as_str()).collect()
}

fn untested(split: &Split) -> Vec<&str> {
    split.untested.iter().map(|untested| untested.factor.as_str()).collect()
}

#[test]
fn a_share_of_the_samples_clears_nobody_and_accuses_nobody() {
    let split = judge(&bundle(), &[]);
    assert_eq!((split.split.as_str(), cleared(&split)), ("", vec![]));
    assert_eq!(untested(&split), ["agent", "folder", "cipher"]);
    assert_eq!(split.untested[0].why, "no other version of it was there to be run alone");
    assert_eq!(split.reasons, ["98 % of the difference arises in cipher, which was not switched alone"]);
}

#[test]
fn a_version_that_stays_bad_clears_a_member_and_one_that_does_not_start_leaves_it_untested() {
    let split = judge(&bundle(), &[tried(of_suite(0), ProbeResult::Bad, 0.01)]);
    assert_eq!(split.cleared[0].why, "with agent 8.1 of new-backports the bad world stays slow");
    assert_eq!(split.split, "");
    let split = judge(&bundle(), &[tried(of_suite(0), ProbeResult::Untestable, 0.0)]);
    assert_eq!(split.untested[0].why, "programs do not start with another version of it alone");
}

#[test]
fn who_is_left_when_all_others_were_switched_is_named_where_the_difference_arises_in_it() {
    let both = [tried(of_suite(0), ProbeResult::Bad, 0.01), tried(of_suite(1), ProbeResult::Bad, 0.0)];
    let split = judge(&bundle(), &both);
    assert_eq!((split.split.as_str(), cleared(&split)), ("cipher", vec!["agent", "folder"]));
    assert_eq!(untested(&split), [""; 0], "the one that is named is not listed as untested");
    assert_eq!(
        split.reasons[0],
        "98 % of the difference between the worlds arises in cipher, and the others, switched alone, change nothing"
    );
}

#[test]
fn a_drop_in_that_goes_most_of_the_way_is_proof() {
    let mut bundle = bundle();
    bundle[0] = member("agent", 0.3, 0.3);
    let way = Way::DropIn { factor: 2, prefix: prefix("cipher", "3.1.3", &["libcipher.so.3"]) };
    let split = judge(&bundle, &[tried(way, ProbeResult::Unclear, 0.56)]);
    assert_eq!(split.split, "cipher");
    assert_eq!(
        split.reasons[0],
        "a build of cipher 3.1.3, alone in the bad world, brings it 56 % of the way from bad to good"
    );
    assert_eq!((cleared(&split), untested(&split)), (vec![], vec!["agent", "folder"]));
}

#[test]
fn nobody_is_accused_because_all_others_are_cleared_where_the_profile_says_otherwise() {
    let both = [tried(of_suite(0), ProbeResult::Bad, 0.01), tried(of_suite(1), ProbeResult::Bad, 0.0)];
    let mut bundle = bundle();
    (bundle[2].cpu_share, bundle[2].difference) = (Some(0.2), Some(0.1));
    let split = judge(&bundle, &both);
    assert_eq!(split.split, "", "the time arises outside of the bundle");
    (bundle[2].cpu_share, bundle[2].difference) = (None, None);
    assert_eq!(judge(&bundle, &both).split, "", "nothing speaks against it");
}

#[test]
fn a_version_that_is_slow_in_the_same_way_clears_nobody() {
    let split = judge(&bundle(), &[tried(of_suite(2), ProbeResult::Bad, 0.0)]);
    assert_eq!((split.split.as_str(), cleared(&split)), ("", vec![]));
    assert!(split.untested[2].why.ends_with("stays slow, but 98 % of the difference arises in it"), "{split:?}");
}

#[test]
fn a_library_that_waits_is_not_cleared_for_taking_no_processor_time() {
    let sleeper = vec![member("agent", 0.9, 0.01), member("sleeper", 0.0, 0.99)];
    let split = judge(&sleeper, &[tried(of_suite(0), ProbeResult::Bad, 0.0)]);
    assert_eq!((split.split.as_str(), cleared(&split)), ("sleeper", vec!["agent"]));
}

#[test]
fn two_that_cure_each_alone_are_not_split() {
    let both = [tried(of_suite(0), ProbeResult::Good, 1.0), tried(of_suite(2), ProbeResult::Good, 1.0)];
    assert_eq!(judge(&bundle(), &both).split, "");
    assert_eq!(judge(&bundle(), &both[..1]).split, "agent", "a cure counts for more than the profile");
}

#[test]
fn builds_must_have_every_soname_and_another_version() {
    let builds = [
        prefix("cipher", "3.1.3", &["libcipher.so.3", "libextra.so.3"]),
        prefix("cipher", "3.0.20", &["libcipher.so.3"]),
        prefix("cipher", "1.1.1w", &["libcipher.so.1.1"]),
    ];
    let all = ways(&bundle(), &["new-backports".to_string()], &builds);
    let found = all.iter().map(|way| match way {
        Way::DropIn { factor, prefix } => format!("{factor} {}", prefix.version),
        Way::OtherSuite { suite, factor, packages } => format!("{factor} {suite} {}", packages.join(" ")),
    });
    let expected = ["2 3.1.3", "0 new-backports libagent", "1 new-backports libfolder", "2 new-backports libcipher"];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let data = Member { name: "settings".to_string(), ..Member::default() };
    assert_eq!(ways(&[data], &["new-backports".to_string()], &builds), []);
}

#[test]
fn trying_ends_when_every_member_was_switched_and_no_member_is_tried_again_that_is_decided() {
    let bundle = bundle();
    let all = ways(&bundle, &["one".to_string(), "two".to_string()], &[prefix("cipher", "3.1.3", &["libcipher.so.3"])]);
    let mut attempt = |way: &Way| {
        let (result, place) = match way {
            Way::DropIn { .. } => (ProbeResult::Good, 0.9),
            Way::OtherSuite { .. } => (ProbeResult::Bad, 0.0),
        };
        Ok(Some(tried(way.clone(), result, place)))
    };
    let (found, tried) = split(&bundle, &all, &mut attempt).expect("no end");
    assert_eq!((found.split.as_str(), cleared(&found)), ("cipher", vec!["agent", "folder"]));
    assert_eq!(tried.iter().map(|tried| tried.way.factor()).collect::<Vec<_>>(), [2, 0, 1], "the build comes first");
}

#[test]
fn where_nothing_can_be_had_nothing_is_said_of_anybody_and_an_end_is_passed_on() {
    let all = ways(&bundle(), &["one".to_string(), "two".to_string()], &[]);
    let (found, none) = split(&bundle(), &all, &mut |_| Ok(None)).expect("no end");
    assert_eq!((found.split.as_str(), none.len(), found.untested.len()), ("", 0, 3));
    assert!(split(&bundle(), &all, &mut |_| Err(LabError::Interrupted)).is_err());
}

#[test]
fn suites_are_backports_then_between_then_after() {
    let suites = |good, bad| other_suites(good, bad);
    assert_eq!(suites("bullseye", "bookworm")[..2], ["bookworm-backports", "trixie"]);
    assert_eq!(suites("buster", "bookworm")[..3], ["bookworm-backports", "bullseye", "trixie"]);
    assert_eq!(suites("bullseye", "sid")[..2], ["duke", "forky"]);
    assert_eq!(suites("stable", "unheard-of"), ["unheard-of-backports"]);
}
