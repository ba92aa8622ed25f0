//! Windows in turn: off, on, off, on, ... off, until the looks decide or the budget is spent.

use super::judgement::{self, Gauge, LEAST_PAIRS, Measured};
use super::target::Target;
use super::{LiveTerms, State, Switch};
use crate::engine::{self, Budget, Design, Entry, Order, Pace, State as Progress, Stop, Stopped, Study};
use crate::error::LabError;
use crate::pairs::ratio;
use crate::trial::work_seen;
use case::tables::Trial;
use case::{Nanos, Window};
use record::{ConnectionOrigin, Meter, Reading, Role};
use stats::Looks;
use std::time::{Duration, Instant};

/// What is left out after a switch: an exchange that was held up by a delayed acknowledgement (40 ms) is over by then.
const SETTLING: Duration = Duration::from_millis(60);
/// How often is looked for new connections, and whether the program still runs.
const REFRESH: Duration = Duration::from_millis(200);
/// No window is shorter, whatever the budget: it holds five exchanges that are stalled for 40 ms each.
const SHORTEST: Duration = Duration::from_millis(250);
/// After so many pairs what is open stays open: the program is somebody's.
const MOST_PAIRS: u32 = 12;
/// The arms, by their numbers: the windows without it are its sham, the same machinery inert.
const ARMS: [State; 2] = [State::On, State::Off];

/// An experiment on a running program.
pub struct Windows<'a> {
    gauge: &'a Gauge,
    target: Target,
    switch: Box<dyn Switch>,
    meter: &'a mut Meter,
    terms: &'a LiveTerms<'a>,
    /// How long each window is.
    length: Duration,
    wait: &'a mut dyn FnMut(Duration) -> bool,
    looks: Looks,
    state: Progress,
    has_gone: bool,
    measured: Measured,
}

impl Study for Windows<'_> {
    fn state(&self) -> &Progress {
        &self.state
    }

    fn state_mut(&mut self) -> &mut Progress {
        &mut self.state
    }
}

impl<'a> Windows<'a> {
    pub fn new(
        gauge: &'a Gauge,
        target: Target,
        switch: Box<dyn Switch>,
        meter: &'a mut Meter,
        terms: &'a LiveTerms<'a>,
        wait: &'a mut dyn FnMut(Duration) -> bool,
    ) -> Windows<'a> {
        let (looks, state, measured) = (Looks::standard(), Progress::new(terms.budget), Measured::default());
        let (length, has_gone) = (length(terms), false);
        Windows { gauge, target, switch, meter, terms, length, wait, looks, state, has_gone, measured }
    }

    /// Measures, and sets everything back.
    pub fn run(mut self) -> Measured {
        match self.alternate() {
            Ok(stopped) => self.measured.stopped = stopped,
            Err(error) => self.measured.failure = Some(error.to_string()),
        }
        self.measured.reached = self.measured.reached.max(self.switch.reached());
        let back = self.switch.turn(State::Off);
        // The connections of a program that has ended are gone with it.
        let has_gone = !self.target.runs();
        self.measured.not_reverted = back.err().filter(|_| !has_gone).map(|error| error.to_string());
        if has_gone {
            (self.measured.stopped, self.measured.failure) = (Stopped::Gone, None);
        }
        if self.measured.reached == 0 {
            let was_on = self.measured.windows.iter().any(|window| window.on);
            self.measured.why_none = if was_on { self.switch.why_none() } else { too_short() };
        }
        self.measured
    }

    /// The first window without it, then pairs of one with it and one without, until a look decides.
    fn alternate(&mut self) -> Result<Stopped, LabError> {
        let first = self.first_window()?;
        if first != Stopped::MostRounds {
            return Ok(first);
        }
        let expected = self.length + SETTLING;
        let design = Design {
            arms: vec![entry(State::On), Entry::reference(name(State::Off))],
            order: Order::Listed(vec![0, 1]),
            most_rounds: MOST_PAIRS,
            budget: Budget { time: self.terms.budget, pace: Pace::Usual { expected } },
            open: Design::<Self>::all(ARMS.len()),
            stop: while_it_runs(|windows| windows.is_settled().then_some(Stopped::Answered)),
            ..self.design()
        };
        engine::run(&design, self, &mut |windows, turn| windows.window(ARMS[turn.arm]))
    }

    /// The first window, on the side that is measured from then on. What a server asks of others is part of what is asked of
    /// it: where it has accepted anything, that counts.
    fn first_window(&mut self) -> Result<Stopped, LabError> {
        let outer = (self.terms.role == Role::Server).then_some(ConnectionOrigin::Accepted);
        let sides = if self.terms.origin.is_some() { vec![self.terms.origin] } else { vec![outer, None] };
        for side in sides {
            self.meter.tell(side);
            self.measured.rows.clear();
            self.measured.windows.clear();
            let stopped = engine::run(&self.design(), self, &mut |windows, _| windows.window(State::Off))?;
            let has_exchanges = self.measured.rows.iter().any(|row| row.exchanges > 0);
            if stopped != Stopped::MostRounds || has_exchanges {
                return Ok(stopped);
            }
        }
        Ok(Stopped::NothingSound)
    }

    /// One window without it.
    fn design<'d>(&self) -> Design<'d, Self>
    where
        'a: 'd,
    {
        Design {
            doing: "proving",
            arms: vec![entry(State::Off)],
            order: Order::Listed(vec![0]),
            most_rounds: 1,
            budget: Budget { time: self.terms.budget, pace: Pace::Unlimited },
            open: Box::new(|_| vec![0]),
            stop: while_it_runs(|_| None),
            say: self.terms.say,
        }
    }

    /// Whether a look decides.
    fn is_settled(&self) -> bool {
        let pairs = judgement::pairs(&self.measured.rows, &self.gauge.metric);
        self.looks.is_look(pairs.len()) && ratio(&self.looks, &pairs).is_some_and(|ratio| judgement::is_settled(&ratio))
    }

    /// One window, after it has settled.
    fn window(&mut self, state: State) -> Result<(), LabError> {
        let begun = Instant::now();
        self.switch.turn(state)?;
        if !self.pass(SETTLING)? {
            return Ok(());
        }
        let (first, before) = (self.meter.read(), self.meter.lengths());
        if !self.pass(self.length)? {
            return Ok(());
        }
        let last = self.meter.read();
        let lengths = self.meter.lengths().since(&before);
        let reached = self.switch.reached();
        self.measured.reached = self.measured.reached.max(reached);
        let length = |share| lengths.quantile(share).unwrap_or_default();
        let row = Trial {
            exchange_p50: length(0.5),
            exchange_p95: length(0.95),
            exchange_p99: length(0.99),
            applied: state == State::Off || reached > 0,
            ..row(&first, &last)
        };
        self.measured.windows.push(window(&row, state));
        self.measured.rows.push(row);
        self.state.book(Some(name(state)), begun.elapsed());
        Ok(())
    }

    /// Lets time pass, with an eye on what comes and goes. Whether the program still runs.
    fn pass(&mut self, time: Duration) -> Result<bool, LabError> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(true);
            }
            if (self.wait)(left.min(REFRESH)) {
                return Err(LabError::Interrupted);
            }
            if !self.target.runs() {
                self.has_gone = true;
                return Ok(false);
            }
            self.switch.refresh()?;
        }
    }
}

/// A rule, which also ends where the program has.
fn while_it_runs<'d, 'a>(rule: impl Fn(&mut Windows<'a>) -> Option<Stopped> + 'd) -> Stop<'d, Windows<'a>> {
    Stop::at_rounds(rule).or_at_trials(|windows| windows.has_gone.then_some(Stopped::Gone))
}

fn entry(state: State) -> Entry {
    Entry::tried(name(state))
}

fn name(state: State) -> &'static str {
    match state {
        State::On => "switched on",
        State::Off => "switched off",
    }
}

/// How many windows there are at least: one without it, and another after each with it.
const LEAST_WINDOWS: u32 = 2 * LEAST_PAIRS as u32 + 1;

/// Switching itself takes time, more where many connections are open: as much as a window is allowed for.
const SPARE: u32 = 1;

/// As long as was asked for, or shorter where the budget does not hold enough of these.
fn length(terms: &LiveTerms) -> Duration {
    let fitting = (terms.budget / (LEAST_WINDOWS + SPARE)).saturating_sub(SETTLING);
    terms.window.min(fitting.max(SHORTEST))
}

/// Why it was never switched on.
fn too_short() -> String {
    let least = (SHORTEST + SETTLING) * (LEAST_WINDOWS + SPARE);
    format!("the budget is too short: switching takes at least {:.0} s", least.as_secs_f64().ceil())
}

/// What happened between two readings.
fn row(first: &Reading, last: &Reading) -> Trial {
    Trial {
        start: first.time,
        wall: last.time - first.time,
        exchanges: last.exchanges.saturating_sub(first.exchanges),
        exchange_wall: last.exchange_wall - first.exchange_wall,
        client_user: last.client_user - first.client_user,
        client_system: last.client_system - first.client_system,
        server_user: last.server_user - first.server_user,
        server_system: last.server_system - first.server_system,
        exit: -1,
        metric: f64::NAN,
        ..work_seen(first, last, Trial::default())
    }
}

fn window(row: &Trial, state: State) -> Window {
    let cpu = [row.client_user, row.client_system, row.server_user, row.server_system];
    Window {
        on: state == State::On,
        start_ns: row.start.0,
        wall_ns: row.wall.0,
        exchanges: row.exchanges,
        exchange_wall_ns: row.exchange_wall.0,
        cpu_ns: cpu.into_iter().sum::<Nanos>().0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length_within(budget: Duration) -> Duration {
        let terms = LiveTerms { window: LiveTerms::WINDOW, budget, role: Role::Client, origin: None, say: &|_| {} };
        length(&terms)
    }

    #[test]
    fn windows_are_shorter_where_the_budget_is_small_and_never_too_short() {
        assert_eq!(length_within(Duration::from_secs(30)), LiveTerms::WINDOW);
        let small = length_within(Duration::from_secs(5));
        assert!(
            (small + SETTLING) * (LEAST_WINDOWS + SPARE) <= Duration::from_secs(5) && small > SHORTEST,
            "{small:?}"
        );
        assert_eq!(length_within(Duration::from_secs(1)), SHORTEST);
        assert_eq!(too_short(), "the budget is too short: switching takes at least 4 s");
    }
}
