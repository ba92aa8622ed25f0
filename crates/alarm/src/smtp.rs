//! One mail by SMTP (RFC 5321), with STARTTLS (RFC 3207) or TLS from the beginning, and AUTH PLAIN (RFC 4954).

use crate::handed::Handed;
use crate::line::Connection;
use crate::message::Message;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::io;
use std::path::PathBuf;

/// No reply is longer.
const LONGEST_REPLY: usize = 16 << 10;

/// How the connection is secured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Security {
    /// TLS after a greeting in the clear, by STARTTLS: it must be offered.
    #[default]
    Starttls,
    /// TLS from the beginning.
    Tls,
    /// None: for a server on this host.
    None,
}

/// A mail's way.
#[derive(Debug)]
pub(crate) struct Mail {
    host: String,
    port: u16,
    from: String,
    to: Vec<String>,
    login: Option<(String, Secret)>,
    security: Security,
    trusted: Option<PathBuf>,
}

/// Why it did not go.
enum Failed {
    Connection(io::Error),
    /// The code of a reply, and what was asked. Not the reply's text: it may repeat a secret.
    Reply(u16, &'static str),
    NoTls,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Connection(error)
    }
}

impl Mail {
    pub fn of(
        server: &str,
        from: &str,
        to: Vec<String>,
        login: Option<(String, Secret)>,
        security: Security,
        trusted: Option<PathBuf>,
    ) -> Result<Mail, String> {
        let usual = match security {
            Security::Starttls => 587,
            Security::Tls => 465,
            Security::None => 25,
        };
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| format!("`{port}` is no port"))?),
            None => (server, usual),
        };
        let is_address = |text: &String| {
            text.contains('@')
                && !text.contains(|letter: char| letter.is_control() || letter == ' ' || letter == '<' || letter == '>')
        };
        let from = from.to_string();
        if to.is_empty() || !to.iter().chain([&from]).all(is_address) {
            return Err("smtp needs from and to, each an address as in ops@example.org".into());
        }
        if login.is_some() && security == Security::None {
            return Err("a password is not sent without TLS".into());
        }
        Ok(Mail { host: host.to_string(), port, from, to, login, security, trusted })
    }

    /// Sends it.
    pub fn send(&self, message: &Message) -> Handed {
        let later = |why| Handed::Later { why, after: None };
        match self.converse(message) {
            Ok(()) => Handed::Taken,
            Err(Failed::Connection(error)) => later(format!("{}: {error}", self.host)),
            // 4yz: transient; 5yz: permanent (RFC 5321, section 4.2.1).
            Err(Failed::Reply(code @ 500..=599, asked)) => {
                Handed::Refused(format!("{} answered {asked} with {code}", self.host))
            }
            Err(Failed::Reply(code, asked)) => later(format!("{} answered {asked} with {code}", self.host)),
            Err(Failed::NoTls) => Handed::Refused(format!("{} does not offer STARTTLS", self.host)),
        }
    }

    fn converse(&self, message: &Message) -> Result<(), Failed> {
        let trusted = self.trusted.as_deref();
        let mut connection = Connection::open(&self.host, self.port)?;
        if self.security == Security::Tls {
            connection = connection.secured(&self.host, trusted)?;
        }
        reply(&mut connection, 220, "the connection")?;
        let offered = ask(&mut connection, "EHLO whyslow", 250, "EHLO")?;
        if self.security == Security::Starttls {
            if !offered.to_uppercase().contains("STARTTLS") {
                return Err(Failed::NoTls);
            }
            ask(&mut connection, "STARTTLS", 220, "STARTTLS")?;
            connection = connection.secured(&self.host, trusted)?;
            ask(&mut connection, "EHLO whyslow", 250, "EHLO")?;
        }
        if let Some((user, password)) = &self.login {
            let token = STANDARD.encode(format!("\0{user}\0{}", password.expose()));
            ask(&mut connection, &format!("AUTH PLAIN {token}"), 235, "AUTH")?;
        }
        ask(&mut connection, &format!("MAIL FROM:<{}>", self.from), 250, "MAIL")?;
        for to in &self.to {
            ask(&mut connection, &format!("RCPT TO:<{to}>"), 250, "RCPT")?;
        }
        ask(&mut connection, "DATA", 354, "DATA")?;
        connection.write(self.text(message).as_bytes())?;
        reply(&mut connection, 250, "the mail")?;
        // It is taken: how the connection ends does not matter.
        let _ = connection.write(b"QUIT\r\n");
        Ok(())
    }

    /// Head and body, with dots at the beginning of lines doubled (RFC 5321, section 4.5.2), and the dot that ends it.
    fn text(&self, message: &Message) -> String {
        let one_line = |text: &str| text.replace(|letter: char| letter.is_control(), " ");
        let subject = STANDARD.encode(one_line(&message.line()).chars().take(70).collect::<String>());
        let host = self.from.rsplit('@').next().unwrap_or("localhost");
        let words = message.line();
        let body = words.lines().map(|line| {
            let dot = if line.starts_with('.') { "." } else { "" };
            format!("{dot}{}\r\n", one_line(line))
        });
        format!(
            "From: <{}>\r\nTo: {}\r\nSubject: =?UTF-8?B?{subject}?=\r\nMessage-ID: <{}@{host}>\r\nMIME-Version: 1.0\r\n\
             Auto-Submitted: auto-generated\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Transfer-Encoding: 8bit\r\n\r\n{}.\r\n",
            self.from,
            self.to.iter().map(|to| format!("<{to}>")).collect::<Vec<_>>().join(", "),
            message.key,
            body.collect::<String>(),
        )
    }
}

fn ask(connection: &mut Connection, line: &str, wanted: u16, asked: &'static str) -> Result<String, Failed> {
    connection.write(format!("{line}\r\n").as_bytes())?;
    reply(connection, wanted, asked)
}

/// A reply of one line or more: `250-...` goes on, `250 ...` ends it.
fn reply(connection: &mut Connection, wanted: u16, asked: &'static str) -> Result<String, Failed> {
    let is_last = |line: &str| line.len() >= 3 && line.as_bytes().get(3).is_none_or(|byte| *byte == b' ');
    let is_whole =
        |bytes: &[u8]| bytes.ends_with(b"\r\n") && String::from_utf8_lossy(bytes).lines().last().is_some_and(is_last);
    let text = connection.read_until(LONGEST_REPLY, is_whole)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = text.lines().last().and_then(|line| line.get(..3)?.parse().ok()).unwrap_or(0);
    if code == wanted { Ok(text) } else { Err(Failed::Reply(code, asked)) }
}
