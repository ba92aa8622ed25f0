//! Handing messages over: a thread for each channel, so that one that is down or slow holds up no other.

use crate::channel::Channel;
use crate::handed::Handed;
use crate::message::{Message, State};
use crate::rules::Rules;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Messages that wait for one channel. Beyond, they are dropped and counted.
const MOST_WAITING: usize = 256;
/// The first pause after a failure; each next one is twice as long ...
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// ... up to this.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// A message that could not be handed over for so long is given up: whoever is to know has found out.
const LONGEST_TRYING: Duration = Duration::from_hours(24);
/// The time in which messages are limited.
const HOUR: Duration = Duration::from_hours(1);

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The channel's name.
    pub channel: String,
    /// The message's key.
    pub key: String,
    /// Why it was not taken; none where it was.
    pub failed: Option<String>,
    /// Whether it will be tried again.
    pub again: bool,
}

/// The channels at work.
pub struct Delivery {
    queues: Vec<(String, SyncSender<Message>)>,
    threads: Vec<JoinHandle<()>>,
    outcomes: Receiver<Outcome>,
    report: mpsc::Sender<Outcome>,
}

impl Delivery {
    /// Starts a thread for each channel.
    pub fn start(rules: Rules) -> Delivery {
        Delivery::with_pause(rules, FIRST_PAUSE)
    }

    /// The same with another first pause.
    pub fn with_pause(rules: Rules, pause: Duration) -> Delivery {
        let (report, outcomes) = mpsc::channel();
        let (mut queues, mut threads) = (Vec::new(), Vec::new());
        for channel in rules.channels {
            let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
            let report = report.clone();
            queues.push((channel.name.clone(), sender));
            threads.push(std::thread::spawn(move || Worker::new(channel, pause, report).work(&receiver)));
        }
        Delivery { queues, threads, outcomes, report }
    }

    /// Hands messages to the channels that they are for.
    pub fn send(&self, messages: Vec<(Vec<usize>, Message)>) {
        for (places, message) in messages {
            for (name, queue) in places.iter().filter_map(|place| self.queues.get(*place)) {
                if let Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) =
                    queue.try_send(message.clone())
                {
                    let failed = Some(format!("{MOST_WAITING} messages wait for it already"));
                    let _ = self.report.send(Outcome { channel: name.clone(), key: message.key, failed, again: false });
                }
            }
        }
    }

    /// What became of messages since this was last asked.
    pub fn outcomes(&self) -> Vec<Outcome> {
        self.outcomes.try_iter().collect()
    }

    /// Takes no more messages, and waits a while for those that are under way: what is left then.
    pub fn finish(self, longest: Duration) -> Vec<Outcome> {
        drop(self.queues);
        let until = Instant::now() + longest;
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.outcomes.try_iter().collect()
    }
}

/// One channel's thread.
struct Worker {
    channel: Channel,
    pause: Duration,
    report: mpsc::Sender<Outcome>,
    /// When messages were taken in the last hour.
    taken: VecDeque<Instant>,
    /// How many were not sent, as there were too many.
    suppressed: u64,
}

impl Worker {
    fn new(channel: Channel, pause: Duration, report: mpsc::Sender<Outcome>) -> Worker {
        Worker { channel, pause, report, taken: VecDeque::new(), suppressed: 0 }
    }

    fn work(mut self, queue: &Receiver<Message>) {
        loop {
            let room_at = self.room_at();
            let wait = match room_at {
                Some(at) if self.suppressed > 0 => at.saturating_duration_since(Instant::now()),
                _ => HOUR,
            };
            match queue.recv_timeout(wait) {
                Ok(message) => self.take(&message),
                Err(RecvTimeoutError::Timeout) => self.tell_suppressed(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// When there is room for one more within the limit: none for now.
    fn room_at(&mut self) -> Option<Instant> {
        while self.taken.front().is_some_and(|first| first.elapsed() >= HOUR) {
            self.taken.pop_front();
        }
        let is_full = self.taken.len() >= self.channel.most_an_hour as usize;
        is_full.then(|| self.taken.front().copied().unwrap_or_else(Instant::now) + HOUR)
    }

    fn take(&mut self, message: &Message) {
        if self.room_at().is_some() {
            self.suppressed += 1;
            let failed = Some("more messages than its limit allows".to_string());
            self.tell(message, failed, false);
            return;
        }
        self.tell_suppressed();
        self.deliver(message);
    }

    /// How many were held back, when there is room again.
    fn tell_suppressed(&mut self) {
        if self.suppressed == 0 || self.room_at().is_some() {
            return;
        }
        let count = std::mem::take(&mut self.suppressed);
        let text = format!("{count} messages were not sent: more than {} an hour", self.channel.most_an_hour);
        let (key, rule, service) = (format!("suppressed-{count}-{}", self.channel.name), String::new(), String::new());
        self.deliver(&Message { key, state: State::Suppressed, rule, service, at_ms: 0, text });
    }

    /// Until it is taken, or never will be.
    fn deliver(&mut self, message: &Message) {
        let begun = Instant::now();
        let mut pause = self.pause;
        loop {
            match self.channel.hand_over(message) {
                Handed::Taken => {
                    self.taken.push_back(Instant::now());
                    return self.tell(message, None, false);
                }
                Handed::Refused(why) => return self.tell(message, Some(why), false),
                Handed::Later { why, after } => {
                    let wait = after.unwrap_or(pause).clamp(pause.min(LONGEST_PAUSE), LONGEST_PAUSE.max(pause));
                    let again = begun.elapsed() + wait < LONGEST_TRYING;
                    self.tell(message, Some(why), again);
                    if !again {
                        return;
                    }
                    std::thread::sleep(wait);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn tell(&self, message: &Message, failed: Option<String>, again: bool) {
        // Nobody listens any more: we are ending.
        let _ =
            self.report.send(Outcome { channel: self.channel.name.clone(), key: message.key.clone(), failed, again });
    }
}
