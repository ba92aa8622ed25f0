//! `other-hosts-entry`: the hosts file with one more name, which nobody looks up.

use super::hosts_entry::{opened, show};
use super::{Intervention, Prediction, intervention};

/// A name that no program can mean, with an address that nobody has (RFC 2606, RFC 5737).
const ENTRY: &str = "192.0.2.1\twhyslow-control.invalid\n";

intervention! {
    /// # other-hosts-entry
    ///
    /// ## What it does
    /// Shows the program a hosts file with one more line, as `hosts-entry` does, but for a name that it never looks up.
    /// Where asking a name server is what costs time, this must change nothing and is tried as the negative control: that
    /// the file is another one is no cure.
    ///
    /// ## What it reaches
    /// As `hosts-entry`: programs that read /etc/hosts.
    ///
    /// ## How we know it took effect
    /// The file was opened.
    pub const OTHER_HOSTS_ENTRY: Intervention = Intervention {
        name: "other-hosts-entry",
        summary: "puts a name that nobody looks up into the hosts file",
        predictions: &[Prediction::does_nothing("P31")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            show(treatment, ENTRY);
            Ok(())
        },
        applied: opened,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interventions::tests::request;
    use crate::{Treatment, World};

    #[test]
    fn it_adds_a_name_that_no_program_can_mean() {
        let mut treatment = Treatment::default();
        (OTHER_HOSTS_ENTRY.treat)(&request(&World::default()), &mut treatment).expect("always possible");
        let content = String::from_utf8_lossy(&treatment.replacements[0].content).into_owned();
        assert!(content.starts_with(&std::fs::read_to_string("/etc/hosts").unwrap_or_default()), "{content}");
        assert!(content.ends_with(ENTRY), "{content}");
    }
}
