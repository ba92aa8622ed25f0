//! `whyslow schema`: the JSON schemas of what `--json` prints.

use crate::arguments::SchemaArguments;
use crate::output;
use case::SCHEMAS;
use fail::Failure;

/// The name that stands for all of them in one.
const ALL: &str = "all";

/// Prints a schema, all of them, or the list.
pub fn schema(typed: &SchemaArguments) -> Result<u8, Failure> {
    let known = |name: &String| SCHEMAS.iter().find(|one| one.name == name);
    let text = match &typed.name {
        None => listed(),
        Some(name) if name == ALL => output::json(&case::all_schemas())?,
        Some(name) => {
            let names = SCHEMAS.iter().map(|one| one.name).chain([ALL]);
            let unknown = || Failure::unknown("schema", name, names, ("whyslow schema", "whyslow schema"));
            output::json(&known(name).ok_or_else(unknown)?.alone())?
        }
    };
    output::print(&text)?;
    Ok(0)
}

fn listed() -> String {
    let lines = SCHEMAS.iter().map(|one| format!("{:<13} {}\n", one.name, one.about));
    lines.collect::<String>() + "\nPrint one with: whyslow schema NAME (or all)\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_with_json_has_a_schema() {
        let command = crate::arguments::Arguments::command();
        let has_json = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_id() == "json");
        let with_json = command.get_subcommands().filter(has_json).map(clap::Command::get_name);
        let without_schema = with_json.filter(|name| SCHEMAS.iter().all(|one| one.name != *name));
        assert_eq!(without_schema.collect::<Vec<_>>(), [""; 0]);
    }
}
