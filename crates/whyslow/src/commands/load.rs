//! `whyslow load URL`: how a server bears a load.

use crate::arguments::LoadArguments;
use crate::console::Terminal;
use crate::fail::Failure;
use crate::{output, requests};

/// Drives the load and prints what came of it. 0 where all requests were answered, 1 where some were not.
pub fn load(typed: LoadArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let plan = requests::load::request(typed)?;
    let terminal = Terminal::take()?;
    let found = studies::load::load(&plan, &terminal)?;
    drop(terminal);
    output::document(&found, as_json, |found| report::load(found, &output::style()))?;
    Ok(u8::from(found.failed > 0 || found.unsent > 0))
}
