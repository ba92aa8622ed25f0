//! `issue-tickets`: a server gives sessions, and takes them.

use super::{Intervention, NotHere, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;
use case::facts::{Observation, WhyFull};

/// The shim.
const SHIM: &str = "issue-tickets";

/// As long as OpenSSL's keys of tickets are: a name of 16 bytes and two keys of 32 (SSL_CTX_set_tlsext_ticket_keys(3)).
const KEYS: usize = 80;

intervention! {
    /// # issue-tickets
    ///
    /// ## What it does
    /// Has a server give session tickets, whatever it sets against them (SSL_OP_NO_TICKET, no tickets), and take
    /// those of all its processes and hosts: they have the same keys, made for the trial, in place of their own.
    ///
    /// ## What it reaches
    /// Servers that load OpenSSL's libssl (1.1.1 or 3) dynamically, where a client was seen to be given no session, or
    /// to offer one that was not taken. A client has to offer it by itself.
    ///
    /// ## How we know it took effect
    /// The shim counts settings that it left out, and connections that are accepted with those keys. Whether the client
    /// resumes shows in the effect.
    pub const ISSUE_TICKETS: Intervention = Intervention {
        name: "issue-tickets",
        summary: "has the server give session tickets, and take them on each of its hosts",
        predictions: &[Prediction::gains("P08")],
        doses: &[],
        unit: "",
        stands_on: &[],
        // A resumed handshake has no certificates.
        may_change: &[Aspect::Bytes],
        treat: |request, treatment| {
            let observed = request.finding.map_or(&[][..], |finding| &finding.observed);
            let is_servers = |one: &Observation| {
                matches!(one, Observation::FullHandshakes { why: WhyFull::NotGiven | WhyFull::NotAccepted, .. })
            };
            if !observed.iter().any(is_servers) {
                return Err(NotHere("needs a server that gives no sessions, or does not take them".into()));
            }
            let parameter = format!("on {}", keys().map_err(|_| NotHere("needs random numbers".into()))?);
            treatment.preloads.push(Preload { shim: SHIM, parameter });
            Ok(())
        },
        applied: |counters| counters.of_shim(SHIM),
    };
}

/// Keys that nobody knows, in hexadecimal.
fn keys() -> Result<String, getrandom::Error> {
    let mut keys = [0_u8; KEYS];
    getrandom::fill(&mut keys)?;
    Ok(keys.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::Request;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::{End, Treatment};

    /// The parameter of the shim where handshakes were full for this reason.
    fn parameter(why: WhyFull) -> Option<String> {
        let (recording, mut finding) = finding_at(End::Client);
        let (handshakes, of_them, blame) = (9, 9, why.blame());
        finding.observed = vec![Observation::FullHandshakes { handshakes, given: 0, offered: 0, why, of_them, blame }];
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        (ISSUE_TICKETS.treat)(&request, &mut treatment).ok()?;
        treatment.preloads.pop().map(|preload| preload.parameter)
    }

    #[test]
    fn keys_are_made_anew_where_the_server_is_to_blame_and_only_there() {
        let keys = [WhyFull::NotGiven, WhyFull::NotAccepted].map(|why| parameter(why).expect("treated"));
        assert!(keys.iter().all(|keys| keys.len() == "on ".len() + 2 * KEYS), "{keys:?}");
        assert_ne!(keys[0], keys[1]);
        assert_eq!(parameter(WhyFull::NotOffered), None);
        assert_eq!(parameter(WhyFull::Unseen), None);
    }
}
