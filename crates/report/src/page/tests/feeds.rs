//! Feeds on the page.

use crate::document::{Body, Document};
use crate::examples::feeds as examples;
use crate::examples::views::assert_harmless;
use crate::hostile::HOSTILE;
use crate::page::page;
use case::FeedHistory;

fn of<'a>(body: impl Into<Body<'a>>) -> String {
    page(&Document::of(body))
}

#[test]
fn no_string_of_a_feed_comes_through_as_markup() {
    let mut refresh = examples::refreshed();
    (refresh.list, refresh.database) = (HOSTILE.into(), HOSTILE.into());
    for round in &mut refresh.rounds {
        round.errors.iter_mut().for_each(|one| one.example = HOSTILE.into());
        round.slowest.iter_mut().for_each(|one| one.origin = HOSTILE.into());
    }
    assert_harmless(&of(&refresh));
    assert_harmless(&of(&FeedHistory { list: HOSTILE.into(), database: HOSTILE.into(), ..examples::slower() }));
}

#[test]
fn the_chart_shows_every_round_and_where_it_changed() {
    let page = of(&examples::slower());
    assert!(page.contains("<h1>Rounds took 2.01 times as long from 2024-05-01 06:50 on</h1>"), "headline");
    // Once wide and once narrow: 60 rounds, one of them interrupted; two levels, one step.
    let times = |words: &str| page.matches(words).count();
    assert_eq!((times("class=\"dot\""), times("class=\"part\"")), (118, 2));
    assert_eq!((times("class=\"level\""), times("class=\"onset\""), times("class=\"maybe\"")), (4, 2, 2));
    let page = of(&examples::level());
    assert!(page.contains("<h1>60 rounds, no change</h1>") && !page.contains("class=\"onset\""));
}
