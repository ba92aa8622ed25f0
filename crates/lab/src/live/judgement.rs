//! From windows to a verdict. Pure: the same windows give the same verdict.

use crate::engine::Stopped;
use crate::metric::Metric;
use crate::pairs::{middle, ratio};
use crate::verdict;
use crate::work::{self, Usual};
use case::facts::Work;
use case::tables::Trial;
use case::{Answer, Effect, Finding, Purpose, Status, Switched, Tried, Verdict, Window, put_proved_first, standing};
use record::Role;
use serde::{Deserialize, Serialize};
use stats::{Looks, Ratio};

/// Fewer pairs give an interval that reaches from nothing to anything.
pub const LEAST_PAIRS: usize = 4;

/// Clients that ask at their own pace do not ask more often when they are answered sooner.
const MISSED: &str = "requests arrived no sooner, as they would from clients that wait for each response; what other \
                      clients wait for can only be seen at their end";

/// What was measured: windows in turn, the first and the last without the intervention.
#[derive(Default)]
pub struct Measured {
    pub rows: Vec<Trial>,
    pub windows: Vec<Window>,
    /// On how many objects it was on at most at once.
    pub reached: u64,
    /// Why on none, where that is so.
    pub why_none: String,
    /// Why it went no further.
    pub stopped: Stopped,
    /// Why the switch does not work.
    pub failure: Option<String>,
    /// Why not everything is as it was.
    pub not_reverted: Option<String>,
}

/// What became of an intervention in a running program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// The windows.
    pub switched: Switched,
    /// What they say.
    pub tried: Tried,
    /// The effect on the finding's own metric and on others; none where nothing can be said.
    pub effect: Option<Effect>,
}

impl Live {
    /// Puts it into the answer: to the finding that it was tried for, the verdict, and the summary.
    pub fn enter(self, answer: &mut Answer) {
        let before = standing(&answer.findings);
        if let Some(finding) = answer.findings.iter_mut().find(|finding| finding.id == self.switched.finding) {
            if self.effect.is_some() {
                finding.status = self.tried.status;
                finding.effect = self.effect;
            }
            finding.tried.push(self.tried);
        }
        put_proved_first(&mut answer.findings);
        answer.live.push(self.switched);
        if let Some(rest) = answer.summary.strip_prefix(&before) {
            answer.summary = standing(&answer.findings) + rest;
        }
        let has = |status: Status| answer.findings.iter().any(|finding| finding.status == status);
        answer.verdict = match () {
            () if has(Status::Confirmed) => Verdict::Confirmed,
            () if has(Status::Suspected) || has(Status::Undecided) => Verdict::Suspected,
            () => Verdict::None,
        };
    }
}

/// What a finding is judged by in a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// The number of a window.
    pub metric: Metric,
    /// Whether it can stay as it is though the cause is gone: then that it did refutes nothing.
    pub can_miss: bool,
}

impl Gauge {
    /// At a server's end an exchange is over with its last write, and does not show how long the kernel holds that: how
    /// soon the next request comes does, where the client waits for the answer.
    pub fn of(finding: &Finding, intervention: &str, role: Role) -> Gauge {
        if intervention == "tcp-nodelay" && role == Role::Server {
            return Gauge { metric: Metric::ElapsedPerExchange, can_miss: true };
        }
        // There are exchanges, or nothing is tried.
        Gauge { metric: finding.cost.metric(1), can_miss: false }
    }
}

/// Each window with the intervention, and the mean of its two neighbours before it: where all three have a value.
pub fn pairs(rows: &[Trial], metric: &Metric) -> Vec<(f64, f64)> {
    let of = |row: &Trial| metric.of(row).filter(|_| row.applied);
    let pair = |three: &[Trial]| Some((f64::midpoint(of(&three[0])?, of(&three[2])?), of(&three[1])?));
    rows.windows(3).step_by(2).filter_map(pair).collect()
}

/// Whether no further pair is needed.
pub fn is_settled(ratio: &Ratio) -> bool {
    verdict::status(ratio) != Status::Undecided
}

/// The rule of trials: a gain that is certain is still not the suspected one where it is less than a tenth of that.
fn status(ratio: &Ratio, finding: &Finding) -> Status {
    match verdict::status(ratio) {
        Status::Undecided if verdict::is_far_below(ratio, finding) => Status::Refuted,
        Status::Refuted if verdict::is_slower(ratio) => Status::Undecided,
        Status::Confirmed if ratio.high < verdict::a_part_of(finding) => Status::Undecided,
        status => status,
    }
}

/// Nothing was tried, and why.
pub fn not_tried(finding: &Finding, intervention: &str, why: String) -> Live {
    let measured = Measured { why_none: why, ..Measured::default() };
    judge(finding, intervention, &Gauge::of(finding, intervention, Role::Client), measured)
}

/// What the windows say.
pub fn judge(finding: &Finding, intervention: &str, gauge: &Gauge, measured: Measured) -> Live {
    let metric = &gauge.metric;
    let looks = Looks::standard();
    let pairs_of = |metric: &Metric| pairs(&measured.rows, metric);
    let ratio_of = |metric: &Metric| ratio(&looks, &pairs_of(metric)).filter(|ratio| ratio.pairs >= LEAST_PAIRS);
    let found = ratio_of(metric);
    let has_gone = measured.stopped == Stopped::Gone;
    let status = match &found {
        Some(ratio) if measured.reached > 0 && !has_gone => status(ratio, finding),
        _ => Status::Undecided,
    };
    let is_missed = status == Status::Refuted && gauge.can_miss;
    let (work, difference) = work_of(&measured.rows);
    let is_cure = status == Status::Confirmed && work == Work::Same;
    let status = if is_missed || (status == Status::Confirmed && !is_cure) { Status::Undecided } else { status };
    let problem = match (work, found.as_ref()) {
        (Work::Other, Some(_)) => difference,
        (Work::NotCompared, Some(ratio)) if ratio.low > 1.0 => work::NOT_COMPARED.to_string(),
        _ => problem(&measured, found.is_some(), is_missed),
    };
    let own = pairs_of(metric);
    let value = |of: fn(&(f64, f64)) -> f64| metric.shown(middle(own.iter().map(of)));
    let tried = Tried {
        intervention: intervention.to_string(),
        ratio: found.as_ref().map_or(0.0, |ratio| ratio.ratio),
        low: found.as_ref().map_or(0.0, |ratio| ratio.low),
        high: found.as_ref().map_or(0.0, |ratio| ratio.high),
        applied: measured.reached > 0,
        status,
        metric: metric.clone(),
        purpose: Purpose::Cause,
        dose: String::new(),
        before: value(|pair| pair.0),
        after: value(|pair| pair.1),
        trials: measured.rows.len() as u32,
        problem,
        work,
        reference: String::new(),
    };
    let effect = found.map(|_| effect(&tried, metric, &ratio_of));
    let switched = Switched {
        intervention: intervention.to_string(),
        finding: finding.id.clone(),
        windows: measured.windows,
        reached: measured.reached,
        thing: super::thing(intervention),
        reverted: measured.not_reverted.is_none(),
        problem: measured.not_reverted.unwrap_or_else(|| tried.problem.clone()),
    };
    Live { switched, tried, effect }
}

/// Whether the program did the same in the windows with it as in those without, and how it differs.
fn work_of(rows: &[Trial]) -> (Work, String) {
    let without = rows.iter().step_by(2).collect::<Vec<_>>();
    let judged = rows.iter().skip(1).step_by(2).map(|row| {
        let (word, difference) = Usual::for_window(without.iter().copied()).judge(row);
        let problem = difference.map(|difference| difference.to_string()).unwrap_or_default();
        Trial { work: word, problem, ..row.clone() }
    });
    let judged = judged.collect::<Vec<_>>();
    let last = judged.iter().rfind(|row| !row.problem.is_empty());
    (work::of_arm(&judged.iter(), false), last.map(|row| row.problem.clone()).unwrap_or_default())
}

fn effect(tried: &Tried, metric: &Metric, ratio_of: &dyn Fn(&Metric) -> Option<Ratio>) -> Effect {
    let all = [Metric::ElapsedPerExchange, Metric::WallPerExchange, Metric::CpuPerExchange];
    let measured = |metric: Metric| {
        let Ratio { ratio, low, high, .. } = ratio_of(&metric)?;
        Some(case::Measured { metric, ratio, low, high })
    };
    Effect {
        intervention: tried.intervention.clone(),
        metric: tried.metric.clone(),
        before: tried.before,
        after: tried.after,
        ratio: tried.ratio,
        low: tried.low,
        high: tried.high,
        trials: tried.trials,
        // The windows without it are the sham; there are none without its machinery.
        sham_ratio: 0.0,
        also: all.into_iter().filter(|one| one != metric).filter_map(measured).collect(),
    }
}

/// Why it did not take effect, or was not decided; empty where all is well.
fn problem(measured: &Measured, has_ratio: bool, is_missed: bool) -> String {
    if let Some(failure) = &measured.failure {
        return failure.clone();
    }
    let why = match measured.stopped {
        Stopped::Gone => "the program ended during the measurement",
        Stopped::Interrupted => "it was interrupted by Ctrl-C or a signal",
        Stopped::NothingSound => "no exchange completed during the measurement",
        _ if measured.reached == 0 => &measured.why_none,
        _ if !has_ratio && measured.rows.iter().all(|row| row.exchanges > 0) => {
            "the budget was too short for enough windows"
        }
        _ if !has_ratio => "too few windows saw an exchange complete",
        _ if is_missed => MISSED,
        _ => "",
    };
    why.to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use case::{Cost, Nanos};

    pub fn finding(id: &str) -> Finding {
        Finding {
            id: id.into(),
            name: "a-cause".into(),
            status: Status::Suspected,
            cost: Cost { ns_per_exchange: 40_000_000, share_of_wall: 0.9, ..Cost::default() },
            ..Finding::default()
        }
    }

    /// Windows of one second, off and on in turn, in which exchanges took so many milliseconds.
    fn measured(each: &[f64]) -> Measured {
        let row = |milliseconds: &f64| {
            let exchanges = (1_000.0 / milliseconds) as u64;
            let exchange_wall = Nanos((exchanges as f64 * milliseconds * 1e6) as u64);
            let (made, answered_bytes) = (exchanges, exchanges * 500);
            let row =
                Trial { wall: Nanos::SECOND, exchanges, exchange_wall, applied: true, exit: -1, ..Trial::default() };
            Trial { made, answered_bytes, ..row }
        };
        Measured { rows: each.iter().map(row).collect(), reached: 1, ..Measured::default() }
    }

    fn judged(intervention: &str, measured: Measured) -> Live {
        let finding = finding("P01");
        judge(&finding, intervention, &Gauge::of(&finding, intervention, Role::Client), measured)
    }

    #[test]
    fn a_gain_in_windows_in_which_answers_are_others_is_no_cure() {
        let mut measured = measured(&FAST_WHEN_ON);
        for row in measured.rows.iter_mut().skip(1).step_by(2) {
            row.answered_bytes = row.made * 90;
        }
        let tried = judged("tcp-nodelay", measured).tried;
        assert_eq!((tried.status, tried.work), (Status::Undecided, Work::Other));
        assert!(tried.problem.contains("90 bytes on average instead of 500"), "{}", tried.problem);
    }

    const FAST_WHEN_ON: [f64; 9] = [40.0, 2.0, 41.0, 2.1, 40.5, 2.0, 40.0, 1.9, 40.2];

    #[test]
    fn windows_that_are_fast_whenever_it_is_on_confirm_it() {
        let live = judged("tcp-nodelay", measured(&FAST_WHEN_ON));
        assert_eq!(live.tried.status, Status::Confirmed, "{live:?}");
        assert!(live.tried.ratio > 15.0 && live.tried.low > 1.0 && live.tried.problem.is_empty());
        assert!((live.tried.before / 40.5e6 - 1.0).abs() < 0.01 && (live.tried.after / 2e6 - 1.0).abs() < 0.01);
        assert!(
            live.effect.is_some_and(|effect| effect.also.iter().any(|one| one.metric == Metric::ElapsedPerExchange))
        );
        assert!(live.switched.reverted);
    }

    #[test]
    fn a_program_that_becomes_slower_by_itself_confirms_nothing() {
        let drifting = (0..25).map(|window| 10.0 * 1.1_f64.powi(window)).collect::<Vec<_>>();
        let live = judged("tcp-nodelay", measured(&drifting));
        assert_eq!(live.tried.status, Status::Refuted, "{:?}", live.tried);
        let steady = judged("tcp-nodelay", measured(&[40.0; 9]));
        assert_eq!(steady.tried.status, Status::Refuted);
    }

    #[test]
    fn what_reached_nothing_or_saw_the_program_end_confirms_nothing() {
        let unreached = Measured { reached: 0, why_none: "no connection".into(), ..measured(&FAST_WHEN_ON) };
        let ended = Measured { stopped: Stopped::Gone, ..measured(&FAST_WHEN_ON) };
        let short = measured(&FAST_WHEN_ON[..7]);
        let mut silent = measured(&FAST_WHEN_ON);
        silent.rows[1].exchanges = 0;
        for (measured, why) in [
            (unreached, "no connection"),
            (ended, "the program ended"),
            (short, "the budget was too short"),
            (silent, "too few windows"),
        ] {
            let live = judged("tcp-nodelay", measured);
            assert_eq!(live.tried.status, Status::Undecided, "{why}");
            assert!(live.tried.problem.starts_with(why), "{}", live.tried.problem);
        }
    }

    #[test]
    fn a_server_is_judged_by_how_soon_it_is_asked_again_and_not_refuted_by_clients_that_do_not_wait() {
        let finding = finding("P01");
        let gauge = Gauge::of(&finding, "tcp-nodelay", Role::Server);
        assert_eq!(gauge.metric, Metric::ElapsedPerExchange);
        let of = |each: &[f64]| judge(&finding, "tcp-nodelay", &gauge, measured(each)).tried;
        assert_eq!(of(&FAST_WHEN_ON).status, Status::Confirmed);
        let unmoved = of(&[40.0; 9]);
        assert_eq!((unmoved.status, unmoved.problem.as_str()), (Status::Undecided, MISSED));
        assert!(!Gauge::of(&finding, "cpu-quota", Role::Server).can_miss);
    }

    #[test]
    fn a_window_in_which_nothing_was_reached_or_exchanged_makes_no_pair() {
        let mut rows = measured(&FAST_WHEN_ON).rows;
        assert_eq!(pairs(&rows, &Metric::WallPerExchange).len(), 4);
        rows[1].applied = false;
        rows[5].exchanges = 0;
        assert_eq!(pairs(&rows, &Metric::WallPerExchange).len(), 2);
    }

    #[test]
    fn the_answer_says_what_became_of_its_finding() {
        let mut answer = Answer {
            verdict: Verdict::Suspected,
            summary: "a-cause is suspected. It waits.".into(),
            findings: vec![finding("P01")],
            ..Answer::default()
        };
        let unreached = not_tried(&answer.findings[0], "tcp-nodelay", "nothing is open".into());
        unreached.enter(&mut answer);
        assert_eq!((answer.verdict, answer.findings[0].status), (Verdict::Suspected, Status::Suspected));
        judged("tcp-nodelay", measured(&FAST_WHEN_ON)).enter(&mut answer);
        assert_eq!((answer.verdict, answer.findings[0].status), (Verdict::Confirmed, Status::Confirmed));
        assert_eq!(answer.summary, "a-cause is confirmed. It waits.");
        assert_eq!((answer.live.len(), answer.findings[0].tried.len()), (2, 2));
    }
}
