//! What must not be written down: secrets in request targets and in command lines.

/// Names whose value is a secret more often than not, in lower case.
const SECRET_NAMES: [&str; 10] =
    ["auth", "authorization", "cookie", "key", "passwd", "password", "secret", "session", "signature", "token"];

/// An HTTP request target with every query value replaced by `*`: the route stays, what a user typed does not.
pub fn redact_target(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_string() };
    let names = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) => format!("{name}=*"),
        None => "*".to_string(),
    });
    format!("{path}?{}", names.collect::<Vec<_>>().join("&"))
}

/// A command line with the values of secret-looking options, headers and URL credentials replaced by `*`.
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let mut hide_next = false;
    let mut shown = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let hidden = std::mem::take(&mut hide_next);
        hide_next = is_credential_option(argument);
        shown.push(if hidden { "*".to_string() } else { redact_argument(argument) });
    }
    shown
}

/// Whether the argument after this one is a credential: `-u user:password`, `--token VALUE`.
fn is_credential_option(argument: &str) -> bool {
    argument == "-u" || (argument.starts_with("--") && !argument.contains('=') && names_a_secret(argument))
}

fn redact_argument(argument: &str) -> String {
    if let Some((scheme, rest)) = argument.split_once("://")
        && let Some((authority, path)) = rest.split_once('@')
        && !authority.contains('/')
    {
        return format!("{scheme}://*@{}", redact_target(path));
    }
    let separator = argument.find([':', '=']);
    match separator {
        Some(at) if names_a_secret(&argument[..at]) => format!("{}{}*", &argument[..at], &argument[at..=at]),
        _ => argument.to_string(),
    }
}

/// Whether a name, split at its punctuation, contains a word from [`SECRET_NAMES`].
fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| SECRET_NAMES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_go_and_the_route_stays() {
        assert_eq!(redact_target("/feed/7?token=abc&page=2&x"), "/feed/7?token=*&page=*&*");
        assert_eq!(redact_target("/plain"), "/plain");
    }

    #[test]
    fn credentials_in_a_command_line_are_hidden() {
        let given = ["curl", "-u", "me:pw", "-H", "Authorization: Bearer x", "--token=1", "https://a:b@h/p?q=1", "-n"];
        let shown = redact_arguments(&given.map(String::from));
        assert_eq!(shown, ["curl", "-u", "*", "-H", "Authorization:*", "--token=*", "https://*@h/p?q=*", "-n"]);
    }

    #[test]
    fn an_option_that_only_resembles_a_secret_stays() {
        let given = ["--keepalive=1", "--monkey=2", "a:b"].map(String::from);
        assert_eq!(redact_arguments(&given), given);
    }
}
