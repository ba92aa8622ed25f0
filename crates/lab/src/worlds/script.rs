//! What a command that is a shell's `-c` names in its script.

use std::collections::BTreeSet;
use std::path::Path;

/// The system's list of its shells.
const SHELLS: &str = "/etc/shells";

/// The words of a command's script that may name programs and files; none where it has no script. Without knowing the
/// shell's grammar these are all that look like names: what leads nowhere is passed over, and one too many does no harm.
pub(super) fn words(command: &[String]) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || "/._+-".contains(letter);
    let words = script(command).unwrap_or_default().split(|letter| !is_of_name(letter));
    let is_name = |word: &&str| word.starts_with(|letter: char| letter.is_alphanumeric() || "/.".contains(letter));
    words.filter(is_name).map(String::from).collect()
}

/// The script after a shell's `-c`; none where the command is no shell's.
fn script(command: &[String]) -> Option<&str> {
    let name = Path::new(command.first()?).file_name()?;
    let shells = std::fs::read_to_string(SHELLS).unwrap_or_default();
    let is_shell = name == "sh" || shells.lines().any(|line| Path::new(line).file_name() == Some(name));
    let takes_script = |word: &String| !word.starts_with("--") && word.ends_with('c');
    let mut options = command.iter().skip(1).take_while(|word| word.starts_with('-'));
    let place = options.position(takes_script).filter(|_| is_shell)?;
    command.get(place + 2).map(String::as_str)
}

#[cfg(test)]
mod tests {

    fn found(words: &[&str]) -> Vec<String> {
        let command = words.iter().map(ToString::to_string).collect::<Vec<_>>();
        super::words(&command).into_iter().collect()
    }

    #[test]
    fn a_shells_script_is_read_for_names_and_another_programs_text_is_not() {
        assert_eq!(found(&["sh", "-c", "(A=1 ./client -x|tail)&"]), ["./client", "1", "A", "tail"]);
        assert_eq!(found(&["/bin/bash", "-e", "-xc", "curl '/opt/a file'", "sh"]), ["/opt/a", "curl", "file"]);
        assert_eq!(found(&["sh", "script", "-c", "client"]), [""; 0], "that is the script's own option");
        assert_eq!(found(&["python3", "-c", "import os"]), [""; 0]);
        assert_eq!(found(&["sh", "-c"]), [""; 0]);
    }
}
