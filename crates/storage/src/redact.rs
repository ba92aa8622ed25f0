//! What must not be written down: secrets in request targets and in command lines.
//!
//! Better one word too many than one secret: what is replaced by `*` has a name that secrets have, stands where commands take
//! them, or looks like a token.

/// Words of names whose value is a secret more often than not, in lower case. A name is split where its punctuation or its case
/// changes: `NAME_PASSWORD`, `accessToken`, `x-api-key`.
const SECRET_WORDS: [&str; 24] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "otp",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pin",
    "pw",
    "pwd",
    "secret",
    "secrets",
    "session",
    "sessionid",
    "sig",
    "signature",
    "token",
];

/// Options that are followed by `user:password`: curl's, wget's, ab's.
const CREDENTIALS: [&str; 6] = ["-u", "--user", "-U", "--proxy-user", "-A", "-P"];

/// Options that are followed by a body that is sent.
const BODIES: [&str; 11] = [
    "-d",
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--post-data",
    "--body-data",
];

/// Options that are followed by cookies, or by the name of a file with some: curl's.
const COOKIES: [&str; 2] = ["-b", "--cookie"];

/// Programs whose `-pWORD` is a password whatever the word is.
const TAKE_PASSWORDS: [&str; 9] =
    ["mysql", "mysqladmin", "mysqldump", "mysqlslap", "mariadb", "mariadb-admin", "mariadb-dump", "sshpass", "7z"];

/// Programs that take a script as a word, after this option.
const SCRIPT: &str = "-c";

/// A part of a path without punctuation is a token from so many letters on, where it has digits as well as letters: names that people
/// give are shorter, or words. A hash of 128 bits has 32 hexadecimal digits, a random id of 128 bits 22 letters of base 64.
const TOKEN: usize = 20;

/// An HTTP request target with every query value, and what looks like a token, replaced by `*`: the route stays, what a user typed
/// does not.
pub fn redact_target(target: &str) -> String {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let parts = path.split('/').map(|part| if is_token(part) { "*" } else { part });
    let path = parts.collect::<Vec<_>>().join("/");
    query.map_or(path.clone(), |query| format!("{path}?{}", redact_pairs(query)))
}

/// The values of `name=value&...`; what has no name goes as a whole.
fn redact_pairs(pairs: &str) -> String {
    let names = pairs.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) => format!("{name}=*"),
        None => "*".to_string(),
    });
    names.collect::<Vec<_>>().join("&")
}

/// A command line in which what is a secret more often than not is replaced by `*`: the values of options, variables and headers of
/// such names, credentials and queries of URLs, bodies that are sent, and all of this in the script of an `sh -c`.
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let takes_passwords = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        TAKE_PASSWORDS.contains(&name)
    };
    let takes_passwords = arguments.iter().any(takes_passwords);
    let mut before = "";
    let mut shown = Vec::with_capacity(arguments.len());
    for argument in arguments {
        shown.push(match before {
            option if CREDENTIALS.contains(&option) && argument.contains(':') => "*".to_string(),
            "-u" => "*".to_string(),
            option if is_secret_option(option) => "*".to_string(),
            option if BODIES.contains(&option) => redact_body(argument),
            "-p" if takes_passwords => "*".to_string(),
            option if COOKIES.contains(&option) && argument.contains('=') => redact_cookies(argument),
            SCRIPT if argument.contains(char::is_whitespace) => redact_script(argument),
            _ if is_command_line(argument) => redact_script(argument),
            _ => redact_argument(argument, takes_passwords),
        });
        before = argument;
    }
    shown
}

/// Whether the argument after this one is a secret: `--token VALUE`, `--pass VALUE`, `-password VALUE`.
fn is_secret_option(argument: &str) -> bool {
    let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-').filter(|name| name.len() > 1));
    name.is_some_and(|name| !name.contains(['=', ':']) && names_a_secret(name))
}

fn redact_argument(argument: &str, takes_passwords: bool) -> String {
    if let Some((before, rest)) = argument.split_once("://") {
        let (authority, target) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (authority, query) = match authority.split_once('?') {
            Some((authority, query)) => (authority, format!("?{}", redact_pairs(query))),
            None => (authority, String::new()),
        };
        let authority = authority.rsplit_once('@').map_or(authority.to_string(), |(_, host)| format!("*@{host}"));
        return format!("{before}://{authority}{query}{}", redact_target(target));
    }
    let is_password = takes_passwords && argument.len() > 2 && argument.starts_with("-p");
    if is_password || is_attached_password(argument) {
        return "-p*".to_string();
    }
    for (option, rest) in BODIES.iter().filter_map(|option| Some((option, argument.strip_prefix(option)?))) {
        if option.starts_with("--") && rest.starts_with('=') {
            return format!("{option}={}", redact_body(&rest[1..]));
        }
    }
    match argument.find([':', '=']) {
        Some(at) if names_a_secret(&argument[..at]) => format!("{}{}*", &argument[..at], &argument[at..=at]),
        // `--user=a:b`.
        Some(at) if CREDENTIALS.contains(&&argument[..at]) => format!("{}*", &argument[..=at]),
        _ => argument.to_string(),
    }
}

/// `-pS3cret`, as databases' clients take it; `-print`, `-p8080` and `-p=x` are something else.
fn is_attached_password(argument: &str) -> bool {
    let Some(value) = argument.strip_prefix("-p").filter(|value| !value.is_empty()) else { return false };
    let (has_digit, has_letter) =
        (value.contains(|letter: char| letter.is_ascii_digit()), value.contains(|letter: char| letter.is_alphabetic()));
    has_digit && has_letter && !value.contains(['/', '.', ':', '=', ','])
}

/// Whether a word is a command line itself, as in `--server 'program --password S'`, and not a header (`Name: words`), a URL or a
/// variable with words in it.
fn is_command_line(argument: &str) -> bool {
    let name = argument.split([':', '=']).next().unwrap_or_default();
    name.contains(char::is_whitespace)
}

/// The values of `name=value; name=value`.
fn redact_cookies(cookies: &str) -> String {
    let shown = cookies.split(';').map(|cookie| match cookie.split_once('=') {
        Some((name, _)) => format!("{name}=*"),
        None => "*".to_string(),
    });
    shown.collect::<Vec<_>>().join(";")
}

/// A body that is sent: the values of a form; all of anything else, unless it is the name of a file.
fn redact_body(body: &str) -> String {
    let is_form = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        pair.contains('=') && !name.is_empty() && !name.contains(['{', '"', ' ', '<'])
    };
    match body {
        file if file.starts_with('@') => file.to_string(),
        form if form.split('&').all(is_form) => redact_pairs(form),
        _ => "*".to_string(),
    }
}

/// A shell's script, word by word; all of it where it holds a secret and its words cannot be told.
fn redact_script(script: &str) -> String {
    let Some(words) = shlex::split(script) else {
        let is_secret = script.split(|letter: char| !letter.is_ascii_alphanumeric()).any(names_a_secret);
        return if is_secret { "*".to_string() } else { script.to_string() };
    };
    // Blanks that no shell splits at: it is a word after all.
    if words.len() == 1 && words[0] == script {
        return redact_argument(script, false);
    }
    let mut shown = script.to_string();
    for (word, redacted) in words.iter().zip(redact_arguments(&words)) {
        // A word that was quoted in parts is not found as it is: then nothing of the script is shown.
        match (*word == redacted, shown.contains(word.as_str())) {
            (true, _) => {}
            (false, true) => shown = shown.replace(word.as_str(), &redacted),
            (false, false) => return "*".to_string(),
        }
    }
    shown
}

/// Whether a name, split at its punctuation and where small letters are followed by capitals, contains a word from
/// [`SECRET_WORDS`].
fn names_a_secret(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() || (was_small && letter.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric() {
            words.last_mut().expect("there is one").push(letter.to_ascii_lowercase());
        }
        was_small = letter.is_ascii_lowercase();
    }
    words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Whether a part of a path looks drawn at random: long, of digits and letters, without a file's ending.
fn is_token(part: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '=' | '~');
    let digits = part.chars().filter(char::is_ascii_digit).count();
    let letters = part.chars().filter(char::is_ascii_alphabetic).count();
    // Three words with a dot between them, all of base 64: a JSON web token.
    let is_web_token = part.starts_with("eyJ") && part.contains('.');
    is_web_token || (part.len() >= TOKEN && part.chars().all(is_letter) && digits >= 3 && letters >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(given: &[&str]) -> Vec<String> {
        redact_arguments(&given.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn query_values_go_and_the_route_stays() {
        assert_eq!(redact_target("/feed/7?token=abc&page=2&x"), "/feed/7?token=*&page=*&*");
        assert_eq!(redact_target("/plain"), "/plain");
    }

    #[test]
    fn parts_of_a_path_that_look_drawn_at_random_go() {
        assert_eq!(redact_target("/reset/9f86d081884c7d659a2feaa0c55ad015/now"), "/reset/*/now");
        assert_eq!(redact_target("/u/3fa85f64-5717-4562-b3fc-2c963f66afa6"), "/u/*");
        assert_eq!(redact_target("/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), "/v/*");
        let names = "/articles/how-we-made-our-service-faster/main.3f2a9c81d0be44aa9c31.js";
        assert_eq!(redact_target(names), names);
    }

    #[test]
    fn credentials_in_a_command_line_are_hidden() {
        let given = ["curl", "-u", "me:pw", "-H", "Authorization: Bearer x", "--token=1", "https://a:b@h/p?q=1", "-n"];
        assert_eq!(shown(&given), ["curl", "-u", "*", "-H", "Authorization:*", "--token=*", "https://*@h/p?q=*", "-n"]);
        assert_eq!(shown(&["wget", "--user", "a:b", "--pass", "S"]), ["wget", "--user", "*", "--pass", "*"]);
        assert_eq!(shown(&["tool", "--apikey=S", "--accessToken", "S"]), ["tool", "--apikey=*", "--accessToken", "*"]);
        assert_eq!(shown(&["env", "DB_PASSWORD=S", "prog"]), ["env", "DB_PASSWORD=*", "prog"]);
        assert_eq!(shown(&["mysql", "-pletters", "-uroot"]), ["mysql", "-p*", "-uroot"]);
        assert_eq!(shown(&["client", "-pS3cret", "-p8080", "-print"]), ["client", "-p*", "-p8080", "-print"]);
        assert_eq!(shown(&["curl", "-H", "X-Api-Key: S"]), ["curl", "-H", "X-Api-Key:*"]);
        assert_eq!(shown(&["curl", "-b", "id=S; a=S"]), ["curl", "-b", "id=*; a=*"]);
        assert_eq!(shown(&["ab", "-b", "1024"]), ["ab", "-b", "1024"]);
    }

    #[test]
    fn a_command_line_in_a_word_is_looked_into() {
        let server = "python3 server.py 80 --password abc --token=xyz";
        assert_eq!(shown(&["run", "--server", server])[2], "python3 server.py 80 --password * --token=*");
        assert_eq!(shown(&["echo", "two words", "it's"]), ["echo", "two words", "it's"]);
        assert_eq!(shown(&["echo", "no\u{a0}break"]), ["echo", "no\u{a0}break"], "no shell splits there");
    }

    #[test]
    fn queries_of_urls_go_whether_or_not_they_name_a_user() {
        assert_eq!(shown(&["http://h:80/p?session=S"]), ["http://h:80/p?session=*"]);
        assert_eq!(shown(&["http://h?session=S"]), ["http://h?session=*"]);
        assert_eq!(shown(&["--url=http://a:S@h/p"]), ["--url=http://*@h/p"]);
    }

    #[test]
    fn bodies_that_are_sent_keep_the_names_of_a_form() {
        assert_eq!(shown(&["-d", "user=a&comment=S"]), ["-d", "user=*&comment=*"]);
        assert_eq!(shown(&["--data-raw", r#"{"a": "S=1"}"#]), ["--data-raw", "*"]);
        assert_eq!(shown(&["--data=a=S", "-d", "@file"]), ["--data=a=*", "-d", "@file"]);
    }

    #[test]
    fn a_shells_script_is_looked_into() {
        let script = "curl -u me:pw http://h/?q=S; DB_PASSWORD=S prog";
        assert_eq!(shown(&["sh", "-c", script])[2], "curl -u * http://h/?q=* DB_PASSWORD=* prog");
        assert_eq!(shown(&["sh", "-c", "echo 'it is; mysql -pword"])[2], "echo 'it is; mysql -pword");
        assert_eq!(shown(&["sh", "-c", "echo 'TOKEN"])[2], "*");
        assert_eq!(shown(&["sh", "-c", "ls; id"])[2], "ls; id");
    }

    #[test]
    fn an_option_that_only_resembles_a_secret_stays() {
        let given = ["--keepalive=1", "--monkey=2", "a:b", "-c", "/path with/space", "--user", "me", "-A", "agent"];
        assert_eq!(shown(&given), given);
    }
}
