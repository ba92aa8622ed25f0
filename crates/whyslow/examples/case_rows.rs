//! Counts what a case holds and what it lost: `case_rows FOLDER` prints one `name=rows` a table, the losses as
//! `lost.TABLE=events`, and the calls that the kernel counted as `counted.calls`.

use case::tables::{Call, Sample, Segment, Switch, TcpEvent, Thread, TlsRecord};
use case::{Case, CaseError, Row};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: case_rows FOLDER");
        return ExitCode::from(2);
    };
    match print_rows(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("case_rows: {error}");
            ExitCode::from(2)
        }
    }
}

fn print_rows(folder: &Path) -> Result<(), CaseError> {
    let case = Case::open(folder)?;
    println!("{}={}", Call::TABLE, count::<Call>(&case)?);
    println!("{}={}", Switch::TABLE, count::<Switch>(&case)?);
    println!("{}={}", Segment::TABLE, count::<Segment>(&case)?);
    println!("{}={}", TcpEvent::TABLE, count::<TcpEvent>(&case)?);
    println!("{}={}", TlsRecord::TABLE, count::<TlsRecord>(&case)?);
    println!("{}={}", Sample::TABLE, count::<Sample>(&case)?);
    println!("counted.calls={}", case.read::<Thread>()?.iter().map(|thread| thread.calls).sum::<u64>());
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    for loss in case.read::<case::tables::Loss>()? {
        *lost.entry(loss.table).or_default() += loss.count;
    }
    for (table, events) in &lost {
        println!("lost.{table}={events}");
    }
    Ok(())
}

/// Rows of a table, read batch by batch so that a large case does not have to fit.
fn count<R: Row>(case: &Case) -> Result<u64, CaseError> {
    let mut rows = 0;
    case.read_batches::<R>(&mut |batch| rows += batch.len() as u64)?;
    Ok(rows)
}
