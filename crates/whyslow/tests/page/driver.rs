//! The driver itself: tests that look for problems prove something only if problems are seen.

use super::browser::{Browser, View, WIDE};

#[test]
fn the_browser_counts_what_a_page_does() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let html = "<!doctype html><title>t</title><button onclick=\"document.title='clicked'\">b</button><input>\
        <script>alert(1); console.error('bad'); fetch('http://127.0.0.1:9/x').catch(() => 0)</script>";
    std::fs::write(&file, html).expect("written");
    browser.open(&file, WIDE);
    assert!(browser.problems().len() >= 2, "{:?}", browser.problems());
    assert!(browser.requests().iter().any(|url| url.contains("127.0.0.1:9")), "{:?}", browser.requests());
    browser.click("button");
    assert_eq!(browser.text("document.title"), "clicked");
    browser.click("input");
    browser.write("hello");
    assert_eq!(browser.text("document.querySelector('input').value"), "hello");
    browser.open(&file, View { scripts: false, ..WIDE });
    assert_eq!(browser.problems(), Vec::<String>::new());
}
