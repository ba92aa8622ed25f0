//! `whyslow feeds`: rounds over many feeds, and how long they took over days.

use crate::arguments::{
    FeedsAction, FeedsArguments, FeedsHistoryArguments, FeedsRefreshArguments, FeedsShownArguments,
};
use crate::console::Terminal;
use crate::form::Form;
use crate::{output, requests};
use fail::Failure;
use report::{Body, Document};
use serde::Serialize;

/// Does what was asked.
pub fn feeds(typed: FeedsArguments) -> Result<u8, Failure> {
    match typed.action {
        FeedsAction::Refresh(typed) => refresh(typed),
        FeedsAction::History(typed) => history(typed),
    }
}

/// 0 where all feeds were seen to and none has failed, 1 where some have.
fn refresh(typed: FeedsRefreshArguments) -> Result<u8, Failure> {
    record::memory::a_place_for_each_processor();
    let form = form(&typed.shown)?;
    let shown = FeedsShownArguments { file: typed.shown.file.clone(), json: typed.shown.json };
    let plan = requests::feeds::refresh(typed)?;
    let terminal = Terminal::take()?;
    let found = studies::feeds::refresh(&plan, &terminal)?;
    drop(terminal);
    show(&found, form, &shown)?;
    let is_sound = found.rounds.iter().all(|round| round.finished && round.outcomes.failed == 0);
    Ok(u8::from(!is_sound))
}

/// 0 where rounds took as long all along, 1 where their time has changed.
fn history(typed: FeedsHistoryArguments) -> Result<u8, Failure> {
    let form = form(&typed.shown)?;
    let list = typed.list.as_deref().map(requests::feeds::list);
    let found = studies::feeds::history(&requests::feeds::database(typed.database)?, list.as_deref())?;
    show(&found, form, &typed.shown)?;
    Ok(u8::from(!found.steps.is_empty()))
}

fn form(shown: &FeedsShownArguments) -> Result<Option<Form>, Failure> {
    shown.file.as_deref().map(Form::of).transpose()
}

fn show<'d, T: Serialize>(found: &'d T, form: Option<Form>, shown: &FeedsShownArguments) -> Result<(), Failure>
where
    Body<'d>: From<&'d T>,
{
    if let (Some(form), Some(file)) = (form, &shown.file) {
        form.write(found, file)?;
    }
    output::document(found, shown.json, |_| report::text(&Document::of(found), &output::style()))
}
