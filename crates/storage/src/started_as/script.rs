//! The script that an interpreter runs, from its arguments.

use super::base_name;
use crate::tables::Process;

/// How the arguments of an interpreter are read.
struct Interpreter {
    /// The name that its executable begins with, with a version behind it as a rule.
    name: &'static str,
    /// Options whose value is the next argument.
    with_value: &'static [&'static str],
    /// Options whose next argument is what is run: a module, an archive.
    runs: &'static [&'static str],
    /// Options with which there is no script: what is run stands in the arguments themselves.
    none: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { name: "python", with_value: &["-W", "-X"], runs: &["-m"], none: &["-c", "-"] },
    Interpreter { name: "nodejs", with_value: NODE_VALUES, runs: &[], none: NODE_NONE },
    Interpreter { name: "node", with_value: NODE_VALUES, runs: &[], none: NODE_NONE },
    Interpreter { name: "ruby", with_value: &["-I", "-r", "-C"], runs: &[], none: &["-e", "-"] },
    Interpreter { name: "perl", with_value: &["-I"], runs: &[], none: &["-e", "-E", "-"] },
    Interpreter { name: "php", with_value: &["-d", "-c", "-S", "-t"], runs: &["-f"], none: &["-r", "-"] },
    Interpreter { name: "java", with_value: &["-cp", "-classpath", "--class-path", "-p"], runs: &["-jar"], none: &[] },
];

const NODE_VALUES: &[&str] = &["-r", "--require", "--import", "--loader"];
const NODE_NONE: &[&str] = &["-e", "--eval", "-p", "--print", "-"];

/// The script's name without its folder; none where a process is no interpreter, or has none.
pub(super) fn of(process: &Process) -> Option<&str> {
    let mut words = process.command.split(' ');
    let started_as = base_name(words.next()?);
    let is_it =
        |one: &&Interpreter| [started_as, base_name(&process.executable)].iter().all(|name| is_called(name, one.name));
    let interpreter = INTERPRETERS.iter().find(is_it)?;
    while let Some(word) = words.next() {
        if interpreter.none.contains(&word) {
            return None;
        }
        if interpreter.runs.contains(&word) {
            return words.next().map(base_name).filter(|name| !name.is_empty());
        }
        if interpreter.with_value.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(base_name(word)).filter(|name| !name.is_empty());
        }
    }
    None
}

/// Whether a file is called so, a version aside: `python3.11`, and not `php-fpm8.2`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_prefix(name).is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(executable: &str, command: &str) -> Option<String> {
        let (executable, command) = (executable.to_string(), command.to_string());
        of(&Process { executable, command, ..Process::default() }).map(str::to_string)
    }

    #[test]
    fn an_interpreter_is_called_by_its_script_its_module_or_its_archive() {
        for (executable, command, is) in [
            ("/usr/bin/python3.11", "python3 -u -X dev /srv/shop/server.py 8080", "server.py"),
            ("/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/gunicorn --bind :80 app", "gunicorn"),
            ("/usr/bin/python3.11", "python3 -m http.server 80", "http.server"),
            ("/usr/bin/node", "node --require ./trace.js main.js", "main.js"),
            ("/usr/bin/php8.2", "php -S 127.0.0.1:80 -t www router.php", "router.php"),
            ("/usr/lib/jvm/java-17/bin/java", "java -cp lib/a.jar -Xmx1g org.shop.Main", "org.shop.Main"),
            ("/usr/lib/jvm/java-17/bin/java", "java -jar target/shop.jar", "shop.jar"),
            ("/usr/bin/perl", "perl -I lib /srv/server.pl", "server.pl"),
            ("/usr/bin/ruby3.1", "ruby3.1 /usr/bin/puma", "puma"),
        ] {
            assert_eq!(script(executable, command).as_deref(), Some(is), "{command}");
        }
    }

    #[test]
    fn what_is_no_interpreter_or_has_no_script_is_not() {
        for (executable, command) in [
            ("/usr/bin/python3.11", "python3 -c pass"),
            ("/usr/bin/python3.11", "python3"),
            ("/usr/bin/php-fpm8.2", "php-fpm8.2 -y /etc/fpm.conf"),
            ("/usr/sbin/nginx", "nginx -c nginx.conf"),
            // It calls itself something else by now.
            ("/usr/bin/perl", "starman worker -Ilib app.psgi"),
            ("", ""),
        ] {
            assert_eq!(script(executable, command), None, "{command}");
        }
    }
}
