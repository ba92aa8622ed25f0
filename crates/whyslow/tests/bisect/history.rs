//! A history of a small C program that became slower twice: a real repository, real builds.

use super::asking::{ask_worlds, turn};
use crate::stage::{Stage, shell};
use case::{BisectionOutcome, Bond, ProbeResult};
use testing::budget;

/// Commits after the first.
const COMMITS: u32 = 120;

/// Makes the history in a folder: commits 37 and 90 make the program slower. One in five does not build, one in seven changes
/// a document only, one in four a remark only.
const MAKE: &str = r#"
set -e
cd "$FOLDER"
git init --quiet --initial-branch=main
commit() { git add . && git -c user.name=A -c user.email=a@example.org -c commit.gpgsign=false commit --quiet -m "$1"; }
source() {
    printf 'int main(void) { // %s\n    static const char version[] = "%s";\n' "$2" "$3"
    printf '    volatile unsigned long sum = version[0];\n'
    printf '    for (unsigned long turn = 0; turn < %sUL; turn++) sum += turn;\n    return sum == 1;\n}\n%s\n' "$1" "$4"
}
turns=100000000 remark=0 version=0
source $turns 0 0 > main.c
commit 'The first'
for number in $(seq 0 $((COMMITS - 1))); do
    broken=
    subject="Number $number"
    case $number in
    37) turns=150000000 subject='Sum up half as much again' ;;
    90) turns=300000000 subject='Sum up twice as much' ;;
    *)
        if [ $((number % 5)) = 3 ]; then broken='#error not yet'
        elif [ $((number % 7)) = 2 ]; then echo "$number" > README.md && commit "Document $number" && continue
        elif [ $((number % 4)) = 0 ]; then remark=$number
        else version=$number
        fi ;;
    esac
    source $turns $remark $version "$broken" > main.c
    echo "$number" > number
    commit "$subject"
done
"#;

#[test]
#[ignore = "long: make stories"]
fn two_commits_that_made_it_slower_are_found_among_120() {
    let Some(_turn) = turn() else { return };
    let stage = Stage::new();
    let folder = stage.path("");
    shell(&format!("export FOLDER='{}' COMMITS={COMMITS}\n{MAKE}", folder.display()));
    let worlds = [format!("git:HEAD~{COMMITS}"), "git:HEAD".to_string()];
    let budget = budget(400);
    let options = ["--build", "cc -g -O1 -o program main.c", "--budget", &budget];
    let answer = ask_worlds(&stage, &worlds, &options, &["./program"]);
    let bisection = &answer.bisection;
    let found = bisection.stairs.iter().flat_map(|stair| &stair.commits).collect::<Vec<_>>();
    let is_found = |subject: &str| found.iter().any(|name| name.ends_with(subject));
    assert!(
        found.len() == 2 && is_found("Sum up half as much again") && is_found("Sum up twice as much"),
        "{bisection:#?}"
    );
    for (stair, times) in bisection.stairs.iter().zip([1.5, 2.0]) {
        assert!((stair.times / times - 1.0).abs() < 0.15 && stair.low < stair.high, "{stair:?}");
    }
    let culprit = bisection.culprit.as_ref().expect("a culprit");
    assert_eq!((bisection.outcome, culprit.bond, answer.code), (BisectionOutcome::Confirmed, Bond::Each, 1));
    // 3 log2(120) builds a step.
    assert!(bisection.builds <= 2 * 3 * 7, "{} builds", bisection.builds);
    let untestable = bisection.probes.iter().filter(|probe| probe.result == ProbeResult::Untestable);
    assert!(untestable.clone().all(|probe| probe.note.contains("its build failed")), "{bisection:#?}");
    // What is built twice into the same, and what changes a document, is not run.
    let measured = bisection.probes.len() - untestable.count();
    assert!(measured as u32 + bisection.same_builds <= bisection.builds, "{bisection:#?}");
    assert!(!bisection.probes.iter().any(|probe| probe.asked[0].contains(" Document ")), "{bisection:#?}");
    assert!(bisection.summary.starts_with("It became slower in 2 steps: "), "{}", bisection.summary);
}
