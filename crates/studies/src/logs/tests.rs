use super::*;
use std::path::Path;

/// Three days of a blog's log in hours: visitors by day and night, and from an hour on a crawler.
fn blog(folder: &Path, onset_hour: u64, crawler_each_hour: u64) -> PathBuf {
    let mut text = String::new();
    let start = 1_714_521_600; // 2024-05-01 00:00 UTC
    for hour in 0..72u64 {
        let visitors = if (8..22).contains(&(hour % 24)) { 40 + hour % 7 } else { 12 + hour % 5 };
        let crawled = if hour >= onset_hour { crawler_each_hour + hour % 3 } else { 0 };
        for at in 0..visitors + crawled {
            let time = start + hour * 3_600 + at * 20;
            let (address, agent, target) = if at < visitors {
                (
                    format!("198.51.{}.{}", at % 9, hour),
                    "Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0",
                    format!("/post/{}", at % 9),
                )
            } else {
                (
                    "203.0.113.7".into(),
                    "Mozilla/5.0 (compatible; ExampleBot/1.0; +http://bot.example)",
                    format!("/tag/{at}?page={hour}"),
                )
            };
            text += &format!(
                "{{\"ts\":{time},\"remote_ip\":\"{address}\",\"uri\":\"{target}\",\"status\":200,\"size\":1000,\"duration\":0.01,\"user_agent\":\"{agent}\"}}\n"
            );
        }
    }
    let path = folder.join("access.json");
    std::fs::write(&path, text).expect("written");
    path
}

fn of(onset_hour: u64, crawler_each_hour: u64) -> Traffic {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = vec![blog(folder.path(), onset_hour, crawler_each_hour)];
    logs(&Request { paths, ..Request::default() }).expect("read")
}

#[test]
fn a_crawler_is_named_with_its_onset_its_share_and_what_blocking_saves() {
    let traffic = of(40, 100);
    let [suspect] = &traffic.suspects[..] else { panic!("{:?}", traffic.suspects) };
    assert_eq!((suspect.name.as_str(), suspect.kind), ("ExampleBot", AgentKind::Crawler));
    let onset = suspect.onset.as_ref().expect("an onset");
    let truth = 1_714_521_600 + 40 * 3_600;
    assert!(onset.low_s <= truth && truth <= onset.high_s + 3_600, "{onset:?}");
    assert!(
        onset.at_s.abs_diff(truth) <= 3_600 && onset.before < 1.0 && onset.file.ends_with("access.json"),
        "{onset:?}"
    );
    assert_eq!(suspect.demand.requests, (40..72).map(|hour| 100 + hour % 3).sum::<u64>());
    assert!((suspect.share_of_requests - suspect.share_of_time).abs() < 1e-6);
    assert_eq!(suspect.networks[0].name, "203.0.113.0/24");
    assert_eq!(suspect.routes[0].name, "/tag/{n}?");
    assert_eq!(traffic.series.requests.iter().sum::<u64>(), traffic.total.requests);
    assert_eq!(traffic.series.of_suspects[0].iter().sum::<u64>(), suspect.demand.requests);
    assert_eq!(
        traffic.days.iter().map(|day| day.start_s).collect::<Vec<_>>(),
        [0, 1, 2].map(|day| 1_714_521_600 + day * 86_400)
    );
    assert_eq!(traffic.days.iter().flat_map(|day| &day.requests).sum::<u64>(), traffic.total.requests);
    assert!(traffic.days[1].requests[16] > 100 && traffic.days[0].requests[16] < 100, "the hour of the onset");
}

#[test]
fn visitors_by_day_and_night_are_nobodys_onset() {
    let traffic = of(100, 0);
    assert!(traffic.suspects.is_empty(), "{:?}", traffic.suspects);
    assert_eq!(traffic.lines, traffic.total.requests);
}

#[test]
fn a_crawler_that_was_there_all_along_has_no_onset() {
    let traffic = of(0, 60);
    assert_eq!(traffic.suspects.len(), 1);
    assert_eq!(traffic.suspects[0].onset, None);
}
