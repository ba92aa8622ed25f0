use super::*;
use case::views::{FlameNode, Views};

const MS: u64 = 1_000_000;

fn node(parent: Option<u32>, function: &str, module: &str, ns: u64) -> FlameNode {
    FlameNode { parent, function: function.to_string(), module: module.to_string(), ns, before_ns: None }
}

/// `client shop > main > (parse > copy, send)`, of which `copy` takes most for itself.
fn flame() -> Flame {
    Flame {
        total_ns: 100 * MS,
        sample_ns: MS,
        of: "100 samples".to_string(),
        nodes: vec![
            node(None, "client shop", "shop", 100 * MS),
            node(Some(0), "main", "shop", 100 * MS),
            node(Some(1), "parse", "shop", 70 * MS),
            node(Some(2), "copy", "libcopy.so", 64 * MS),
            node(Some(1), "send", "shop", 30 * MS),
        ],
        ..Flame::default()
    }
}

/// The same of two sides: B copies more, and sends as much.
pub(super) fn difference() -> Flame {
    let mut flame = flame();
    for (node, before) in flame.nodes.iter_mut().zip([40, 40, 12, 6, 28]) {
        node.before_ns = Some(before * MS);
    }
    Flame { before_ns: Some(40 * MS), before_sample_ns: Some(MS), ..flame }
}

fn drawn_html(processor: Flame, blocked: Flame) -> String {
    let views = Views { processor, blocked, ..Views::default() };
    side_of_flames(&SideViews { name: String::new(), views }, "").render().expect("a template")
}

#[test]
fn the_table_holds_the_hottest_function_first_with_both_its_times() {
    let rows = functions::most(&flame());
    let first = &rows[0];
    assert_eq!(
        (first.function.as_str(), first.module.as_str(), first.caller.as_str()),
        ("copy", "libcopy.so", "parse")
    );
    assert_eq!((first.own.as_str(), first.own_share.as_str()), ("64.0 ms", "64.0 %"));
    let parse = rows.iter().find(|row| row.function == "parse").expect("parse");
    assert_eq!((parse.own.as_str(), parse.with_callees.as_str()), ("6.00 ms", "70.0 ms"));
    assert!(rows.iter().all(|row| row.function != "client shop" && row.function != "main"));
}

#[test]
fn a_function_that_is_called_by_itself_counts_once() {
    let mut flame = flame();
    flame.nodes[3] = node(Some(2), "parse", "shop", 64 * MS);
    let rows = functions::most(&flame);
    assert_eq!(
        (rows[0].function.as_str(), rows[0].own.as_str(), rows[0].with_callees.as_str()),
        ("parse", "70.0 ms", "70.0 ms")
    );
}

#[test]
fn the_hottest_path_goes_down_to_where_the_time_is() {
    let steps = hottest::path(&flame());
    let names: Vec<&str> = steps.iter().map(|step| step.function.as_str()).collect();
    assert_eq!(names, ["client shop", "main", "parse", "copy"]);
    assert_eq!((steps[3].depth, steps[3].time.as_str()), (3, "64.0 ms, 64.0 %"));
}

#[test]
fn a_difference_has_a_sign_and_says_where_it_may_be_chance() {
    let rows = functions::most(&difference());
    assert_eq!((rows[0].function.as_str(), rows[0].difference.as_str()), ("copy", "+58.0 ms"));
    let send = rows.iter().find(|row| row.function == "send").expect("send");
    assert_eq!(send.difference, "+2.00 ms (may be chance)");
    let names: Vec<String> = hottest::path(&difference()).into_iter().map(|step| step.function).collect();
    assert_eq!(names, ["client shop", "main", "parse", "copy"]);
}

#[test]
fn without_scripts_the_findings_are_there_and_the_picture_is_not() {
    let html = drawn_html(flame(), flame());
    for said in
        ["64.0 ms", "copy", "libcopy.so", "The hottest path", "100 samples", "<details class=\"flame-findings\" open>"]
    {
        assert!(html.contains(said), "{said} in {html}");
    }
    for id in ["flame-processor", "flame-processor-search", "flame-blocked-status", "flame-blocked-path"] {
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(html.contains("<div class=\"flame-picture\" hidden>"));
}

#[test]
fn a_hostile_name_is_text_everywhere() {
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}\u{1b}";
    let mut flame = flame();
    flame.nodes[3] = node(Some(2), hostile, hostile, 64 * MS);
    flame.nodes[0].function = format!("client {hostile}");
    flame.of = hostile.to_string();
    let html = drawn_html(flame, Flame::default());
    assert!(!html.contains("<img") && !html.contains('\u{202e}') && !html.contains('\u{1b}'));
    assert_eq!(html.matches("</script>").count(), 1, "only the data's own end");
    assert!(html.contains("img src=x onerror"), "it is still to be read");
}

#[test]
fn an_empty_profile_says_why_instead_of_showing_an_empty_box() {
    let idle = "1.20 s in which servers waited for work is left out";
    let html = drawn_html(Flame::default(), Flame { of: idle.to_string(), ..Flame::default() });
    assert!(html.contains("No samples were taken: the program used too little CPU time"));
    assert!(html.contains("No thread was seen blocked.") && html.contains(idle));
    assert!(!html.contains("<canvas") && !html.contains("flame-switch"));
}
