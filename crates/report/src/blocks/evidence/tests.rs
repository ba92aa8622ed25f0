use super::*;
use crate::document::{Body, Document, SideViews};
use crate::examples::answer as examples;
use case::views::{EvidenceRow, Views};

fn drawn(answer: &Answer, table: &str, cell: &str) -> String {
    let evidence = vec![EvidenceView {
        finding: 0,
        table: table.into(),
        columns: vec!["call".into()],
        rows: vec![EvidenceRow { row: 1361, cells: vec![cell.into()] }],
    }];
    let sides = vec![SideViews { name: String::new(), views: Views { evidence, ..Views::default() } }];
    html(&Document { body: Body::Answer(answer), sides, differences: Vec::new(), arms: Vec::new(), manifest: None })
}

#[test]
fn each_finding_has_its_rows_and_the_query_for_them() {
    let html = drawn(&examples::proved(), "calls", "write");
    assert!(
        html.contains("id=\"evidence-1\"") && html.contains("row 1,361") && html.contains("<td>write</td>"),
        "{html}"
    );
    assert!(html.contains("tables/calls.parquet") && html.contains("file_row_number in (1361)"), "{html}");
    assert!(!drawn(&examples::proved(), "calls", "<b>").contains("<b>"));
}

#[test]
fn a_row_of_a_second_look_is_asked_for_in_its_own_folder() {
    let html = drawn(&examples::proved(), "after-bound-sscanf/samples", "main");
    assert!(html.contains("/after-bound-sscanf/tables/samples.parquet"), "{html}");
}

#[test]
fn rows_that_only_a_second_look_has_are_listed_and_not_drawn() {
    let mut answer = examples::proved();
    answer.case = "/home/me/a case".into();
    answer.findings[0].evidence = case::Evidence { table: "after-bound-sscanf/samples".into(), rows: vec![8, 9] };
    let sides = vec![SideViews { name: String::new(), views: Views::default() }];
    let html = html(&Document {
        body: Body::Answer(&answer),
        sides,
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    });
    assert!(html.contains("recorded a second time") && html.contains("rows 8; 9"), "{html}");
    assert!(html.contains("a case/after-bound-sscanf&#39;") && !html.contains("<table"), "{html}");
    assert!(html.contains("file_row_number in (8, 9)"), "{html}");
}

#[test]
fn a_path_that_a_shell_would_act_on_is_quoted() {
    let mut answer = examples::proved();
    answer.case = "/home/me/$(reboot)".into();
    let rows = EvidenceView { table: "calls".into(), ..EvidenceView::default() };
    assert!(query(&rows, &answer).starts_with("duckdb -c 'select"), "{}", query(&rows, &answer));
}

#[test]
fn without_rows_there_is_no_section() {
    let answer = examples::slow();
    let document = Document {
        body: Body::Answer(&answer),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    assert_eq!(html(&document), "");
}
