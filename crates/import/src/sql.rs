//! Questions in SQL over cubes: their rows as the one table `traffic`, in memory, in SQLite.
//!
//! A question may be anybody's. It reads that table and nothing else: whatever would write, attach a file or set something is
//! refused before it runs, and what it may take is bounded.

use crate::cube;
use crate::error::ImportError;
use crate::workers::Done;
use case::{Row, SCHEMA, Selected, SelectedCell, TrafficRow, Value};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
use std::path::{Path, PathBuf};

/// All that rows and a question may take, in bytes. Ten thousand cubes of a blog's logs take less; whoever has more asks them in
/// place with an engine that streams (`contrib/sql`).
const MOST_BYTES: u64 = 2 << 30;
/// The longest text that a question can put together, in bytes: a cube's longest is a sketch's 4,096.
const LONGEST_TEXT: i32 = 16 << 20;
/// Rows of an answer beyond these are left out, and the answer says so: nobody reads as many.
const MOST_ROWS: usize = 100_000;
/// Where a cube lies tells these, as `host=NAME/day=DATE`.
const PLACES: [&str; 2] = ["host", "day"];

/// Answers a question over what was read.
///
/// # Errors
/// Where the question cannot be answered.
pub fn select_of(done: &Done, query: &str) -> Result<Selected, ImportError> {
    let mut table = Table::new()?;
    table.add(&cube::rows(done), [None, None])?;
    table.select(query, MOST_ROWS)
}

/// Answers a question over cubes, each with the host and the day that its folders say.
///
/// # Errors
/// Where a cube cannot be read, or the question cannot be answered.
pub fn select_of_cubes(cubes: &[PathBuf], query: &str) -> Result<Selected, ImportError> {
    let mut table = Table::new()?;
    for path in cubes {
        let mut added = Ok(());
        case::read_cube(path, &mut |rows| {
            if added.is_ok() {
                added = table.add(&rows, PLACES.map(|place| said(path, place)));
            }
        })?;
        added?;
    }
    table.select(query, MOST_ROWS)
}

/// What a folder above a cube says of it.
fn said<'p>(path: &'p Path, place: &str) -> Option<&'p str> {
    let parts = path.iter().filter_map(|part| part.to_str());
    parts.filter_map(|part| part.strip_prefix(place)?.strip_prefix('=')).next_back()
}

/// The table, in memory.
struct Table {
    database: Connection,
    insert: String,
}

impl Table {
    fn new() -> Result<Table, ImportError> {
        let database = Connection::open_in_memory().map_err(refused)?;
        let columns = TrafficRow::columns();
        let names = columns.iter().map(|column| column.name).chain(PLACES).collect::<Vec<_>>();
        // What is sorted goes to memory, too; how much there is of that, SQLite bounds for the process.
        let prepare = format!(
            "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = {MOST_BYTES};
             CREATE TABLE traffic ({}); BEGIN",
            names.join(", ")
        );
        database.execute_batch(&prepare).map_err(refused)?;
        // DuckDB and ClickHouse have it; SQLite only where it is built with mathematics.
        let flags = rusqlite::functions::FunctionFlags::SQLITE_DETERMINISTIC;
        database.create_scalar_function("floor", 1, flags, |call| Ok(floor(call.get_raw(0)))).map_err(refused)?;
        let places = vec!["?"; names.len()].join(", ");
        Ok(Table { database, insert: format!("INSERT INTO traffic VALUES ({places})") })
    }

    fn add(&mut self, rows: &[TrafficRow], places: [Option<&str>; 2]) -> Result<(), ImportError> {
        let mut insert = self.database.prepare(&self.insert).map_err(refused)?;
        for row in rows {
            let values = row.values().into_iter().map(|(_, value)| Stored::Value(value));
            let values = values.chain(places.map(Stored::Place));
            insert.execute(rusqlite::params_from_iter(values)).map_err(refused)?;
        }
        Ok(())
    }

    fn select(mut self, query: &str, most: usize) -> Result<Selected, ImportError> {
        self.database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_TEXT).map_err(refused)?;
        self.database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(refused)?;
        self.database.authorizer(Some(|asked: AuthContext<'_>| authorized(&asked.action))).map_err(refused)?;
        let mut statement = self.database.prepare(query).map_err(refused)?;
        answer(&mut statement, most).map_err(refused)
    }
}

/// Whether a question may do something.
fn authorized(action: &AuthAction) -> Authorization {
    match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive | AuthAction::Function { .. } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

fn refused(error: rusqlite::Error) -> ImportError {
    let why = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(failure, _) if failure.code == rusqlite::ErrorCode::OutOfMemory => {
            let most = MOST_BYTES >> 30;
            return ImportError::Question(format!("the rows and the question take more than {most} GiB of memory"));
        }
        rusqlite::Error::MultipleStatement => "it is more than one question".into(),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    };
    // What SQLite says of all that the authorizer denies.
    let is_denied = why == "not authorized";
    ImportError::Question(if is_denied { "only SELECT is answered: a question changes nothing".into() } else { why })
}

/// All rows of an answer, up to so many.
fn answer(statement: &mut Statement, most: usize) -> rusqlite::Result<Selected> {
    let columns: Vec<String> = statement.column_names().map(String::from).collect();
    let mut selected = Selected { schema: SCHEMA, columns, rows: Vec::new(), cut: false };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if selected.rows.len() == most {
            selected.cut = true;
            break;
        }
        let cells = (0..selected.columns.len()).map(|column| row.get_ref(column).map(cell));
        selected.rows.push(cells.collect::<rusqlite::Result<_>>()?);
    }
    Ok(selected)
}

fn cell(value: ValueRef) -> SelectedCell {
    match value {
        ValueRef::Null => SelectedCell::Nothing(()),
        ValueRef::Integer(number) => SelectedCell::Integer(number),
        ValueRef::Real(number) => SelectedCell::Real(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            SelectedCell::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn floor(value: ValueRef) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number.floor()),
        _ => None,
    }
}

/// A value on its way into the table.
enum Stored<'p> {
    Value(Value),
    Place(Option<&'p str>),
}

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let most = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
        Ok(ToSqlOutput::Borrowed(match self {
            Stored::Value(Value::Number(number)) => ValueRef::Integer(most(*number)),
            Stored::Value(Value::Nanos(nanos)) => ValueRef::Integer(most(nanos.0.into())),
            Stored::Value(Value::Flag(flag)) => ValueRef::Integer((*flag).into()),
            Stored::Value(Value::Decimal(number)) => ValueRef::Real(*number),
            Stored::Value(Value::Text(text)) => ValueRef::Text(text.as_bytes()),
            Stored::Place(place) => place.map_or(ValueRef::Null, |place| ValueRef::Text(place.as_bytes())),
        }))
    }
}

#[cfg(test)]
mod tests;
