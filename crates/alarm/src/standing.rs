//! Which alarms stand: raised when a condition has held for its time, over when it has not held for as long.

use crate::condition::Condition;
use crate::message::{Message, State};
use crate::rules::{Rule, Rules};
use case::{Deviation, ServiceSample};
use std::collections::BTreeMap;

/// A change is over when it has not been seen for so long, in milliseconds; a limit without a time of its own likewise.
const SETTLED_MS: u64 = 60_000;

/// What an interval has shown.
pub struct Seen<'a> {
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// What each service did.
    pub samples: &'a [ServiceSample],
    /// What is out of line now.
    pub deviations: &'a [Deviation],
    /// What a recording has just found: the service and the causes.
    pub findings: &'a [(String, Vec<String>)],
}

/// The alarms.
pub struct Alarms {
    rules: Vec<Rule>,
    standing: BTreeMap<(usize, String), Standing>,
    /// A sentence about a deviation.
    describe: fn(&Deviation) -> String,
    /// Tells this watcher's keys from another's.
    origin: String,
    raised: u64,
}

/// One rule about one service.
#[derive(Default)]
struct Standing {
    /// Since when it holds, or does not; which of both is `holds`.
    since_ms: u64,
    holds: bool,
    is_raised: bool,
    key: String,
    /// The sentence of the last interval in which it held.
    text: String,
}

/// A message, and the places of the channels that it goes to.
pub(crate) type Addressed = (Vec<usize>, Message);

impl Alarms {
    /// The alarms of some rules; `origin` tells one watcher's messages from another's.
    pub fn of(rules: &Rules, origin: &str, describe: fn(&Deviation) -> String) -> Alarms {
        let (rules, standing, origin) = (rules.rules.clone(), BTreeMap::new(), origin.to_string());
        Alarms { rules, standing, describe, origin, raised: 0 }
    }

    /// Takes what an interval has shown: the messages that come of it.
    pub fn take(&mut self, seen: &Seen) -> Vec<(Vec<usize>, Message)> {
        let mut messages = Vec::new();
        for index in 0..self.rules.len() {
            for sample in seen.samples {
                let rule = &self.rules[index];
                if rule.is_about(&sample.service) {
                    let held = held(rule, sample, seen, self.describe);
                    messages.extend(self.stand(index, &sample.service, held, seen.at_ms));
                }
            }
        }
        messages
    }

    fn stand(&mut self, index: usize, service: &str, held: Held, at_ms: u64) -> Option<Addressed> {
        let rule = &self.rules[index];
        let lasting_ms = lasting_ms(&rule.when);
        let standing = self.standing.entry((index, service.to_string())).or_default();
        let holds = match &held {
            Held::Yes(_) => true,
            Held::No => false,
            // Nothing was asked of it meanwhile: what was so stays so.
            Held::Unknown => return None,
        };
        if holds != standing.holds || standing.since_ms == 0 {
            (standing.holds, standing.since_ms) = (holds, at_ms);
        }
        if let Held::Yes(text) = held {
            standing.text = text;
        }
        let lasted = at_ms.saturating_sub(standing.since_ms);
        let (raises, recovers) = match rule.when {
            // A finding is told of once and does not end.
            Condition::Finding(_) => (holds, false),
            _ => (
                holds && !standing.is_raised && lasted >= lasting_ms,
                !holds && standing.is_raised && lasted >= lasting_ms.max(SETTLED_MS),
            ),
        };
        let (state, text) = if raises {
            self.raised += 1;
            standing.is_raised = true;
            standing.key = format!("{}-{}-{at_ms}", self.origin, self.raised);
            (State::Raised, standing.text.clone())
        } else if recovers {
            standing.is_raised = false;
            (State::Recovered, format!("{service}: `{}` holds no more", rule.words))
        } else {
            return None;
        };
        let suffix = if state == State::Recovered { "-over" } else { "" };
        let key = format!("{}{suffix}", standing.key);
        let message = Message { key, state, rule: rule.name.clone(), service: service.to_string(), at_ms, text };
        Some((rule.to.clone(), message))
    }
}

/// Whether a condition holds in an interval, and in which words.
enum Held {
    Yes(String),
    No,
    Unknown,
}

fn held(rule: &Rule, sample: &ServiceSample, seen: &Seen, describe: fn(&Deviation) -> String) -> Held {
    let service = &sample.service;
    match &rule.when {
        Condition::Limit { figure, over, limit, .. } => match figure.of(sample, seen.samples) {
            None => Held::Unknown,
            Some(value) if (*over && value > *limit) || (!*over && value < *limit) => {
                Held::Yes(format!("{service}: `{}` holds", rule.words))
            }
            Some(_) => Held::No,
        },
        Condition::Changed(metric) => {
            let it = seen.deviations.iter().find(|one| one.service == *service && one.metric == *metric);
            it.map_or(Held::No, |deviation| Held::Yes(describe(deviation)))
        }
        Condition::Finding(wanted) => {
            let found = seen.findings.iter().filter(|(of, _)| of == service).flat_map(|(_, causes)| causes);
            let found = found
                .filter(|cause| wanted.as_ref().is_none_or(|wanted| wanted == *cause))
                .cloned()
                .collect::<Vec<_>>();
            if found.is_empty() {
                Held::No
            } else {
                Held::Yes(format!("{service}: a recording found {}", found.join(", ")))
            }
        }
        Condition::Gone(_) if sample.processes == 0 => Held::Yes(format!("{service} does not run")),
        Condition::Gone(_) => Held::No,
    }
}

fn lasting_ms(when: &Condition) -> u64 {
    match when {
        Condition::Limit { lasting, .. } | Condition::Gone(lasting) => lasting.as_millis() as u64,
        Condition::Changed(_) | Condition::Finding(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    const RULES: &str = "
        [[rule]]
        name = 'busy'
        when = 'cpu > 30 % for 60 s'
        [[rule]]
        when = 'finding any'
        [[channel]]
        name = 'a'
        webhook = { url = 'http://127.0.0.1:9/' }
    ";

    fn alarms() -> Alarms {
        Alarms::of(&Rules::parse(RULES).expect("rules"), "test", |_| "changed".into())
    }

    /// What comes of intervals of 10 s with so many percent of a CPU each.
    fn told(alarms: &mut Alarms, from: u64, percents: &[u64]) -> Vec<(u64, State)> {
        let mut told = Vec::new();
        for (turn, percent) in percents.iter().enumerate() {
            let at_ms = (from + turn as u64 + 1) * 10_000;
            let sample = ServiceSample {
                at_ms,
                length: Nanos(10_000_000_000),
                service: "a".into(),
                user: Nanos(percent * 100_000_000),
                processes: 1,
                ..ServiceSample::default()
            };
            let seen = Seen { at_ms, samples: &[sample], deviations: &[], findings: &[] };
            told.extend(alarms.take(&seen).into_iter().map(|(_, message)| (at_ms / 10_000, message.state)));
        }
        told
    }

    #[test]
    fn an_alarm_is_told_once_when_it_has_lasted_and_once_when_it_is_over() {
        let mut alarms = alarms();
        assert_eq!(told(&mut alarms, 0, &[50, 50, 10, 50, 50, 10]), [], "it has not lasted");
        let lasting = [[50; 12], [5; 12]].concat();
        assert_eq!(told(&mut alarms, 6, &lasting), [(13, State::Raised), (25, State::Recovered)]);
        assert_eq!(told(&mut alarms, 30, &[50; 8]), [(37, State::Raised)], "again");
    }

    #[test]
    fn a_moment_under_the_limit_is_no_recovery() {
        let mut alarms = alarms();
        assert_eq!(told(&mut alarms, 0, &[50; 8]), [(7, State::Raised)]);
        assert_eq!(told(&mut alarms, 8, &[5, 5, 50, 50, 5, 50]), []);
    }

    #[test]
    fn a_finding_is_told_of_each_time_and_does_not_end() {
        let mut alarms = alarms();
        let sample = ServiceSample { service: "a".into(), processes: 1, ..ServiceSample::default() };
        let findings = [("a".to_string(), vec!["busy-spin".to_string()])];
        let mut take = |at_ms, findings: &[(String, Vec<String>)]| {
            alarms.take(&Seen { at_ms, samples: std::slice::from_ref(&sample), deviations: &[], findings }).len()
        };
        assert_eq!([take(1, &findings), take(2, &[]), take(900_000, &[]), take(900_001, &findings)], [1, 0, 0, 1]);
    }
}
