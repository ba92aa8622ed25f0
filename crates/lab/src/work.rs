//! Whether a trial did the work that runs without interventions do, as far as it can be seen from outside: exchanges, the bytes
//! of their answers, HTTP statuses, broken handshakes, connections reset. A cure that changes the work proves nothing.

#[cfg(test)]
mod tests;

use crate::aspect::Aspect;
use crate::interventions;
use crate::outputs::LEAST_REFERENCES;
use case::facts::Work;
use case::tables::{Trial, output, work};
use std::fmt;

/// Why a gain proves nothing where nothing tells what the program did meanwhile.
pub const NOT_COMPARED: &str = "whether it still did the same work could not be compared; a client that prints what it did would tell, or --metric";

/// What the trials of an arm come to. One in [`RARE`] that did other work can be chance, which the pairs leave out; more of them are
/// what the arm does. Of a program that `ends`, only a run to its end shows that it does all its work.
pub fn of_arm<'t>(own: &(impl Iterator<Item = &'t Trial> + Clone), ends: bool) -> Work {
    let is_other = |trial: &&Trial| trial.work == work::OTHER || trial.output == output::DIFFERENT;
    let others = own.clone().filter(is_other).count();
    let is_same = |trial: &Trial| {
        (trial.work == work::SAME || trial.output == output::SAME)
            && (trial.exit >= 0 || !ends)
            && trial.problem.is_empty()
    };
    match () {
        () if others * RARE > own.clone().count() => Work::Other,
        () if own.clone().any(is_unsettled) => Work::NotCompared,
        () if own.clone().any(is_same) => Work::Same,
        () => Work::NotCompared,
    }
}

/// Whether a trial seems to have done other work, and too few without interventions are there to tell.
pub fn is_unsettled(trial: &Trial) -> bool {
    trial.work == work::UNSETTLED || trial.output == output::UNSETTLED
}

/// One trial in so many may do other work by chance.
const RARE: usize = 8;
/// Runs may differ in what they exchange by this share without having done other work: what is under way when a program ends, and
/// requests that happened to be read together.
const SLACK: f64 = 0.02;
/// Of trials that were cut: where exactly differs.
const SLACK_OF_CUT: f64 = 0.10;
/// A program's answers differ in length from run to run as runs with nothing attached show. Few of them do not show everything: a
/// date or a counter has a digit more. Answers of which the last tenth lacks a twentieth differ by this on average.
const SLACK_OF_BYTES: f64 = 0.005;
/// What ends a TLS connection (close_notify) takes so many bytes: in TLS 1.3 (RFC 8446, 5.2), and in TLS 1.2 with AES-GCM (RFC 5288).
const FAREWELLS: [u64; 2] = [24, 31];
/// Where runs with nothing attached differ among themselves by this factor, nothing can be concluded from a difference.
const WIDEST: f64 = 1.5;

/// How a trial differs from what runs without interventions did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// Another number of exchanges, and the usual one.
    Exchanges(u64, u64),
    /// Another number of bytes an answer, and the usual one.
    Bytes(f64, f64),
    /// A share of answers that are errors (4xx, 5xx), and the usual one.
    Errors(f64, f64),
    /// A share of answers that send the client elsewhere (3xx), and the usual one.
    Redirections(f64, f64),
    /// No HTTP status was seen, where there always is one.
    NoStatus,
    /// So many TLS handshakes were broken off.
    Alerts(u64),
    /// So many calls found their connection reset or refused.
    Resets(u64),
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let percent = |share: f64| (share * 100.0).round();
        match self {
            Difference::Exchanges(own, usual) => write!(out, "the program made {own} requests instead of {usual}"),
            Difference::Bytes(own, usual) => write!(out, "answers had {own:.0} bytes on average instead of {usual:.0}"),
            Difference::Errors(own, usual) => {
                write!(out, "{} % of the answers were HTTP errors instead of {} %", percent(*own), percent(*usual))
            }
            Difference::Redirections(own, usual) => {
                write!(out, "{} % of the answers were redirections instead of {} %", percent(*own), percent(*usual))
            }
            Difference::NoStatus => write!(out, "no answer began with an HTTP status any more"),
            Difference::Alerts(own) => write!(out, "TLS handshakes were broken off ({own})"),
            Difference::Resets(own) => write!(out, "connections were reset or refused ({own})"),
        }
    }
}

/// What runs without interventions did.
pub struct Usual<'a> {
    rows: Vec<&'a Trial>,
    /// Whether they are about as much of the program's run as the trial: only then does a difference mean anything.
    is_as_much: bool,
}

/// A trial that was cut after so many times the requests of the others has seen another part of the run.
const FURTHER: f64 = 2.0;

impl<'a> Usual<'a> {
    /// From the runs that are like a trial: whole, or cut, as it is. Where there are none the others, which can only tell that
    /// it is the same.
    pub fn for_trial(trial: &Trial, references: impl Iterator<Item = &'a Trial>) -> Usual<'a> {
        let sound = references.filter(|row| row.problem.is_empty() && row.wall.0 > 0);
        let (alike, others): (Vec<_>, Vec<_>) = sound.partition(|row| (row.exit >= 0) == (trial.exit >= 0));
        let rows = if alike.is_empty() { others } else { alike };
        let most = rows.iter().map(|row| row.made).max().unwrap_or(0);
        let is_no_further = trial.made as f64 <= most as f64 * FURTHER;
        let is_as_much = rows.iter().all(|row| (row.exit >= 0) == (trial.exit >= 0));
        Usual { rows, is_as_much: is_as_much && (trial.exit >= 0 || is_no_further) }
    }

    /// From the windows of a program that goes on doing the same.
    pub fn for_window(references: impl Iterator<Item = &'a Trial>) -> Usual<'a> {
        Usual { rows: references.filter(|row| row.wall.0 > 0).collect(), is_as_much: true }
    }

    /// Whether there are too few of them to say that a trial differs, which it seems to.
    pub fn asks_for_more(&self, trial: &Trial) -> bool {
        let has_enough = self.is_as_much && self.rows.len() >= LEAST_REFERENCES;
        !has_enough && self.difference(trial).is_some()
    }

    /// What a trial's work comes to, as `case::tables::work` counts it, and how it differs.
    pub fn judge(&self, trial: &Trial) -> (u8, Option<Difference>) {
        let difference = self.difference(trial);
        match difference {
            Some(_) if !self.is_as_much => (work::NOT_COMPARED, None),
            Some(_) if self.rows.len() < LEAST_REFERENCES => (work::UNSETTLED, None),
            Some(_) => (work::OTHER, difference),
            None if self.tells_something(trial) => (work::SAME, None),
            None => (work::NOT_COMPARED, None),
        }
    }

    /// How a trial differs, whether or not there are enough to compare it with.
    fn difference(&self, trial: &Trial) -> Option<Difference> {
        if self.rows.is_empty() {
            return None;
        }
        let may_change = may_change(&trial.arm);
        let exchanges = || self.exchanges(trial).filter(|_| !may_change.contains(&Aspect::Exchanges));
        let bytes = || self.bytes(trial).filter(|_| !may_change.contains(&Aspect::Bytes));
        let statuses = || self.statuses(trial).filter(|_| !may_change.contains(&Aspect::Statuses));
        self.failures(trial).or_else(exchanges).or_else(statuses).or_else(bytes)
    }

    fn exchanges(&self, trial: &Trial) -> Option<Difference> {
        let (low, high) = self.range(|row| row.made as f64)?;
        let own = trial.made as f64;
        if trial.exit < 0 || !self.is_as_much || low <= 0.0 || high / low > WIDEST {
            return None;
        }
        let spread = high - low + high * SLACK;
        let is_fewer = own < low - spread;
        // What makes requests for a given time makes more of them where each takes less.
        let (short, long) = self.range(|row| row.wall.0 as f64)?;
        let is_for_a_time =
            (short * (1.0 - SLACK_OF_CUT)..=long * (1.0 + SLACK_OF_CUT)).contains(&(trial.wall.0 as f64));
        let is_more = own > high + spread && !is_for_a_time;
        (is_fewer || is_more).then_some(Difference::Exchanges(trial.made, low as u64))
    }

    fn bytes(&self, trial: &Trial) -> Option<Difference> {
        let usual = self.bytes_an_answer()?;
        let own = bytes_an_answer(trial)?;
        let slack = usual.high * self.slack_of_bytes(trial);
        let is_usual = own.0 <= usual.high + usual.spread + slack && own.1 >= usual.low - usual.spread - slack;
        let is_same = is_usual || self.is_the_same_in_all(trial) || self.differs_by_farewells(trial);
        (!is_same).then_some(Difference::Bytes(own.0, usual.low))
    }

    fn slack_of_bytes(&self, trial: &Trial) -> f64 {
        let is_within = |slack: f64| {
            let made = self.range(|row| row.made as f64);
            made.is_some_and(|(low, high)| (low * (1.0 - slack)..=high * (1.0 + slack)).contains(&(trial.made as f64)))
        };
        let as_many = is_within(SLACK);
        match trial.exit {
            0.. if is_within(0.0) => SLACK_OF_BYTES,
            // A request, or a part of a handshake, that was read together with the next is none of its own, and its answer is longer
            // or shorter than most.
            0.. if as_many => SLACK,
            0.. => SLACK_OF_BYTES,
            // Some answers were under way.
            _ if as_many => SLACK,
            // Later requests may be others.
            _ => SLACK_OF_CUT,
        }
    }

    /// Whether the answers of a whole run are as long as usual together: some may have been read as one.
    fn is_the_same_in_all(&self, trial: &Trial) -> bool {
        let Some((low, high)) = self.range(|row| row.answered_bytes as f64) else { return false };
        let spread = high - low + high * SLACK_OF_BYTES;
        let is_usual = (low - spread..=high + spread).contains(&(trial.answered_bytes as f64));
        trial.exit >= 0 && self.is_as_much && is_usual
    }

    /// Whether a whole run, encrypted, differs from another by the ends of its connections alone: whether one of these is read with
    /// the answer before it is a matter of when it arrives. As much in every answer is no matter of chance.
    fn differs_by_farewells(&self, trial: &Trial) -> bool {
        let is_hidden = |row: &Trial| row.status_2xx + row.status_3xx + row.status_4xx + row.status_5xx == 0;
        let is_alike = |row: &Trial| {
            let difference = row.answered_bytes.abs_diff(trial.answered_bytes);
            let by = |farewell: u64| difference.is_multiple_of(farewell) && difference / farewell < trial.made;
            row.made == trial.made && is_hidden(row) && FAREWELLS.into_iter().any(by)
        };
        trial.exit >= 0 && self.is_as_much && is_hidden(trial) && self.rows.iter().any(|row| is_alike(row))
    }

    fn statuses(&self, trial: &Trial) -> Option<Difference> {
        let errors = |row: &Trial| share(row.status_4xx + row.status_5xx, row);
        let elsewhere = |row: &Trial| share(row.status_3xx, row);
        let (_, most_errors) = self.range(errors)?;
        let Some((own_errors, own_elsewhere)) = errors(trial).zip(elsewhere(trial)) else {
            return (trial.made > 0).then_some(Difference::NoStatus);
        };
        if own_errors > most_errors + SLACK {
            return Some(Difference::Errors(own_errors, most_errors));
        }
        let (least, most) = self.range(elsewhere)?;
        let is_usual = (least - SLACK..=most + SLACK).contains(&own_elsewhere);
        (!is_usual).then_some(Difference::Redirections(own_elsewhere, most))
    }

    /// More of what fails, by more than a share of the exchanges: a connection that is reset as a program ends is chance.
    fn failures(&self, trial: &Trial) -> Option<Difference> {
        let is_more = |count: fn(&Trial) -> u64| {
            let rate = |row: &Trial| count(row) as f64 / row.made.max(1) as f64;
            let usual = self.rows.iter().map(|row| rate(row)).fold(0.0, f64::max);
            count(trial) > 0 && rate(trial) > usual + SLACK
        };
        let alerts = is_more(|row| row.alerts).then_some(Difference::Alerts(trial.alerts));
        let may_reset = may_change(&trial.arm).contains(&Aspect::Resets);
        let resets = || (!may_reset && is_more(|row| row.resets)).then_some(Difference::Resets(trial.resets));
        alerts.or_else(resets)
    }

    /// Whether that nothing differs means anything.
    fn tells_something(&self, trial: &Trial) -> bool {
        let may_change = may_change(&trial.arm);
        let has_statuses = self.range(|row| share(0, row)).is_some() && !may_change.contains(&Aspect::Statuses);
        let has_bytes = self.bytes_an_answer().is_some() && bytes_an_answer(trial).is_some_and(|own| own.1.is_finite());
        trial.made > 0 && (has_statuses || (has_bytes && !may_change.contains(&Aspect::Bytes)))
    }

    /// How many bytes an answer has; none where that varies too much to tell anything.
    fn bytes_an_answer(&self) -> Option<UsualBytes> {
        let least = self.range(|row| bytes_an_answer(row).map(|own| own.0))?;
        let most = self.range(|row| bytes_an_answer(row).map(|own| own.1))?;
        let spread = (least.1 - least.0).max(most.1 - most.0);
        let usual = UsualBytes { low: least.0, high: most.1, spread };
        (usual.high / usual.low.max(1.0) <= WIDEST).then_some(usual)
    }

    /// The least and the most of a measure; none where one of them does not have it.
    fn range<T: Into<Option<f64>>>(&self, measure: impl Fn(&Trial) -> T) -> Option<(f64, f64)> {
        let all = self.rows.iter().map(|row| measure(row).into()).collect::<Option<Vec<f64>>>()?;
        let low = all.iter().copied().reduce(f64::min)?;
        Some((low, all.into_iter().fold(low, f64::max)))
    }
}

/// How many bytes an answer has in runs without interventions.
struct UsualBytes {
    low: f64,
    high: f64,
    /// By how much that differs from run to run.
    spread: f64,
}

/// A share of the answers whose status was seen; none where none was.
fn share(count: u64, row: &Trial) -> Option<f64> {
    let seen = row.status_2xx + row.status_3xx + row.status_4xx + row.status_5xx;
    (seen > 0).then(|| count as f64 / seen as f64)
}

/// How many bytes an answer has, at least and at most: a trial can be cut within its last one.
fn bytes_an_answer(row: &Trial) -> Option<(f64, f64)> {
    let each = |answers: u64| row.answered_bytes as f64 / answers as f64;
    let whole = if row.exit < 0 { row.made - row.made.min(1) } else { row.made };
    (row.made > 0 && row.answered_bytes > 0).then(|| (each(row.made), each(whole)))
}

/// What the interventions of an arm may change of the work.
fn may_change(arm: &str) -> Vec<Aspect> {
    let names = arm.split('+').filter_map(|part| part.split('=').next());
    names.filter_map(interventions::find).flat_map(|one| one.may_change).copied().collect()
}
