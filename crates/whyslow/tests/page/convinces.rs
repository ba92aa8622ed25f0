//! What a colleague looks for is on the page, and can be clicked, searched and read on a phone.

use super::browser::{Browser, View, WIDE};
use super::subject::nagle;
use testing::slowness;

/// The page of the nagle story in a browser; nothing where either is missing here.
fn shown(view: View) -> Option<Browser> {
    let subject = nagle()?;
    let mut browser = Browser::start()?;
    browser.open(&subject.page, view);
    Some(browser)
}

/// Nothing went wrong, and nothing but the file itself was asked for.
fn is_quiet(browser: &Browser) {
    assert_eq!(browser.problems(), Vec::<String>::new());
    let outside = browser.requests().into_iter().filter(|url| !url.starts_with("file://") && url != "about:blank");
    assert_eq!(outside.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_verdict_the_proof_and_the_place_stand_on_top() {
    let Some(mut browser) = shown(WIDE) else { return };
    assert!(browser.text("document.querySelector('h1').innerText").contains("Nagle's algorithm and delayed ACKs hold"));
    let verdict = browser.text("document.querySelector('#verdict').innerText");
    for word in ["Confirmed", "nagle-delayed-ack", "client.py:", "TCP_NODELAY", "95 % interval"] {
        assert!(verdict.contains(word), "{word} in: {verdict}");
    }
    let height = browser.evaluate("document.querySelector('#verdict').getBoundingClientRect().bottom");
    assert!(height.as_f64().is_some_and(|bottom| bottom < 1_800.0), "the verdict ends at {height}");
    is_quiet(&browser);
}

#[test]
fn every_intervention_has_its_dots_before_and_after() {
    let Some(mut browser) = shown(WIDE) else { return };
    for name in ["sham", "tcp-nodelay", "coalesce-writes"] {
        let rows = format!("#proof [data-intervention='{name}'] circle");
        let count = |browser: &mut Browser, class: &str| {
            browser.evaluate(&format!("document.querySelectorAll(\"{rows}.{class}\").length")).as_u64().unwrap_or(0)
        };
        let (before, after) = (count(&mut browser, "slow"), count(&mut browser, "fast"));
        assert!(before >= 4 && after >= 4, "{name}: {before} dots without, {after} with");
    }
    let whisker = "document.querySelectorAll(\"#proof [data-intervention='tcp-nodelay'] .whisker\").length > 0";
    assert_eq!(browser.evaluate(whisker), true);
}

#[test]
fn the_ladder_shows_the_gap_of_forty_milliseconds_to_scale() {
    let Some(mut browser) = shown(WIDE) else { return };
    let gap = browser.evaluate(
        "(() => { const drawing = [...document.querySelectorAll('#ladder svg')].find(one => one.clientHeight > 0); \
         const name = drawing.querySelector('.delay text').textContent; \
         const held = [...drawing.querySelectorAll('rect.piece')].map(one => one.getBoundingClientRect().height); \
         return {name, largest: Math.max(...held), all: held.reduce((sum, one) => sum + one, 0)}; })()",
    );
    let name = gap["name"].as_str().expect("a named delay");
    assert!(name.contains("held by Nagle until the peer acknowledges"), "{name}");
    let length = name.split_whitespace().rev().nth(1).and_then(|figure| figure.parse::<f64>().ok());
    // The kernel's 40 ms, a tick, and what is left of a request.
    let most = 50.0 + 10.0 * slowness();
    assert!(name.ends_with("ms") && length.is_some_and(|length| (35.0..most).contains(&length)), "{name}");
    let (largest, all) = (gap["largest"].as_f64().expect("a height"), gap["all"].as_f64().expect("a height"));
    assert!(largest > 200.0 && largest / all > 0.8, "the gap takes {largest} of {all} pixels");
    let records = browser.text("document.querySelector('#ladder').innerText");
    assert!(records.contains("TLS application data") && records.contains("client.py"), "{records}");
}

#[test]
fn the_flame_graph_is_drawn_zoomed_and_searched() {
    let Some(mut browser) = shown(WIDE) else { return };
    let painted = "(() => { const canvas = document.querySelector('#flame-processor'); \
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, Math.min(canvas.height, 200)).data; \
        const colours = new Set(); for (let at = 0; at < data.length; at += 4) \
        colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]); return colours.size; })()";
    assert!(browser.evaluate(painted).as_u64().is_some_and(|colours| colours > 5));
    browser.evaluate("document.querySelector('#flame-processor').scrollIntoView({block: 'start'})");
    let before = browser.text("document.querySelector('#flame-processor-path').textContent");
    let frame = browser.evaluate(
        "(() => { const canvas = document.querySelector('#flame-processor'); const box = canvas.getBoundingClientRect(); \
         const inner = canvas.frames.filter(one => one.width > 30 && one.y > 20 && box.y + one.y < 800 && box.y + one.y > 60 \
         && one.width < box.width * 0.8)[0]; \
         return inner && {x: box.x + inner.x + inner.width / 2, y: box.y + inner.y + inner.height / 2}; })()",
    );
    browser.click_at(frame["x"].as_f64().expect("a frame"), frame["y"].as_f64().expect("a frame"));
    let zoomed = browser.text("document.querySelector('#flame-processor-path').textContent");
    assert!(zoomed.len() > before.len(), "{before} became {zoomed}");
    browser.click("#flame-processor-search");
    browser.write("SSL");
    let status = browser.text("document.querySelector('#flame-processor-status').textContent");
    assert!(status.contains('%'), "{status}");
    browser.press("Escape");
    is_quiet(&browser);
}

#[test]
fn an_account_leads_down_to_its_exchanges() {
    let Some(mut browser) = shown(WIDE) else { return };
    browser.click("#ledger a.segment");
    let opened = browser.text("document.querySelector('#ledger details[open]')?.innerText");
    assert!(opened.contains("held by Nagle") && opened.contains("request"), "{opened}");
    browser.click("#ledger details[open] a[href^='#ladder-']");
    let target = browser.evaluate(
        "(() => { const target = document.querySelector(location.hash); return target && target.clientHeight > 0; })()",
    );
    assert_eq!(target, true, "the exchange's ladder is not shown");
    is_quiet(&browser);
}

#[test]
fn the_distribution_and_the_course_over_time_are_drawn() {
    let Some(mut browser) = shown(WIDE) else { return };
    assert_eq!(browser.evaluate("document.querySelector('#lengths svg.ecdf').clientHeight > 50"), true);
    assert_eq!(browser.evaluate("document.querySelectorAll('#lengths .over-time .uplot canvas').length"), 1);
    let rows = browser.evaluate("document.querySelectorAll('#calls tbody tr').length").as_u64();
    assert!(rows.is_some_and(|rows| rows >= 5), "{rows:?} kinds of calls");
    let first = |browser: &mut Browser| browser.text("document.querySelector('#calls tbody tr').innerText");
    let before = first(&mut browser);
    browser.click("#calls th button");
    let sorted = first(&mut browser);
    browser.click("#calls th button");
    assert!(first(&mut browser) != sorted || sorted != before, "sorting does nothing");
    is_quiet(&browser);
}

#[test]
fn nothing_sticks_out_on_a_phone_and_dark_is_dark() {
    let Some(mut browser) = shown(View { width: 400, ..WIDE }) else { return };
    let width = browser.evaluate("document.scrollingElement.scrollWidth").as_u64();
    assert_eq!(width, Some(400));
    is_quiet(&browser);
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = browser.text(paper);
    let subject = nagle().expect("subject before");
    browser.open(&subject.page, View { width: 400, dark: true, ..WIDE });
    let dark = browser.text(paper);
    assert_ne!(light, dark);
    is_quiet(&browser);
}

#[test]
fn every_control_can_be_reached_by_keyboard() {
    let Some(mut browser) = shown(WIDE) else { return };
    let unreachable = browser.evaluate(
        "[...document.querySelectorAll('[onclick], [role=button], canvas')] \
         .filter(one => one.tabIndex < 0 && one.clientHeight > 0 && !one.closest('.uplot')).map(one => one.outerHTML.slice(0, 80))",
    );
    assert_eq!(unreachable, serde_json::json!([]));
    browser.press("Tab");
    let first = browser.text("document.activeElement.textContent");
    assert!(!first.is_empty(), "the first stop of the tabulator has no name");
}
