//! What `sweep` is asked.

use super::{LOAD, case_folder_without_names, subject, world};
use crate::arguments::{Driver, Says, SweepArguments};
use case::ValueKind;
use fail::Failure;
use lab::Subject;
use lab::engine::Kind;
use lab::{LoadFigure, Metric, Vary};
use studies::sweep::Request;

/// Works out what was meant.
pub fn request(typed: SweepArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let names = typed.keep_names.into();
    let (command, metric) = match typed.load {
        Some(driver) => {
            let metric = typed.metric.unwrap_or(Metric::Load { figure: LoadFigure::Rate });
            (driven(driver, &typed.vary, &metric)?, Some(metric))
        }
        None => (typed.command, typed.metric),
    };
    let subject = subject(&world, &command, typed.server.as_ref(), &typed.keeping)?;
    let request = Request {
        vary: typed.vary,
        subject: Subject { names, ..subject },
        world,
        budget: typed.budget.unwrap_or(Kind::Sweep.budget()),
        metric,
        folder: case_folder_without_names(typed.keeping.folder.as_deref(), &command, names)?,
        command,
    };
    request.check()?;
    Ok(request)
}

/// The command of a load; what is varied is one of its options where it has one of that name and the link has not.
fn driven(driver: Driver, vary: &Vary, metric: &Metric) -> Result<Vec<String>, Failure> {
    let driver = if vary.kind() == ValueKind::Rate { driver } else { driver.varying(&vary.name) };
    let placeholder = format!("{{{}}}", vary.name);
    for value in vary.values() {
        let fill = |text: &str| {
            text.replace(&placeholder, &value.text).replace("{server}", "127.0.0.1").replace("{client}", "127.0.0.1")
        };
        driver.check_filled(fill).map_err(|why| Failure::value("--load", &why, LOAD))?;
    }
    driver.command(Says::for_metric(Some(metric))).map_err(|error| Failure::internal(&error.to_string()))
}
