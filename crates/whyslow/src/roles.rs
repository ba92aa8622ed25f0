//! Who does what as root: before anything is read or started, the process divides itself as its command needs.

use crate::arguments::{AttachArguments, Command, StoryAction, WatchArguments};
use crate::invoker::Invoker;
use broker::{Allowed, Entry, Identity};
use fail::Failure;
use record::User;
use studies::attach::listening_on;
use studies::services::{Listening, Selected, all_listening};

/// All that the broker does.
static REQUESTS: [&[Entry]; 2] = [&record::REQUESTS, &lab::REQUESTS];

/// Divides this process: what returns goes on with the command, under sudo as the user who called it.
///
/// # Errors
/// Where that fails, or the process to attach to is not there.
pub fn divide(command: Command) -> Result<Command, Failure> {
    let becomes = Invoker::find().sudo_caller.map(identity);
    let others = |user: &Option<User>| user.iter().copied().map(identity).collect::<Vec<_>>();
    let allowed = |user: &Option<User>| Allowed { becomes, others: others(user), ..Allowed::default() };
    let divided = match &command {
        Command::Run(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Compare(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Sweep(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Trial(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Bisect(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Matrix(typed) => with_broker(&allowed(&typed.keeping.user)),
        Command::Undo(_) | Command::Doctor(_) | Command::World(_) => with_broker(&allowed(&None)),
        Command::Attach(typed) => {
            let typed = found(typed)?;
            with_broker(&Allowed { named: typed.pid.into_iter().collect(), ..allowed(&None) })?;
            return Ok(Command::Attach(typed));
        }
        Command::Watch(typed) if typed.action.is_none() => {
            let listening = Listening::default();
            let services = selected(typed, &listening)?;
            let (named, groups): (Vec<_>, Vec<_>) = services.iter().map(|one| one.named(&listening)).unzip();
            with_broker(&Allowed { named: named.concat(), groups: groups.concat(), ..allowed(&None) })?;
            return Ok(Command::Watch(WatchArguments { services, ..typed.clone() }));
        }
        // It executes whyslow itself, which divides itself.
        Command::Story(typed) if matches!(typed.action, StoryAction::Run(_)) => Ok(()),
        Command::Load(_)
        | Command::Feeds(_)
        | Command::Logs(_)
        | Command::Pcap(_)
        | Command::Watch(_)
        | Command::Steps(_)
        | Command::Report(_)
        | Command::Story(_)
        | Command::Explain(_)
        | Command::Man(_)
        | Command::Completions(_)
        | Command::Reference
        | Command::Schema(_)
        | Command::Tables => becomes.map_or(Ok(()), |user| broker::become_user(user).map_err(|error| failed(&error))),
    };
    divided.map(|()| command)
}

fn with_broker(allowed: &Allowed) -> Result<(), Failure> {
    broker::divide(&REQUESTS, allowed).map_err(|error| failed(&error))
}

/// The process to attach to, by its id: only root sees who listens for others.
fn found(typed: &AttachArguments) -> Result<AttachArguments, Failure> {
    let pid = match typed.port {
        Some(port) => Some(listening_on(port)?),
        None => typed.pid,
    };
    Ok(AttachArguments { pid, port: None, ..typed.clone() })
}

/// The services to watch: those named, which must be there, or all that listen. Only root sees who listens for others.
fn selected(typed: &WatchArguments, listening: &Listening) -> Result<Vec<Selected>, Failure> {
    if let Some(missing) = typed.services.iter().find(|one| !one.is_there(listening)) {
        return Err(Failure::no_service(missing));
    }
    let services = match &typed.services[..] {
        [] => all_listening(listening),
        named => named.iter().cloned().map(|one| one.settled(listening)).collect(),
    };
    if services.is_empty() { Err(Failure::nobody_listens()) } else { Ok(services) }
}

fn identity(user: User) -> Identity {
    Identity { uid: user.uid, gid: user.gid }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::internal(&format!("becoming the user who called sudo: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_request_has_a_name_of_its_own_and_a_place_in_the_list_that_people_read() {
        let list =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md")).expect("there");
        let all = REQUESTS.iter().flat_map(|list| list.iter().map(|entry| entry.name)).collect::<Vec<_>>();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for name in all {
            assert!(list.contains(&format!("`{name}`")), "{name}");
        }
    }
}
