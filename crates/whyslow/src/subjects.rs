//! The programs of a run, made and held: nothing of theirs has been executed yet.

use crate::fail::Failure;
use crate::plan::Plan;
use record::{Held, Network, Output, Program, Tether};

/// Client and server, held in their networks.
pub struct Subjects {
    /// The client, or the only program.
    pub client: Held,
    /// The server.
    pub server: Option<Held>,
}

impl Subjects {
    /// Makes them, and joins their networks where there is a link.
    pub fn hold(plan: &Plan, client_output: Output) -> Result<Subjects, Failure> {
        let network = if plan.world.link.is_some() { Network::Own } else { Network::Shared };
        let program = |arguments: &[String]| Program {
            arguments: arguments.to_vec(),
            user: plan.user,
            network,
            ..Program::default()
        };
        // A server's standard output is a log: it goes with ours, so that the client's stays what it is.
        let serve = |words: &[String]| {
            Program { output: Output::ToStandardError, tether: Tether::ToUs, ..program(words) }.hold()
        };
        let client = Program { output: client_output, ..program(&plan.client) }.hold()?;
        let server = plan.server.as_deref().map(serve).transpose()?;
        if let (Some(link), Some(server)) = (plan.world.link, &server) {
            link.join(client.pid(), server.pid()).map_err(Failure::from)?;
        }
        Ok(Subjects { client, server })
    }
}
