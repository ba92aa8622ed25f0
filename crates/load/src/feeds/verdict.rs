//! What an answer means for a feed. Pure: an answer goes in, and what is known of the feed comes out changed.

use super::address;
use super::coding::Plain;
use super::entries;
use super::job::Job;
use super::retry;
use super::state::FeedState;
use super::store::remember;
use super::tally::{Cost, Counts, Outcome};
use crate::address::Url;
use crate::protocol::Answered;
use case::{ContentFault, FeedFault, FeedPhase};
use std::time::Instant;

/// Redirects one after another; browsers follow some twenty, and feeds need two.
const MOST_HOPS: usize = 5;

/// What is to be done after an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Ask somewhere else.
    Follow(Url, Redirect),
    /// The feed is seen to.
    Settled(Settled),
}

/// How long a redirect holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    ForGood,
    ForNow,
}

/// What came of a feed.
#[derive(Debug, PartialEq)]
pub(crate) struct Settled {
    pub outcome: Outcome,
    pub state: FeedState,
    /// The entries to be remembered, where they have changed.
    pub seen: Option<Vec<u64>>,
    /// Until when its server wants to be left alone, in seconds since 1970.
    pub rests_until_s: Option<i64>,
}

impl Settled {
    /// Without anything new to be known.
    pub(crate) fn with(outcome: Outcome, state: FeedState) -> Settled {
        Settled { outcome, state, seen: None, rests_until_s: None }
    }
}

/// Decides what an answer means. `seen` tells the entries that were seen before, where they are asked for.
pub(crate) fn decide(
    answered: &Answered,
    job: &Job,
    state: FeedState,
    (most_inflated, now_s): (u64, i64),
    seen: impl FnOnce() -> Vec<u64>,
    counts: &mut Counts,
) -> Step {
    let failed = |fault: ContentFault, state: FeedState| {
        Step::Settled(Settled::with(Outcome::Failed(FeedFault::Content(fault)), state))
    };
    match answered.status {
        200 | 203 => match read(answered, most_inflated, counts) {
            Err(fault) => failed(fault, state),
            Ok(entries) => {
                let (kept, new) = remember(&seen(), &entries);
                let outcome = if new == 0 { Outcome::WithoutNews } else { Outcome::WithNews(new) };
                let state = FeedState {
                    validated: job.url.text.clone(),
                    etag: answered.etag.clone(),
                    last_modified: answered.last_modified.clone(),
                    ..reached(job, state)
                };
                Step::Settled(Settled { seen: Some(kept), ..Settled::with(outcome, state) })
            }
        },
        304 if state.validated == job.url.text && state.has_validators() => {
            Step::Settled(Settled::with(Outcome::Unchanged, reached(job, state)))
        }
        304 => failed(ContentFault::UnaskedNotModified, state),
        status @ (301 | 302 | 303 | 307 | 308) => match follow(job, &answered.location) {
            Err(fault) => failed(fault, state),
            Ok(url) => {
                Step::Follow(url, if matches!(status, 301 | 308) { Redirect::ForGood } else { Redirect::ForNow })
            }
        },
        410 => Step::Settled(Settled::with(Outcome::Gone, FeedState { is_gone: true, ..state })),
        status @ (429 | 503) => match retry::until(&answered.retry_after, now_s) {
            None if status == 429 => failed(ContentFault::ClientError, state),
            None => failed(ContentFault::ServerError, state),
            Some(until) => {
                let state = FeedState { not_before_s: until, ..state };
                Step::Settled(Settled { rests_until_s: Some(until), ..Settled::with(Outcome::PutOff, state) })
            }
        },
        // Where it moved to it is no more: the next round begins with the address on the list.
        400..=499 => failed(ContentFault::ClientError, FeedState { moved_to: String::new(), ..state }),
        500..=599 => failed(ContentFault::ServerError, state),
        _ => failed(ContentFault::OddStatus, state),
    }
}

/// The state of a feed that was reached: where it has moved for good is remembered.
fn reached(job: &Job, state: FeedState) -> FeedState {
    let has_moved = !job.hops.is_empty() && job.is_permanent;
    let moved_to = if has_moved { job.url.text.clone() } else { state.moved_to.clone() };
    FeedState { moved_to, not_before_s: 0, ..state }
}

fn follow(job: &Job, location: &str) -> Result<Url, ContentFault> {
    let url = address::join(&job.url, location).ok_or(ContentFault::BadRedirect)?;
    if url.text == job.url.text || job.hops.contains(&url.text) {
        return Err(ContentFault::RedirectLoop);
    }
    if job.hops.len() >= MOST_HOPS { Err(ContentFault::TooManyRedirects) } else { Ok(url) }
}

fn read(answered: &Answered, most_inflated: u64, counts: &mut Counts) -> Result<Vec<u64>, ContentFault> {
    let begun = Instant::now();
    let mut plain = Plain::of(&answered.coding, &answered.body, most_inflated)?;
    let found = entries::read(&mut plain);
    let whole = begun.elapsed();
    counts.inflated += plain.count;
    counts.spend(Cost { phase: FeedPhase::Inflate, time: plain.cost });
    counts.spend(Cost { phase: FeedPhase::Parse, time: whole.saturating_sub(plain.cost) });
    found
}

#[cfg(test)]
mod tests {
    use super::super::job::Purpose;
    use super::*;

    const RSS: &[u8] = b"<rss><channel><item><guid>1</guid></item><item><guid>2</guid></item></channel></rss>";

    fn job() -> Job {
        Job::of(Purpose::Feed(0), address::read("http://a.test/x").expect("an address"), FeedState::default())
    }

    fn decided(answered: &Answered, job: &Job, state: FeedState, seen: Vec<u64>) -> Step {
        decide(answered, job, state, (1 << 20, 1000), || seen, &mut Counts::default())
    }

    fn settled(answered: &Answered, job: &Job, state: FeedState, seen: Vec<u64>) -> Settled {
        match decided(answered, job, state, seen) {
            Step::Settled(settled) => settled,
            Step::Follow(url, _) => panic!("{url:?}"),
        }
    }

    fn status(status: u16) -> Answered {
        Answered { status, ..Answered::default() }
    }

    fn fault(answered: &Answered) -> ContentFault {
        match settled(answered, &job(), FeedState::default(), Vec::new()).outcome {
            Outcome::Failed(FeedFault::Content(fault)) => fault,
            outcome => panic!("{outcome:?}"),
        }
    }

    #[test]
    fn a_feed_is_read_once_and_then_known_by_its_validators() {
        let answered = Answered { etag: "\"1\"".into(), body: RSS.to_vec(), ..status(200) };
        let first = settled(&answered, &job(), FeedState::default(), Vec::new());
        assert_eq!((first.outcome, first.seen.as_ref().map(Vec::len)), (Outcome::WithNews(2), Some(2)));
        assert_eq!((first.state.etag.as_str(), first.state.validated.as_str()), ("\"1\"", "http://a.test/x"));
        let seen = first.seen.expect("entries");
        assert_eq!(settled(&answered, &job(), first.state.clone(), seen).outcome, Outcome::WithoutNews);
        let second = settled(&status(304), &job(), first.state.clone(), Vec::new());
        assert_eq!(second, Settled::with(Outcome::Unchanged, first.state));
        assert_eq!(fault(&status(304)), ContentFault::UnaskedNotModified);
    }

    #[test]
    fn redirects_are_followed_and_remembered_where_all_are_for_good() {
        let to = |code, location: &str| Answered { location: location.into(), ..status(code) };
        let there = address::read("http://b.test/y").expect("an address");
        let step = decided(&to(301, "http://b.test/y"), &job(), FeedState::default(), Vec::new());
        assert_eq!(step, Step::Follow(there.clone(), Redirect::ForGood));
        assert!(matches!(
            decided(&to(307, "/y"), &job(), FeedState::default(), Vec::new()),
            Step::Follow(_, Redirect::ForNow)
        ));
        let mut moved = Job { url: there, hops: vec!["http://a.test/x".into()], ..job() };
        let body = Answered { body: RSS.to_vec(), ..status(200) };
        let of = |job: &Job| settled(&body, job, FeedState::default(), Vec::new()).state.moved_to;
        assert_eq!(of(&moved), "http://b.test/y");
        moved.is_permanent = false;
        assert_eq!(of(&moved), "");
        let state = FeedState { moved_to: "http://b.test/y".into(), ..FeedState::default() };
        assert_eq!(settled(&status(404), &job(), state, Vec::new()).state.moved_to, "");
        assert_eq!(fault(&to(302, "")), ContentFault::BadRedirect);
        assert_eq!(fault(&to(302, "x")), ContentFault::RedirectLoop);
        let far = Job { hops: (0..5).map(|hop| hop.to_string()).collect(), ..job() };
        let outcome = settled(&to(302, "/y"), &far, FeedState::default(), Vec::new()).outcome;
        assert_eq!(outcome, Outcome::Failed(FeedFault::Content(ContentFault::TooManyRedirects)));
    }

    #[test]
    fn what_a_server_asks_for_is_remembered() {
        let wait = Answered { retry_after: "60".into(), ..status(429) };
        let put_off = settled(&wait, &job(), FeedState::default(), Vec::new());
        assert_eq!((put_off.outcome, put_off.rests_until_s), (Outcome::PutOff, Some(1060)));
        assert_eq!(put_off.state.not_before_s, 1060);
        let gone = settled(&status(410), &job(), FeedState::default(), Vec::new());
        assert!(gone.outcome == Outcome::Gone && gone.state.is_gone);
    }

    #[test]
    fn every_other_status_has_a_name() {
        let names = [404, 429, 500, 503, 204, 206, 999].map(|code| fault(&status(code)));
        let (client, server, odd) = (ContentFault::ClientError, ContentFault::ServerError, ContentFault::OddStatus);
        assert_eq!(names, [client, client, server, server, odd, odd, odd]);
        assert_eq!(fault(&Answered { coding: "br, gzip".into(), ..status(200) }), ContentFault::UnknownCoding);
    }
}
