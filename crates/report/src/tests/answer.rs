use crate::document::Document;
use crate::examples::answer as examples;
use crate::style::{Colour, Style};
use case::facts::Wait;
use case::{Account, AccountGroup, AccountTime, Cost, End, Heaviest, Place, Status};

const PLAIN: Style = Style { colour: Colour::Plain, width: 80 };

#[test]
fn a_suspected_cause_takes_one_paragraph() {
    let text = crate::text(&Document::of(&examples::slow()), &PLAIN);
    assert!(
        text.starts_with("Suspected: each request waits 40.9 ms for a delayed ACK\n  It costs up to 40.9 ms"),
        "{text}"
    );
    assert!(text.contains("\n  Nothing has been switched off yet: this is a suspicion, not a proof.\n"), "{text}");
    assert!(
        text.contains("\nLost while recording: nothing.\n") && text.contains("\nNot looked for:\n  - CPU time"),
        "{text}"
    );
    assert!(text.ends_with("\nCase: /home/me/.local/state/whyslow/20260102-curl\n"), "{text}");
}

#[test]
fn a_healthy_program_gets_one_sentence_and_its_ledger() {
    let text = crate::text(&Document::of(&examples::healthy()), &PLAIN);
    assert!(text.starts_with("No cause found. 93 % of the time was the server thinking.\n\nWhere the time"), "{text}");
    assert!(!text.contains("Suspected"));
}

#[test]
fn a_recording_without_content_is_inconclusive() {
    let mut answer = examples::healthy();
    answer.ledger = case::Ledger::default();
    assert!(crate::text(&Document::of(&answer), &PLAIN).starts_with("Inconclusive. Nothing was recorded"));
}

#[test]
fn what_the_title_says_is_not_said_again() {
    let mut answer = examples::slow();
    answer.findings[0].title = "writes are held: 40.9 ms of every 44.0 ms request".into();
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.contains("request\n  It affects 250 of 250 requests.\n"), "{text}");
}

#[test]
fn every_place_has_a_line_of_its_own() {
    let mut answer = examples::slow();
    answer.findings[0].place.push(Place { file: "main.py".into(), line: 4, ..Place::default() });
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.contains("  Where: client.py:31 in send_body\n         main.py:4\n"), "{text}");
}

#[test]
fn processor_time_has_a_clause_of_its_own() {
    let mut answer = examples::slow();
    answer.findings[0].cost =
        Cost { cpu_ns_per_exchange: 6_200_000, share_of_cpu: 0.984, affected: 250, ..Cost::default() };
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.contains("It costs up to 6.20 ms of every 6.30 ms request's CPU time (98 %)."), "{text}");
}

#[test]
fn a_run_without_requests_is_its_own_base() {
    let mut answer = examples::slow();
    answer.exchanges = 0;
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.contains("40.9 ms of the 44.0 ms run (93 %)."), "{text}");
    assert!(!text.contains("It affects"));
}

#[test]
fn a_place_without_a_file_is_its_module_and_offset() {
    let mut answer = examples::slow();
    let place =
        Place { function: "libssl.so.3+0x66470".into(), module: "/usr/lib/libssl.so.3".into(), ..Place::default() };
    answer.findings[0].place = vec![place];
    assert!(crate::text(&Document::of(&answer), &PLAIN).contains("Where: libssl.so.3+0x66470\n"));
}

#[test]
fn what_was_lost_and_the_caveats_are_said() {
    let mut answer = examples::slow();
    answer.losses.events = 1_203;
    answer.losses.stacks = 1;
    answer.findings[0].caveats = vec!["12 events were lost in this interval.".into()];
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.contains("Lost while recording: 1,203 events and 1 stack.\n"));
    assert!(text.contains("  But: 12 events were lost in this interval.\n"));
}

#[test]
fn names_from_the_subject_cannot_steer_the_terminal() {
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}x";
    let mut answer = examples::proved();
    answer.together = examples::stepwise().together;
    answer.summary = hostile.into();
    answer.case = hostile.into();
    answer.missing = vec![hostile.into()];
    answer.ledger.accounts[0].name = hostile.into();
    let finding = &mut answer.findings[0];
    finding.place[0] = Place { function: hostile.into(), module: hostile.into(), file: hostile.into(), line: 1 };
    finding.title = hostile.into();
    finding.mechanism = vec![hostile.into()];
    finding.remedy = hostile.into();
    finding.caveats = vec![hostile.into()];
    finding.name = hostile.into();
    finding.id = hostile.into();
    finding.evidence.table = hostile.into();
    finding.status = Status::Confirmed;
    for one in &mut finding.tried {
        (one.intervention, one.dose, one.problem) = (hostile.into(), hostile.into(), hostile.into());
        one.metric = format!("stdout:{hostile}").into();
    }
    if let Some(effect) = &mut finding.effect {
        (effect.intervention, effect.metric) = (hostile.into(), hostile.into());
        effect.also[0].metric = hostile.into();
    }
    for one in &mut answer.together {
        (one.interventions, one.metric) = (vec![hostile.into(); 2], hostile.into());
    }
    if let Some(proof) = &mut answer.proof {
        (proof.output, proof.not_tried) = (hostile.into(), vec![hostile.into()]);
        proof.sham.as_mut().expect("a sham").metric = hostile.into();
    }
    let text = crate::text(&Document::of(&answer), &PLAIN);
    assert!(text.matches("[2J").count() >= 25, "{text}");
    let steering = text.chars().filter(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
    assert_eq!(steering.count(), 0, "{text:?}");
}

#[test]
fn no_line_is_longer_than_80_columns() {
    let mut answer = examples::slow();
    answer.findings[0].mechanism = vec!["several words in a row ".repeat(30)];
    let mut wide = examples::proved();
    wide.together = examples::stepwise().together;
    for one in &mut wide.findings[0].tried {
        (one.intervention, one.dose) = (one.intervention.repeat(9), one.dose.repeat(3));
        (one.before, one.ratio, one.low, one.high) = (one.before * 1e4, 123_456.0, 0.000_012_3, 7_654_321.0);
    }
    wide.together[1].interventions.push("and-many-words ".repeat(20));
    let proved =
        [examples::proved(), examples::refuted(), examples::undecided(), examples::two_causes(), examples::stepwise()];
    for (answer, width) in [answer, wide].iter().chain(&proved).flat_map(|one| [70, 80, 200].map(|width| (one, width)))
    {
        let text = crate::text(&Document::of(answer), &Style { colour: Colour::Plain, width });
        let lines = text.lines().filter(|line| !line.starts_with("Case") && !line.contains("delayed-ack-capdelayed"));
        let longest = lines.map(|line| line.chars().count()).max();
        assert!(longest <= Some(width.min(80)), "{width}: {text}");
    }
}

#[test]
fn colour_only_adds_to_what_the_words_say() {
    for answer in [examples::slow(), examples::proved(), examples::stepwise()] {
        let painted = crate::text(&Document::of(&answer), &Style { colour: Colour::Ansi, width: 80 });
        assert!(painted.contains("\u{1b}[1m"));
        let bare = ["\u{1b}[1m", "\u{1b}[33m", "\u{1b}[0m"].iter().fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(bare, crate::text(&Document::of(&answer), &PLAIN));
    }
}

#[test]
fn no_cause_found_is_not_said_above_requests_that_wait_for_one_thing() {
    for (group, account) in [
        (AccountGroup::RunDelay, Account::RunDelay { end: End::Server }),
        (AccountGroup::SetUp, Account::Lookup { part: None }),
        (AccountGroup::NetworkAndPeer, Account::NetworkAndPeer),
        (AccountGroup::ServerBlocked, Account::PageFault { end: End::Server }),
    ] {
        let mut answer = examples::healthy();
        answer.heaviest =
            Some(Heaviest { group, ns: 95, of_ns: 100, account, share_of_group: 1.0, ..Heaviest::default() });
        let text = crate::text(&Document::of(&answer), &PLAIN);
        assert!(text.starts_with("95 % of each 100 ns request is ") && !text.contains("No cause found"), "{text}");
        // Whatever else the run did.
        let (name, ns) = (String::new(), answer.ledger.total * 2);
        answer.ledger.accounts.push(AccountTime { name, ns, account: Account::RunDelayOutside });
        answer.ledger.total += ns;
        let text = crate::text(&Document::of(&answer), &PLAIN);
        assert!(text.starts_with("95 % of each 100 ns request is ") && text.contains("93 % of the time"), "{text}");
    }
}

#[test]
fn where_hardly_any_of_the_run_is_in_requests_the_rest_is_said_first() {
    let mut answer = examples::healthy();
    let account = Account::RunDelay { end: End::Server };
    answer.heaviest = Some(Heaviest { ns: 95, of_ns: 100, account, share_of_group: 1.0, ..Heaviest::default() });
    let (name, ns) = (String::new(), answer.ledger.total * 9);
    let sleep = Account::BlockedOutside { call: "poll".into(), wait: Wait::Sleep, object: None };
    for (account, start) in
        [(sleep, "93 % of the time"), (Account::CpuOutside { module: None }, "No cause found. 93 % of the time")]
    {
        let mut answer = answer.clone();
        answer.ledger.accounts.push(AccountTime { name: name.clone(), ns, account });
        answer.ledger.total += ns;
        let text = crate::text(&Document::of(&answer), &PLAIN);
        assert!(text.starts_with(start) && text.matches("93 % of the time").count() == 1, "{text}");
    }
}
