//! whyslow watches an unmodified networked program, accounts for its time and names the cause of its slowness.

mod arguments;
mod commands;
mod console;
mod documents;
mod folder;
mod form;
mod interrupts;
mod invoker;
mod output;
mod progress;
mod requests;
mod roles;
mod usage;

use arguments::{Arguments, Command};
use fail::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything of ours is read: this process is to know nothing.
    if std::env::args_os().nth(1).is_some_and(|word| word == record::resolver::ARGUMENT) {
        record::resolver::serve(&record::resolver::Limits::default());
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == lab::worlds::making::ARGUMENT) {
        lab::worlds::maker::serve();
    }
    record::memory::spare();
    record::resolver::start_apart();
    output::explain_panics();
    let outcome = std::panic::catch_unwind(|| {
        let command = match Arguments::typed() {
            Ok(typed) => typed.command,
            Err(error) => return usage::answer(&error),
        };
        // Before any thread is started: they are to be the same user's, with the same groups.
        invoker::Invoker::find().act_for()?;
        carry_out(roles::divide(command)?)
    });
    broker::dismiss();
    outcome.unwrap_or(Ok(output::ERROR)).unwrap_or_else(|failure| output::fail(&failure)).into()
}

/// Does what was typed; the exit code.
fn carry_out(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Run(typed) => commands::study::run(*typed),
        Command::Attach(typed) => commands::study::attach(&typed),
        Command::Compare(typed) => commands::study::compare(*typed),
        Command::Bisect(typed) => commands::study::bisect(*typed),
        Command::Sweep(typed) => commands::study::sweep(*typed),
        Command::Matrix(typed) => commands::study::matrix(*typed),
        Command::Load(typed) => commands::load::load(*typed),
        Command::Feeds(typed) => commands::feeds::feeds(*typed),
        Command::Logs(typed) => commands::logs::logs(typed),
        Command::Pcap(typed) => commands::study::pcap(typed),
        Command::Watch(typed) => commands::watch::watch(&typed),
        Command::Steps(typed) => commands::steps::steps(typed),
        Command::Report(typed) => commands::report::report(&typed),
        Command::Trial(typed) => commands::trial::trial(typed),
        Command::Explain(typed) => commands::explain::explain(&typed),
        Command::Story(typed) => commands::story::story(&typed),
        Command::World(typed) => commands::world::world(&typed),
        Command::Undo(typed) => commands::undo::undo(&typed),
        Command::Doctor(typed) => commands::doctor::doctor(&typed),
        Command::Man(typed) => commands::man::man(&typed),
        Command::Completions(typed) => commands::completions::completions(&typed),
        Command::Reference => commands::reference::reference(),
        Command::Schema(typed) => commands::schema::schema(&typed),
        Command::Tables => commands::tables::tables(),
    }
}
