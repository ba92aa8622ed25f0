//! What a typed `bisect` asks.

use crate::arguments::BisectArguments;
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::typed;
use lab::Subject;
use lab::engine::Kind;
use lab::worlds::{Store, WorldName};
use studies::bisect::{Request, Terms};

/// Reads what was typed.
pub fn request(typed: &BisectArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let name = |option: &str, text: &str| {
        text.parse::<WorldName>().map_err(|why| Failure::value(option, &why, &format!("{option} debian:bookworm")))
    };
    let (good, bad) = (name("--good", &typed.good)?, name("--bad", &typed.bad)?);
    let world = typed::world(&typed.world)?;
    let addresses = typed::addresses(world.link);
    let server = typed::server(typed.server.as_deref(), &world)?;
    let end = typed::end(typed.of, server.is_some())?;
    let subject = Subject {
        client: typed::with_addresses(&typed.command, addresses),
        server,
        user: subject_user(typed.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let control = typed.control.as_deref().map(|text| {
        let words = typed::words(text).ok_or_else(|| {
            Failure::value("--control", "it is empty or has an unclosed quote", "--control './client x'")
        })?;
        Ok::<_, Failure>(Subject { client: typed::with_addresses(&words, addresses), ..subject.clone() })
    });
    let terms = Terms {
        control: control.transpose()?,
        subject,
        world,
        end,
        metric: typed::metric(typed.metric.as_deref())?,
        budget: typed::budget(typed.budget.as_deref(), Kind::Bisect)?,
        seed: typed.seed,
        only_search: typed.only_search,
        store: Store::open()?,
        packages: typed.package.clone(),
        build: typed.build.clone(),
    };
    let folder = typed::case_folder(typed.keeping.folder.as_deref(), &typed.command, invoker)?;
    Ok(Request { good, bad, terms, folder })
}
