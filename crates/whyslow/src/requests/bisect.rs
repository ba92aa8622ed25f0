//! What `bisect` is asked.

use super::{case_folder_without_names, subject, world};
use crate::arguments::BisectArguments;
use fail::Failure;
use lab::Subject;
use lab::engine::Kind;
use lab::worlds::Store;
use studies::bisect::{Request, Terms};

/// Works out what was meant.
pub fn request(typed: BisectArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let names = typed.keep_names.into();
    let subject = subject(&world, &typed.command, typed.server.as_ref(), &typed.keeping)?;
    let subject = Subject { names, ..subject };
    let control = typed.control.map(|words| Subject { client: world.addresses().fill(&words), ..subject.clone() });
    let terms = Terms {
        control,
        subject,
        world,
        end: typed.of,
        metric: typed.metric,
        budget: typed.budget.unwrap_or(Kind::Bisect.budget()),
        seed: typed.seed,
        only_search: typed.only_search,
        store: Store::open()?,
        packages: typed.package,
        build: typed.build,
    };
    let folder = case_folder_without_names(typed.keeping.folder.as_deref(), &typed.command, names)?;
    Ok(Request { good: typed.good, bad: typed.bad, terms, folder })
}
