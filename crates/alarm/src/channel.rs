//! Where messages go.

use crate::handed::{Handed, PATIENCE};
use crate::http::{self, Post};
use crate::message::Message;
use crate::secret::{From, Secret};
use crate::smtp::Mail;
use serde::Deserialize;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So many messages an hour, where nothing else is said.
const MOST_AN_HOUR: u32 = 20;
/// Pushover's own address.
const PUSHOVER: &str = "https://api.pushover.net/1/messages.json";

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub name: String,
    pub most_an_hour: u32,
    pub kind: Kind,
}

/// What it is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Anything that takes `{"text": ...}`: Slack, Mattermost, Rocket.Chat.
    Slack { url: Secret, trusted: Option<PathBuf> },
    /// Pushover.
    Pushover { url: String, token: Secret, user: Secret, trusted: Option<PathBuf> },
    /// Anything that takes the message as JSON.
    Webhook { url: Secret, token: Option<Secret>, trusted: Option<PathBuf> },
    /// Mail.
    Smtp(Mail),
    /// A program: the message is its standard input, as JSON.
    Command(Vec<String>),
}

/// A channel as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Typed {
    name: String,
    most_an_hour: Option<u32>,
    /// A file of certificates to trust instead of the system's.
    trusted: Option<PathBuf>,
    slack: Option<From>,
    pushover: Option<TypedPushover>,
    webhook: Option<TypedWebhook>,
    smtp: Option<TypedMail>,
    command: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedPushover {
    token: From,
    user: From,
    url: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TypedWebhook {
    url: Option<String>,
    secret_url: Option<From>,
    token: Option<From>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedMail {
    server: String,
    from: String,
    to: Vec<String>,
    user: Option<String>,
    password: Option<From>,
    security: Option<crate::smtp::Security>,
}

impl Typed {
    pub fn channel(self) -> Result<Channel, String> {
        let name = self.name.clone();
        let most_an_hour = self.most_an_hour.unwrap_or(MOST_AN_HOUR).max(1);
        let kind = self.kind().map_err(|why| format!("channel `{name}`: {why}"))?;
        Ok(Channel { name, most_an_hour, kind })
    }

    fn kind(self) -> Result<Kind, String> {
        let trusted = self.trusted;
        match (self.slack, self.pushover, self.webhook, self.smtp, self.command) {
            (Some(url), None, None, None, None) => Ok(Kind::Slack { url: checked(url.read()?)?, trusted }),
            (None, Some(typed), None, None, None) => {
                let url = typed.url.unwrap_or_else(|| PUSHOVER.into());
                checked(Secret::open(&url))?;
                Ok(Kind::Pushover { url, token: typed.token.read()?, user: typed.user.read()?, trusted })
            }
            (None, None, Some(typed), None, None) => {
                let url = match (typed.url, typed.secret_url) {
                    (Some(url), None) => Secret::open(&url),
                    (None, Some(secret)) => secret.read()?,
                    _ => return Err("a webhook has either url or secret-url".into()),
                };
                let token = typed.token.map(|token| token.read()).transpose()?;
                Ok(Kind::Webhook { url: checked(url)?, token, trusted })
            }
            (None, None, None, Some(typed), None) => {
                let password = typed.password.map(|password| password.read()).transpose()?;
                let login = match (typed.user, password) {
                    (Some(user), Some(password)) => Some((user, password)),
                    (None, None) => None,
                    _ => return Err("smtp has user and password, or neither".into()),
                };
                let security = typed.security.unwrap_or_default();
                Mail::of(&typed.server, &typed.from, typed.to, login, security, trusted).map(Kind::Smtp)
            }
            (None, None, None, None, Some(words)) if !words.is_empty() => Ok(Kind::Command(words)),
            _ => Err("it has one of slack, pushover, webhook, smtp and command".into()),
        }
    }
}

/// A URL that can be posted to.
fn checked(url: Secret) -> Result<Secret, String> {
    let parsed = url.expose().parse::<load::Url>().ok();
    match parsed.map(|url| url.scheme) {
        Some(load::Scheme::Http | load::Scheme::Https) => Ok(url),
        // Without the text: it may be a secret.
        _ => Err("its address is no http:// or https:// URL".into()),
    }
}

impl Channel {
    /// Hands a message over.
    pub fn hand_over(&self, message: &Message) -> Handed {
        match &self.kind {
            Kind::Slack { url, trusted } => {
                let body = json!({ "text": message.line() }).to_string();
                http::post(&Post {
                    url,
                    token: None,
                    body: &body,
                    is_form: false,
                    key: &message.key,
                    trusted: trusted.as_deref(),
                })
            }
            Kind::Pushover { url, token, user, trusted } => {
                let fields = [
                    ("token", token.expose()),
                    ("user", user.expose()),
                    ("title", "whyslow"),
                    ("message", &message.line()),
                ];
                let body = fields.map(|(name, value)| format!("{name}={}", http::form_encoded(value))).join("&");
                let url = Secret::open(url);
                http::post(&Post {
                    url: &url,
                    token: None,
                    body: &body,
                    is_form: true,
                    key: &message.key,
                    trusted: trusted.as_deref(),
                })
            }
            Kind::Webhook { url, token, trusted } => {
                let body = json!(message).to_string();
                let post = Post {
                    url,
                    token: token.as_ref(),
                    body: &body,
                    is_form: false,
                    key: &message.key,
                    trusted: trusted.as_deref(),
                };
                http::post(&post)
            }
            Kind::Smtp(mail) => mail.send(message),
            Kind::Command(words) => run(words, message),
        }
    }
}

/// Runs a program. It has a while to take the message and end well.
fn run(words: &[String], message: &Message) -> Handed {
    let later = |why: String| Handed::Later { why, after: None };
    let child = Command::new(&words[0])
        .args(&words[1..])
        .env("WHYSLOW_ALARM", message.line())
        .env("WHYSLOW_ALARM_KEY", &message.key)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return later(format!("{}: {error}", words[0])),
    };
    if let Some(mut input) = child.stdin.take() {
        // One that does not read its input may have ended well.
        let _ = input.write_all(json!(message).to_string().as_bytes());
    }
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Handed::Taken,
            Ok(Some(status)) => return later(format!("{} ended with {status}", words[0])),
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return later(format!("{} did not end within {} s", words[0], PATIENCE.as_secs()));
            }
        }
    }
}
