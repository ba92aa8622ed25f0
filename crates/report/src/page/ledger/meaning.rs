//! What an account means, in one sentence by its kind, and the look of that kind.

/// A kind of account.
pub(super) struct Kind {
    /// What its name holds, less the end it is seen from.
    holds: &'static str,
    /// The class of its colour and pattern.
    pub class: &'static str,
    /// What it means.
    pub sentence: &'static str,
}

/// Kinds by what their names hold, the more specific before the more general. Names are those of the answer's ledger.
const KINDS: &[Kind] = &[
    Kind {
        holds: "unexplained",
        class: "unexplained",
        sentence: "No account explains this time. It is shown so that it hides in no other.",
    },
    Kind {
        holds: "held by Nagle",
        class: "held",
        sentence: "Bytes had been written, and the sender's kernel kept them back until the other end acknowledged \
                   what had left before.",
    },
    Kind {
        holds: "held at the peer",
        class: "held",
        sentence: "The other end kept bytes back until this end acknowledged earlier ones.",
    },
    Kind {
        holds: "held in the local kernel",
        class: "held",
        sentence: "Bytes had been written and waited in the sender's kernel, for room in the window or in a queue.",
    },
    Kind {
        holds: "retransmission",
        class: "held",
        sentence: "A segment was lost, and it took this long until it was sent again.",
    },
    Kind {
        holds: "waiting for a processor",
        class: "waiting",
        sentence: "A thread was ready to run, and every processor that it may use was busy with something else.",
    },
    Kind {
        holds: "wake-up delay",
        class: "waiting",
        sentence: "Bytes had arrived, and the thread that waited for them was not running yet.",
    },
    Kind {
        holds: "CPU outside exchanges",
        class: "processor outside",
        sentence: "The program was on a processor, in this code, while no request was under way.",
    },
    Kind {
        holds: "CPU: kernel",
        class: "processor",
        sentence: "A thread was on a processor, in the kernel: system calls and what they do.",
    },
    Kind {
        holds: "CPU",
        class: "processor",
        sentence: "A thread was on a processor, in the code of this library or program.",
    },
    Kind { holds: "asleep", class: "blocked", sentence: "A thread slept for a time that the program chose." },
    Kind {
        holds: "futex",
        class: "blocked",
        sentence: "A thread waited for a lock, or for another thread to finish something.",
    },
    Kind {
        holds: "not recorded",
        class: "blocked",
        sentence: "A thread waited in a system call of a kind that is not recorded one by one.",
    },
    Kind {
        holds: "blocked on a disk",
        class: "blocked",
        sentence: "A thread waited for the disk outside of calls: a page had to be read, as a rule.",
    },
    Kind { holds: "blocked in", class: "blocked", sentence: "A thread waited in this system call." },
    Kind { holds: "name look-up", class: "setup", sentence: "A name had to be turned into an address." },
    Kind { holds: "connect", class: "setup", sentence: "A connection was being opened." },
    Kind { holds: "TLS handshake", class: "setup", sentence: "Both ends agreed on keys before the request could go." },
    Kind {
        holds: "network and peer",
        class: "network",
        sentence: "The request had left and no answer had come: the network, and a peer that was not recorded.",
    },
    Kind { holds: "network", class: "network", sentence: "Bytes were under way between the two recorded ends." },
    Kind {
        holds: "start-up and end",
        class: "other",
        sentence: "Before the program's first recorded event, and after its last.",
    },
];

/// Where nothing is known of a kind.
const ANY: Kind = Kind { holds: "", class: "other", sentence: "" };

/// The kind of an account.
pub(super) fn kind(name: &str) -> &'static Kind {
    // What is blocked on can be called anything: only what stands before a bracket names the kind.
    let named = if name.contains("futex (") { "futex" } else { name.split(" (").next().unwrap_or(name) };
    KINDS.iter().find(|kind| named.contains(kind.holds)).unwrap_or(&ANY)
}

/// The class of an account's look; what is at the server has a colour of its own.
pub(super) fn class(name: &str) -> String {
    let class = kind(name).class;
    if name.starts_with("server ") { format!("{class} server") } else { class.to_string() }
}

/// What an account means, and at which end; empty where that is not known.
pub(super) fn sentence(name: &str) -> String {
    let sentence = kind(name).sentence;
    match (name.starts_with("server "), sentence) {
        (_, "") => String::new(),
        (true, sentence) => format!("At the server. {sentence}"),
        (false, sentence) if name.contains("outside exchanges") && !sentence.contains("no request") => {
            format!("{sentence} No request was under way meanwhile.")
        }
        (false, sentence) => sentence.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_told_by_its_kind_and_not_by_what_a_path_is_called() {
        assert!(sentence("server CPU: user, nginx").starts_with("At the server. A thread was on a processor"));
        assert_eq!(class("blocked in read (/srv/network/CPU)"), "blocked");
        assert_eq!(class("server waiting for a processor"), "waiting server");
        assert!(sentence("waiting for a processor outside exchanges").ends_with("No request was under way meanwhile."));
        assert_eq!(sentence("something new"), "");
    }
}
