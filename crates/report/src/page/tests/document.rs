use crate::document::{Body, Document};
use crate::examples::answer as examples;
use crate::examples::comparison as compared;
use crate::examples::sweep as swept;
use crate::examples::views::HOSTILE;
use crate::page::page;
use case::Answer;
use case::views::Views;

fn of(body: Body) -> String {
    page(&Document::of(body))
}

/// Every string of a value made hostile, but for words of the contract itself.
fn poisoned(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = format!("{HOSTILE}{text}"),
        serde_json::Value::Array(values) => values.iter_mut().for_each(poisoned),
        serde_json::Value::Object(fields) => {
            let ours = [
                "status",
                "verdict",
                "purpose",
                "outcome",
                "state",
                "stopped",
                "value_kind",
                "per",
                "thing",
                "kind",
                "group",
                "when",
                "work",
            ];
            fields.iter_mut().filter(|(name, _)| !ours.contains(&name.as_str())).for_each(|(_, value)| poisoned(value));
        }
        _ => {}
    }
}

fn hostile<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let mut json = serde_json::to_value(value).expect("JSON");
    poisoned(&mut json);
    serde_json::from_value(json).expect("the same shape")
}

fn assert_harmless(html: &str) {
    assert!(html.contains("&lt;img") || html.contains("&#60;img"), "nothing hostile is on the page at all");
    let found = ["<img", "<script>alert", "\u{202e}", "\u{1b}"].into_iter().find(|bad| html.contains(bad));
    assert_eq!(found, None);
    // Within an attribute a quotation mark would be enough.
    assert!(!html.contains("\"'><"), "a quotation mark came through");
}

#[test]
fn no_string_of_an_answer_comes_through_as_markup() {
    for answer in [
        examples::slow(),
        examples::healthy(),
        examples::proved(),
        examples::refuted(),
        examples::undecided(),
        examples::two_causes(),
        examples::stepwise(),
        examples::attached(),
    ] {
        assert_harmless(&of(Body::Answer(&hostile::<Answer>(&answer))));
    }
}

#[test]
fn no_string_of_a_comparison_or_a_sweep_comes_through_as_markup() {
    assert_harmless(&of(Body::Comparison(&hostile(&compared::slower()))));
    assert_harmless(&of(Body::Comparison(&hostile(&compared::gated()))));
    assert_harmless(&of(Body::Sweep(&hostile(&swept::cliff()))));
    assert_harmless(&of(Body::Sweep(&hostile(&swept::growth()))));
}

#[test]
fn there_is_one_headline_with_the_verdict_and_a_way_past_the_navigation() {
    let html = of(Body::Answer(&examples::proved()));
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(
        html.contains("<h1>Confirmed: Nagle&#39;s algorithm and delayed ACKs hold the client&#39;s writes</h1>"),
        "{html}"
    );
    assert!(html.contains("class=\"skip\" href=\"#content\"") && html.contains("id=\"content\""));
    assert!(html.contains("<code class=\"copyable\">whyslow run -- python3 client.py</code>"));
    assert!(of(Body::Answer(&examples::healthy())).contains("<h1>No cause found</h1>"));
    assert!(of(Body::Answer(&examples::refuted())).contains("<h1>No cause found</h1>"));
    assert!(of(Body::Answer(&examples::undecided())).contains("<h1>Inconclusive</h1>"));
}

#[test]
fn what_no_finding_explains_is_the_headline_unless_a_cause_is_proved() {
    use case::{AccountGroup, Heaviest, Status};
    let mut answer = examples::slow();
    answer.heaviest = Some(Heaviest { group: AccountGroup::Network, ns: 83, of_ns: 100, ..Heaviest::default() });
    let is_said = |answer: &Answer| {
        of(Body::Answer(answer)).contains("<h1>83 % of each request is the network between client and server</h1>")
    };
    assert!(!is_said(&answer), "the finding explains it");
    answer.findings.iter_mut().for_each(|finding| finding.cost.share_of_wall = 0.05);
    assert!(is_said(&answer));
    answer.findings[0].status = Status::Confirmed;
    assert!(!is_said(&answer));
}

#[test]
fn a_comparison_and_a_sweep_have_headlines_of_their_own() {
    let faster = of(Body::Comparison(&compared::faster()));
    assert!(faster.contains("<h1>B is 5.22 times faster than A</h1>"), "{faster}");
    assert!(of(Body::Comparison(&compared::slower())).contains("<h1>B is 5.22 times slower than A</h1>"));
    assert!(of(Body::Comparison(&compared::same())).contains("<h1>A and B do not differ</h1>"));
    assert!(of(Body::Sweep(&swept::cliff())).contains("<h1>A cliff between "));
    assert!(of(Body::Sweep(&swept::growth())).contains("<h1>Superlinear: "));
}

#[test]
fn nothing_can_be_asked_for_from_outside() {
    let html = of(Body::Answer(&examples::proved()));
    assert!(html.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;;"), "{html}");
    let loads = ["src=\"", "srcset=", "@import", "<link", "<iframe", "<form", "<base", "url(http"];
    assert_eq!(loads.into_iter().find(|load| html.contains(load)), None);
}

#[test]
fn small_material_makes_a_small_page() {
    let sides = vec![crate::document::SideViews { name: String::new(), views: Views::default() }];
    let answer = examples::proved();
    let html = page(&Document {
        body: Body::Answer(&answer),
        sides,
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    });
    assert!(html.len() < 250_000, "{} bytes", html.len());
}

fn sides(views: Views) -> Vec<crate::document::SideViews> {
    vec![crate::document::SideViews { name: String::new(), views }]
}

#[test]
fn the_masthead_says_when_it_was_recorded() {
    let answer = examples::proved();
    let (group, name, value) = ("Recording".into(), "began".into(), "2026-11-26 04:20:00 UTC".into());
    let environment = vec![case::views::Fact { group, name, value }];
    let sides = sides(Views { environment, ..Views::default() });
    let html = page(&Document { sides, ..Document::of(&answer) });
    assert!(html.contains("<p class=\"recorded\">Recorded 2026-11-26 04:20:00 UTC</p>"), "{html}");
    assert!(!of(Body::Answer(&examples::proved())).contains("class=\"recorded\""));
}

#[test]
fn the_same_again_is_typed_whole_and_with_its_server() {
    let mut answer = examples::proved();
    answer.command.push("a".repeat(4_000));
    let server = ["nginx", "-c", "/a b"].map(String::from).to_vec();
    let sides = sides(Views { server, ..Views::default() });
    let html = page(&Document {
        body: Body::Answer(&answer),
        sides,
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    });
    let again = html.split("<dt>Run again</dt>").nth(1).expect("again").split("</code>").next().expect("a command");
    let again = again.replace("&#39;", "'");
    assert!(again.contains(r"whyslow run --server 'nginx -c '\''/a b'\''' -- python3"), "{again}");
    assert!(again.ends_with(&"a".repeat(4_000)), "{again}");
}

#[test]
fn a_recording_that_was_cut_short_says_so_on_top_and_is_run_again() {
    let mut answer = examples::healthy();
    answer.subject_exit = None;
    let sides = sides(Views { cut_short: true, ..Views::default() });
    let html = page(&Document {
        body: Body::Answer(&answer),
        sides,
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    });
    let top = html.split("</header>").next().expect("a head");
    assert!(top.contains("This recording was cut short: its last rows may be missing."), "{top}");
    assert!(html.contains("whyslow run -- ") && !html.contains("whyslow attach PID"), "{html}");
    assert!(!of(Body::Answer(&examples::healthy())).contains("cut short"));
}

#[test]
fn on_paper_columns_keep_their_headings() {
    // Scripts turn headings into buttons, and buttons are left out on paper.
    let html = of(Body::Answer(&examples::proved()));
    let printed = html.split("@media print").nth(1).expect("rules for paper");
    assert!(printed.contains("th button { display: inline !important"), "{printed}");
}

#[test]
fn a_device_keeps_its_folder_beneath_the_headline() {
    let mut answer = examples::proved();
    answer.command = ["curl", "--output", "/dev/null", "--cacert", "/etc/ssl/all.pem"].map(String::from).to_vec();
    let html = of(Body::Answer(&answer));
    let top = html.split("</header>").next().expect("a head");
    assert!(top.contains(">curl --output /dev/null --cacert all.pem<"), "{top}");
}
