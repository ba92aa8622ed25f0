//! The commands that study a program: `run`, `attach`, `compare`, `sweep`, `bisect`, `matrix` and `pcap`. What was typed becomes a
//! request, the study is made, and its document kept and printed.

use crate::arguments::{
    AttachArguments, BisectArguments, CompareArguments, MatrixArguments, PcapArguments, RunArguments, SweepArguments,
};
use crate::console::Terminal;
use crate::{documents, folder, output, requests};
use fail::Failure;
use record::Ended;
use std::path::Path;
use studies::{Console, Done, StudyError};

/// `whyslow run -- COMMAND`: starts, records, diagnoses, proves, answers.
pub fn run(typed: RunArguments) -> Result<u8, Failure> {
    let (as_json, as_subject) = (typed.answer.json, typed.exit_as_subject);
    let request = requests::run::request(typed)?;
    let (code, ended) = conduct(&request.folder, as_json, |console| studies::run::run(&request, console))?;
    Ok(ended.filter(|_| as_subject).map_or(code, exit_of_subject))
}

/// `whyslow attach PID`: what ails a program that is running now. It is never stopped, restarted or left changed.
pub fn attach(typed: &AttachArguments) -> Result<u8, Failure> {
    let request = requests::attach::request(typed)?;
    Ok(conduct(&request.folder, typed.answer.json, |console| studies::attach::attach(&request, console))?.0)
}

/// `whyslow compare A -- B`: which of two commands or worlds is faster, by how much, and why.
pub fn compare(typed: CompareArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let request = requests::compare::request(typed)?;
    Ok(conduct(&request.folder, as_json, |console| studies::compare::compare(&request, console))?.0)
}

/// `whyslow sweep --vary NAME=SPEC -- CMD {NAME}`: where the cliff is, whether it grows out of hand, and why.
pub fn sweep(typed: SweepArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let request = requests::sweep::request(typed)?;
    Ok(conduct(&request.folder, as_json, |console| studies::sweep::sweep(&request, console))?.0)
}

/// `whyslow bisect --good WORLD --bad WORLD -- COMMAND`: which of the things that differ makes the difference.
pub fn bisect(typed: BisectArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let request = requests::bisect::request(typed)?;
    let folder = request.folder.clone();
    Ok(conduct(&folder, as_json, |console| studies::bisect::bisect(request, console))?.0)
}

/// `whyslow matrix --library NAME=VERSION,... -- CMD`: which version of a library is slow, where, and which one to take.
pub fn matrix(typed: MatrixArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let request = requests::matrix::request(typed)?;
    Ok(conduct(&request.folder, as_json, |console| studies::matrix::matrix(&request, console))?.0)
}

/// `whyslow pcap FILE`: what a capture of packets means that was made elsewhere.
pub fn pcap(typed: PcapArguments) -> Result<u8, Failure> {
    let as_json = typed.answer.json;
    let request = requests::pcap::request(typed)?;
    Ok(conduct(&request.folder, as_json, |console| studies::pcap::pcap(&request, console))?.0)
}

/// Makes a study whose case goes to a folder that is not there yet: the exit code, and how the program ended.
fn conduct(
    folder: &Path,
    as_json: bool,
    study: impl FnOnce(&dyn Console) -> Result<Done, StudyError>,
) -> Result<(u8, Option<Ended>), Failure> {
    folder::make_parents(folder)?;
    let terminal = Terminal::take()?;
    let done = study(&terminal)?;
    let ended = done.ended;
    let (document, failed) = documents::keep(done);
    drop(terminal);
    // What was found is printed, even if not everything could be tried or the disk has filled up meanwhile.
    let code = documents::show(&document, as_json)?;
    failed.map_or(Ok((code, ended)), Err)
}

/// The status a shell would show.
pub fn exit_of_subject(ended: Ended) -> u8 {
    let status = ended.exit.or(ended.signal.map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(output::ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subjects_status_is_as_a_shell_shows_it() {
        assert_eq!(exit_of_subject(Ended { exit: Some(7), signal: None }), 7);
        assert_eq!(exit_of_subject(Ended { exit: None, signal: Some(9) }), 137);
    }
}
