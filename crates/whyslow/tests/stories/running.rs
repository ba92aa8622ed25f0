//! Running a story and reading its answer; what every answer must keep is asserted here.

use crate::attached::unconfirmed;
use case::facts::Deviation;
use case::{Answer, Finding, Status};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use testing::{alone, budget, is_root, skip, stretched};

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// Seconds after which a story is stuck, on a machine of the usual speed: the longest takes less than 80.
const LIMIT: Duration = Duration::from_mins(3);

/// The exit status with which a story says that something it needs is missing.
const SKIPPED_STATUS: i32 = 77;

/// A folder for one test, removed with it.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("whyslow-stories.{}.{number}", std::process::id()));
        fs::create_dir(&folder).expect("a folder for the test");
        Folder(folder)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A story that was run: what whyslow answered, and what the subject printed.
pub struct StoryRun {
    pub answer: Answer,
    pub exit: Option<i32>,
    pub stderr: String,
    pub case: PathBuf,
    _folder: Folder,
}

impl StoryRun {
    /// The finding of that name; fails with all names there are.
    pub fn finding(&self, name: &str) -> &Finding {
        let found = self.answer.findings.iter().find(|finding| finding.name == name);
        found.unwrap_or_else(|| panic!("no {name} among {:?}; {}", self.names(), self.answer.summary))
    }

    pub fn names(&self) -> Vec<&str> {
        self.answer.findings.iter().map(|finding| finding.name.as_str()).collect()
    }

    /// Fails unless it was accused of nothing.
    pub fn expect_no_accusation(&self) {
        let titles: Vec<_> = self.answer.findings.iter().map(|finding| (&finding.title, &finding.mechanism)).collect();
        assert!(titles.is_empty(), "accused of {titles:#?}");
        let expected = Some(expected_exit(&self.answer));
        assert_eq!(self.exit, expected, "the exit status of a run without findings\n{}", self.stderr);
        assert!(!self.answer.summary.is_empty(), "even without findings it says where the time went");
    }
}

/// The status of a run by its answer. Where so much was lost that nothing can be said, that is what it says.
fn expected_exit(answer: &Answer) -> i32 {
    let ledger = &answer.ledger;
    let lost = ledger.reconciled.as_ref().map_or(0, |reconciled| reconciled.lost_ns);
    let stands = |finding: &Finding| finding.status != Status::Refuted;
    match (!answer.findings.iter().any(stands), lost > 0 && ledger.unexplained * 5 > ledger.total) {
        (true, true) => 3,
        (true, false) => 0,
        (false, _) => 1,
    }
}

/// The built binary.
pub fn whyslow() -> Command {
    Command::new(env!("CARGO_BIN_EXE_whyslow"))
}

pub fn casebook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casebook").canonicalize().expect("the casebook")
}

/// Runs a story by the casebook's run.sh with all its words, and with variables of the environment that it goes by. None where it was skipped.
fn run_words(story: &str, words: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
    if !is_root() {
        return None;
    }
    let output = Command::new("timeout")
        .args(["--kill-after=10", &stretched(LIMIT).as_secs().to_string(), "bash"])
        .arg(casebook().join("run.sh"))
        .arg(story)
        .args(words)
        .envs(variables.iter().copied())
        .env("WHYSLOW", env!("CARGO_BIN_EXE_whyslow"))
        .stdin(Stdio::null())
        .output()
        .expect("timeout and bash");
    if output.status.code() == Some(SKIPPED_STATUS) {
        skip(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("skipped: "));
        return None;
    }
    Some(output)
}

/// Runs a story with `--json`, proving included, and checks what holds for every answer. None where it was skipped.
pub fn run_variant(story: &str, variant: &str) -> Option<StoryRun> {
    run_with(story, variant, &[])
}

/// The same without proving, where only the suspicion is of interest.
pub fn suspect(story: &str, variant: &str) -> Option<StoryRun> {
    run_with(story, variant, &["--no-prove"])
}

/// The same with options of the run.
pub fn run_with(story: &str, variant: &str, options: &[&str]) -> Option<StoryRun> {
    let folder = Folder::new();
    let case = folder.join("case");
    let own = ["--json", "-o", case.to_str().expect("UTF-8")];
    let output = run_words(story, &[&[variant], &own[..], options].concat(), &[])?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("stdout is not an answer: {error}\n{}\n{stderr}", String::from_utf8_lossy(&output.stdout))
    });
    let run = StoryRun { answer, exit: output.status.code(), stderr, case, _folder: folder };
    assert_eq!(run.answer.subject_exit, Some(0), "the story's client itself failed\n{}", run.stderr);
    expect_complete_ledger(&run.answer);
    assert_eq!(run.exit, Some(expected_exit(&run.answer)), "findings: {:?}\n{}", run.names(), run.stderr);
    Some(run)
}

/// The nagle story, slow and proved; run once for all tests, and alone: beside others it has too few rounds for what it is to show.
/// Whoever asks for it has no turn, which it would wait for. None where it was skipped.
pub fn nagle() -> Option<&'static StoryRun> {
    static TOLD: OnceLock<Option<StoryRun>> = OnceLock::new();
    let run_variant = || {
        let _turn = alone();
        // One start with nothing attached tells what fits; beside builds it takes twice as long as those that follow.
        run_with("nagle", "slow", &["--budget", &budget(240)])
    };
    TOLD.get_or_init(run_variant).as_ref()
}

/// What a story was asked with another command than `run`, and the document that answered it.
pub struct Asked<T> {
    pub document: T,
    pub exit: Option<i32>,
    pub stderr: String,
    pub case: PathBuf,
    _folder: Folder,
}

/// Asks a story in its own words (variant, mode, options of the command) with `--json`; `read` reads the document. None
/// where it was skipped.
pub fn ask<T>(
    story: &str,
    words: &[&str],
    variables: &[(&str, &str)],
    read: impl Fn(&[u8]) -> serde_json::Result<T>,
) -> Option<Asked<T>> {
    let folder = Folder::new();
    let case = folder.join("case");
    let own = ["--json", "-o", case.to_str().expect("UTF-8")];
    let output = run_words(story, &[words, &own[..]].concat(), variables)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = read(&output.stdout).unwrap_or_else(|error| {
        panic!("{words:?}: stdout is no such document: {error}\n{}\n{stderr}", String::from_utf8_lossy(&output.stdout))
    });
    Some(Asked { document, exit: output.status.code(), stderr, case, _folder: folder })
}

/// The three lines with which a command ended that could not do what it was asked; nothing is on stdout.
pub fn three_lines(output: &Output) -> [String; 3] {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    // What was being done until then may stand before them.
    let mut last = stderr.lines().rev().take(3).map(str::to_string).collect::<Vec<_>>();
    last.reverse();
    let lines: [String; 3] = last.try_into().unwrap_or_else(|lines| panic!("not three lines: {lines:?}"));
    let begins = ["whyslow: ", "  why: ", "  try: "];
    assert!(lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{stderr}");
    lines
}

/// A text without what differs from run to run: figures, their units, paths, line breaks.
pub fn steady_words(text: &str) -> Vec<&str> {
    let differs = |word: &&str| {
        word.contains(|letter: char| letter.is_ascii_digit() || letter == '/') || ["ns", "us", "ms", "s"].contains(word)
    };
    text.split_whitespace().filter(|word| !differs(&word.trim_matches([',', ';', '.', ')', '(']))).collect()
}

/// Fails unless the case, reported again, holds what the README shows under that heading, figures aside.
pub fn expect_readme(heading: &str, case: &Path) {
    expect_shown(include_str!("../../../../README.md"), &format!("<!-- {heading} output -->"), case);
}

/// The same of any text and the line before what it shows.
pub fn expect_shown(text: &str, heading: &str, case: &Path) {
    let block = text.split(heading).nth(1).and_then(|rest| rest.split("<!-- end").next());
    let shown = block.expect("a block of output").trim().trim_start_matches("```text").trim_end_matches("```");
    let output = whyslow().arg("report").arg(case).output().expect("whyslow report");
    let run = String::from_utf8_lossy(&output.stdout).into_owned();
    for paragraph in shown.split("\n\n") {
        let (shown, said) = (steady_words(paragraph).join(" "), steady_words(&run).join(" "));
        assert!(said.contains(&shown), "what is shown is\n{shown}\nand what is said is\n{said}");
    }
}

/// Fails unless the story's README shows this answer, figures aside: what is found, and how it stands.
pub fn expect_story_readme(story: &str, answer: &Answer) {
    let readme = fs::read_to_string(casebook().join(story).join("README.md")).expect("a README");
    let block = readme.split("<!-- output -->").nth(1).and_then(|rest| rest.split("<!-- end").next());
    let shown = steady_words(block.expect("a block of output")).join(" ");
    let confirmed = answer.findings.iter().filter(|finding| finding.status == Status::Confirmed);
    for words in confirmed.flat_map(|finding| [&finding.title, &finding.name]) {
        let said = steady_words(words).join(" ");
        assert!(shown.contains(&said), "{story}'s README shows\n{shown}\nand what is said is\n{said}");
    }
}

/// The accounts add up to the wall time within 1 %, and no more of it is unexplained than a twentieth, what was lost, and what
/// the scheduler did not confirm: on a crowded machine it switches late, and a hypervisor takes time away.
fn expect_complete_ledger(answer: &Answer) {
    let ledger = &answer.ledger;
    let total = ledger.total as f64;
    let named: u64 = ledger.accounts.iter().map(|account| account.ns).sum();
    assert!(total > 0.0 && !ledger.accounts.is_empty(), "the ledger is empty");
    let wall = answer.wall_ns as f64;
    assert!((total - wall).abs() <= 0.01 * wall, "the ledger is of {total} ns, the run of {wall} ns");
    assert_eq!(named, ledger.total, "the accounts, unexplained time among them, are the total: {ledger:#?}");
    assert_eq!(ledger.overbooked, 0, "no time is booked twice: {ledger:#?}");
    let reconciled = ledger.reconciled.as_ref().expect("every recording has the scheduler's sums");
    assert!(reconciled.threads > 0, "no thread was compared: {reconciled:#?}");
    let known = 0.05 * total + (reconciled.lost_ns + unconfirmed(ledger)) as f64;
    assert!((ledger.unexplained as f64) < known, "too much is unexplained: {ledger:#?}");
    // Counts hardly depend on the machine: where nothing was lost, next to nothing is missing. Of 20 runs of a Go client
    // beside others, 74 of 6,620 waits of one thread was the most.
    let is_short = |one: &&Deviation| !one.measure.is_time() && one.ledger * 50 < one.scheduler * 49;
    let uncounted = reconciled.deviations.iter().find(is_short);
    assert!(
        reconciled.lost_ns > 0 || uncounted.is_none(),
        "rows are missing that were not lost: {uncounted:#?}, {:?}",
        answer.losses
    );
}

/// The lines of a casebook program that carry the comment `casebook: MARKER`.
pub fn marked_line(program: &str, marker: &str) -> u32 {
    let source = fs::read_to_string(casebook().join(program)).expect("a program of the casebook");
    let marker = format!("casebook: {marker}");
    let line = source.lines().position(|line| line.contains(&marker));
    line.unwrap_or_else(|| panic!("{program} has no line marked '{marker}'")) as u32 + 1
}

/// Fails unless one of the finding's places is the marked line of the program.
pub fn expect_place(finding: &Finding, program: &str, marker: &str) {
    let line = marked_line(program, marker);
    let found = finding.place.iter().any(|place| place.file.ends_with(program) && place.line == line);
    assert!(found, "{program}:{line} is not among {:#?}", finding.place);
}

/// Fails unless the finding's mechanism mentions each of the words.
pub fn expect_mechanism(finding: &Finding, words: &[&str]) {
    let mechanism = finding.mechanism.join("\n");
    for word in words {
        assert!(mechanism.to_lowercase().contains(&word.to_lowercase()), "'{word}' is not in:\n{mechanism}");
    }
}
