//! Documents of commands that record no program and try nothing: all that is particular to each, in one place.

use crate::block::{Block, Section};
use crate::blocks::{feeds, load, series, services, traffic};
use crate::command::command;
use crate::document::Measured;

/// How such a document is shown.
pub(crate) struct Shown {
    /// What it is about, as Markdown's title.
    pub title: &'static str,
    /// The same on the page, where it can be said more closely.
    pub subject: String,
    /// The verdict in a few words.
    pub headline: String,
    /// The command that does the same again, and what is to be put into it.
    pub again: (Vec<String>, &'static str),
    /// In their order.
    pub blocks: &'static [&'static Block],
}

const TRAFFIC: &[&Block] = &[
    &traffic::lead::BLOCK,
    &traffic::suspects::BLOCK,
    &traffic::over_time::BLOCK,
    &traffic::hours::BLOCK,
    &traffic::tables::AGENTS,
    &traffic::tables::NETWORKS,
    &traffic::tables::ROUTES,
    &traffic::costs::BLOCK,
    &traffic::files::BLOCK,
    &traffic::files::EXACTNESS,
];

const LOAD: &[&Block] = &[
    &load::lead::BLOCK,
    &load::errors::BLOCK,
    &load::course::BLOCK,
    &load::curve::BLOCK,
    &load::latency::BLOCK,
    &load::latency::STEPS,
    &load::how::BLOCK,
];

const FEEDS: &[&Block] = &[
    &feeds::lead::BLOCK,
    &feeds::round::ERRORS,
    &feeds::round::OUTCOMES,
    &feeds::costs::BLOCK,
    &feeds::costs::PHASES,
    &feeds::round::SLOWEST,
    &feeds::history::LEAD,
    &feeds::history::BLOCK,
];

const WATCHED: &[&Block] = &[
    &services::lead::BLOCK,
    &services::table::BLOCK,
    &services::drawn::BLOCK,
    &services::table::EACH,
    &services::table::TROUBLES,
    &services::lead::MISSING,
];

const STEPS: &[&Block] =
    &[&series::driven::BLOCK, &series::lead::BLOCK, &series::over_time::BLOCK, &series::levels::BLOCK];

impl Measured<'_> {
    /// How it is shown.
    pub(crate) fn shown(self) -> Shown {
        match self {
            Measured::Traffic(found) => Shown {
                title: "access logs",
                subject: "access logs".into(),
                headline: traffic::lead::headline(found),
                again: (traffic::lead::reading(found), ""),
                blocks: TRAFFIC,
            },
            Measured::Load(found) => Shown {
                title: "a load",
                subject: load::lead::command(found).get(2..).map(command).unwrap_or_default(),
                headline: load::lead::headline(found),
                again: (load::lead::command(found), "with the other options of that load"),
                blocks: LOAD,
            },
            Measured::Feeds(found) => Shown {
                title: "feeds",
                subject: "feeds".into(),
                headline: feeds::headline(found),
                again: (feeds::again(found), ""),
                blocks: FEEDS,
            },
            Measured::Watched(found) => Shown {
                title: "services over time",
                subject: "services over time".into(),
                headline: services::lead::headline(found),
                again: (services::lead::showing(found), ""),
                blocks: WATCHED,
            },
            Measured::Steps(found) => Shown {
                title: "a series over time",
                subject: "a series over time".into(),
                headline: series::lead::headline(found),
                again: (series::lead::reading(found), ""),
                blocks: STEPS,
            },
        }
    }

    /// A section's anchor, heading and short name, where it has others here: not everything that goes on over time is requests.
    pub(crate) fn section(self, section: Section) -> Option<(&'static str, &'static str, &'static str)> {
        Some(match (section, self) {
            (Section::OverTime, Measured::Feeds(_)) => ("over-time", "Rounds over time", "Time"),
            (Section::OverTime, Measured::Steps(_)) => ("time", "Over time", "Time"),
            (Section::Environment, Measured::Load(_)) => ("environment", "The load", "Load"),
            _ => return None,
        })
    }
}
