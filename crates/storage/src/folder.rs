//! The folder: made once, filled while recording, closed, then only read.
//!
//! While recording, each table is an Arrow IPC stream (`tables/NAME.arrows`), so that a crash loses a batch and not the
//! case. Closing turns each into Parquet (`tables/NAME.parquet`), which is what other programs read in place.
//!
//! All files are opened beneath the folder, with the caller's rights ([`Beneath`]). A case may be a stranger's: before a table is
//! read, it is made sure that it does not unfold to more than its file could hold ([`bounds`]).

mod bounds;
mod reader;
mod thin;
mod whole;
mod writer;

pub(crate) use bounds::Budget;
pub use reader::is_damage_found;
pub(crate) use reader::{parquet_rows, parquet_rows_within, stream_rows};
pub use thin::{GivenUp, OfThread};
pub(crate) use whole::write_parquet;
pub use writer::CaseWriter;

use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::manifest::{Manifest, SCHEMA};
use crate::names::{Names, Pseudonyms};
use crate::row::Row;
use std::io::Read;
use std::path::Path;

/// The manifest's file.
const MANIFEST: &str = "manifest.json";

/// The folder of the tables.
const TABLES: &str = "tables";

/// Rows gathered before a batch is written: large enough for the columns to compress, small enough to lose.
const BATCH_ROWS: usize = 16_384;

/// No document of a case is larger: the largest that were written have some hundred kilobytes. What is read of one takes up to
/// a hundred times as much memory.
const LARGEST_DOCUMENT_BYTES: u64 = 8 << 20;

/// A closed case, or one that a crash left open, for reading.
#[derive(Clone, Debug)]
pub struct Case {
    folder: Beneath,
    manifest: Manifest,
}

impl Case {
    /// Opens a case.
    ///
    /// # Errors
    /// Where the folder is no case, has another schema, or its manifest is damaged.
    pub fn open(path: &Path) -> Result<Case, CaseError> {
        let not_a_case = || CaseError::NotACase(path.to_path_buf());
        Case::of(Beneath::open(path).map_err(|_| not_a_case())?)
    }

    /// A case that stands in this one: one of several recordings.
    ///
    /// # Errors
    /// As [`Case::open`]; a link in its place is no case.
    pub fn inside(&self, name: &str) -> Result<Case, CaseError> {
        let folder = self.folder.folder(Path::new(name));
        Case::of(folder.map_err(|_| CaseError::NotACase(self.folder().join(name)))?)
    }

    fn of(folder: Beneath) -> Result<Case, CaseError> {
        if !folder.has(Path::new(MANIFEST)) {
            return Err(CaseError::NotACase(folder.path().to_path_buf()));
        }
        let manifest: Manifest = read_json(&folder, MANIFEST)?;
        if manifest.schema != SCHEMA {
            let path = folder.path().to_path_buf();
            return Err(CaseError::Schema { path, found: manifest.schema, expected: SCHEMA });
        }
        Ok(Case { folder, manifest })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What the case is about.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// All rows of a table, in the order of recording; empty where the table was never written.
    ///
    /// # Errors
    /// Where the file is damaged, or holds more than its size allows. A stream that a crash cut short is read up to its last whole
    /// batch.
    pub fn read<R: Row>(&self) -> Result<Vec<R>, CaseError> {
        let mut rows = Vec::new();
        self.read_batches::<R>(&mut |batch| rows.extend(batch))?;
        Ok(rows)
    }

    /// Hands over a table batch by batch, for tables that are not to be held whole.
    ///
    /// # Errors
    /// As [`Case::read`].
    pub fn read_batches<R: Row>(&self, take: &mut dyn FnMut(Vec<R>)) -> Result<(), CaseError> {
        let [stream, parquet] = [stream_of(R::TABLE), parquet_of(R::TABLE)];
        if self.folder.has(Path::new(&stream)) {
            reader::read_stream(&self.folder, &stream, take)
        } else if self.folder.has(Path::new(&parquet)) {
            reader::read_parquet(&self.folder, &parquet, take)
        } else {
            Ok(())
        }
    }

    /// Adds a table that was not recorded (the lab's trials, waits) to a case whose recording is closed: once, and nothing of the
    /// recording changes.
    ///
    /// # Errors
    /// Where the table is there already, or the disk refuses.
    pub fn add<R: Row>(&self, rows: impl IntoIterator<Item = R>) -> Result<(), CaseError> {
        writer::add(&self.folder, rows, self.pseudonyms())
    }

    /// Keeps a document (the trials' arms, say) beside the tables, names in it replaced where the case keeps none.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn keep<T: serde::Serialize>(&self, name: &str, document: &T) -> Result<(), CaseError> {
        let Some(pseudonyms) = self.pseudonyms() else { return write_json(&self.folder, name, document) };
        let damaged = |error| CaseError::damaged(&self.folder().join(name), &error);
        let mut document = serde_json::to_value(document).map_err(damaged)?;
        pseudonyms.document(&mut document);
        write_json(&self.folder, name, &document)
    }

    /// Keeps a document in which no name is left to be replaced: what was drawn from the tables of this case.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn keep_as_it_is<T: serde::Serialize>(&self, name: &str, document: &T) -> Result<(), CaseError> {
        write_json(&self.folder, name, document)
    }

    /// What stands for names in what is written; none where they are kept.
    pub fn pseudonyms(&self) -> Option<&'static Pseudonyms> {
        Pseudonyms::of_this_process().filter(|_| self.manifest.names == Names::Pseudonyms)
    }

    /// Keeps a file (the page, say) beside the tables.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn keep_file(&self, name: &str, contents: &[u8]) -> Result<(), CaseError> {
        self.folder.replace(Path::new(name), contents).map_err(CaseError::io(&self.folder().join(name)))
    }

    /// Keeps files in a folder that is made for them.
    ///
    /// # Errors
    /// Where the folder is there already, or the disk refuses.
    pub fn keep_files(&self, folder: &str, files: &[(String, String)]) -> Result<(), CaseError> {
        let kept = || {
            let folder = self.folder.new_folder(Path::new(folder))?;
            files.iter().try_for_each(|(name, text)| folder.replace(Path::new(name), text.as_bytes()))
        };
        kept().map_err(CaseError::io(&self.folder().join(folder)))
    }

    /// Reads a document that was kept; none where there is none of that name.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn kept<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, CaseError> {
        if self.folder.has(Path::new(name)) { read_json(&self.folder, name).map(Some) } else { Ok(None) }
    }
}

/// The stream of a table, beneath the folder.
fn stream_of(table: &str) -> String {
    format!("{TABLES}/{table}.arrows")
}

/// The Parquet file of a table, beneath the folder.
fn parquet_of(table: &str) -> String {
    format!("{TABLES}/{table}.parquet")
}

fn table_error(path: &Path, error: arrow_schema::ArrowError) -> CaseError {
    match error {
        arrow_schema::ArrowError::IoError(_, source) => CaseError::Io { path: path.to_path_buf(), source },
        other => CaseError::damaged(path, &other),
    }
}

fn json_text<T: serde::Serialize>(path: &Path, document: &T) -> Result<String, CaseError> {
    let text = serde_json::to_string_pretty(document).map_err(|error| CaseError::damaged(path, &error))?;
    Ok(text + "\n")
}

fn write_json<T: serde::Serialize>(folder: &Beneath, name: &str, document: &T) -> Result<(), CaseError> {
    let path = folder.path().join(name);
    let text = json_text(&path, document)?;
    folder.replace(Path::new(name), text.as_bytes()).map_err(CaseError::io(&path))
}

fn read_json<T: serde::de::DeserializeOwned>(folder: &Beneath, name: &str) -> Result<T, CaseError> {
    let path = folder.path().join(name);
    let damaged = |reason: &dyn std::fmt::Display| CaseError::damaged(&path, reason);
    let file = folder.read(Path::new(name)).map_err(|error| reader::opening(&path, error))?;
    let mut text = String::new();
    let read = file.take(LARGEST_DOCUMENT_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| damaged(&error))?;
    if text.len() as u64 > LARGEST_DOCUMENT_BYTES {
        return Err(damaged(&format!("it has more than {} MB", LARGEST_DOCUMENT_BYTES >> 20)));
    }
    serde_json::from_str(&text).map_err(|error| damaged(&error))
}

/// A row as it is written.
fn without_names<R: Row>(mut row: R, pseudonyms: Option<&Pseudonyms>) -> R {
    if let Some(pseudonyms) = pseudonyms {
        row.rename(&mut |kind, text| pseudonyms.replace(kind, text));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Call, Path as PathRow};
    use crate::units::Nanos;
    use std::fs;

    fn call(number: u64) -> Call {
        Call { start: Nanos(number), tid: 7, result: -11, ..Call::default() }
    }

    fn new_case(folder: &Path) -> CaseWriter {
        CaseWriter::create(folder, Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a new case")
    }

    #[test]
    fn rows_come_back_as_they_were_written() {
        let home = tempfile::tempdir().expect("a folder");
        let mut writer = new_case(&home.path().join("c"));
        writer.append((0..40_000).map(call)).expect("rows");
        writer.append([PathRow { id: 1, path: "/etc/hosts".into() }]).expect("rows");
        let case = writer.close().expect("closed");
        let calls: Vec<Call> = case.read().expect("calls");
        assert_eq!(calls.len(), 40_000);
        assert_eq!(calls[39_999], call(39_999));
        assert_eq!(case.read::<PathRow>().expect("paths")[0].path, "/etc/hosts");
        assert!(case.manifest().closed);
    }

    #[test]
    fn a_crash_loses_only_the_last_batch() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("c");
        let mut writer = new_case(&folder);
        writer.append((0..BATCH_ROWS as u64 + 5).map(call)).expect("rows");
        std::mem::forget(writer);
        let stream = folder.join("tables/calls.arrows");
        let whole = fs::read(&stream).expect("a stream");
        fs::write(&stream, [&whole[..], &[0xff, 0xff, 0xff, 0xff, 9]].concat()).expect("a torn tail");
        let case = Case::open(&folder).expect("a case");
        assert!(!case.manifest().closed);
        assert_eq!(case.read::<Call>().expect("calls").len(), BATCH_ROWS);
    }

    #[test]
    fn rows_that_are_given_up_are_gone_and_others_follow() {
        let home = tempfile::tempdir().expect("a folder");
        let mut writer = new_case(&home.path().join("c"));
        writer.append((0..40_000).map(call)).expect("rows");
        writer.append([PathRow { id: 1, path: "/etc/hosts".into() }]).expect("rows");
        let given_up = writer.give_up(&[(Nanos(100), Nanos(20_100)), (Nanos(30_000), Nanos(30_010))]).expect("thinned");
        assert_eq!((given_up.rows, given_up.of_threads[&7].calls), (20_010, 20_010));
        writer.append((40_000..40_005).map(call)).expect("more rows");
        assert_eq!(writer.give_up(&[(Nanos(0), Nanos(100))]).expect("thinned again").rows, 100);
        let case = writer.close().expect("closed");
        let calls: Vec<Call> = case.read().expect("calls");
        let expected: Vec<Call> = (20_100..30_000).chain(30_010..40_005).map(call).collect();
        assert!(calls == expected, "{} of {}", calls.len(), expected.len());
        assert_eq!(case.read::<PathRow>().expect("paths").len(), 1);
        assert_eq!(fs::read_dir(home.path().join("c/tables")).expect("a folder").count(), 2);
    }

    #[test]
    fn a_case_is_never_overwritten() {
        let home = tempfile::tempdir().expect("a folder");
        let again = CaseWriter::create(home.path(), Manifest::default());
        assert!(matches!(again, Err(CaseError::Exists(_))));
    }

    #[test]
    fn a_foreign_or_damaged_folder_is_refused_by_name() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(matches!(Case::open(home.path()), Err(CaseError::NotACase(_))));
        fs::write(home.path().join("manifest.json"), "{").expect("a file");
        assert!(matches!(Case::open(home.path()), Err(CaseError::Damaged { .. })));
        fs::write(home.path().join("manifest.json"), "{\"schema\":99}").expect("a file");
        let error = Case::open(home.path()).expect_err("another schema").to_string();
        assert!(error.contains("schema") || error.contains("missing field"), "{error}");
        let mut writer = new_case(&home.path().join("c"));
        writer.append([call(1)]).expect("rows");
        let case = writer.close().expect("closed");
        fs::write(case.folder().join("tables/calls.parquet"), b"PAR1 torn").expect("a file");
        assert!(matches!(case.read::<Call>(), Err(CaseError::Damaged { .. })));
    }
}
