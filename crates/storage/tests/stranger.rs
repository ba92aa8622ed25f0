//! Cases that come from somebody else: whatever is wrong with one is said to be damage, and none takes a gigabyte.

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use storage::tables::{Call, Location, Path as PathRow};
use storage::{Case, CaseError, CaseWriter, Manifest, Nanos, Recording, Row, SCHEMA};

/// No case takes more than this to be read, or to be found damaged.
const MOST_BYTES: u64 = 1 << 30;

fn new_case(home: &Path) -> Case {
    let mut writer =
        CaseWriter::create(&home.join("case"), Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a new case");
    writer.append((0..3000).map(|number| Call { start: Nanos(number), tid: 7, ..Call::default() })).expect("rows");
    writer.append((0..300).map(|id| PathRow { id, path: format!("/a/{id}") })).expect("rows");
    writer.close().expect("closed")
}

/// Why a case could not be read: damage, of which file.
fn damage(case: &Case) -> String {
    match Recording::load(case) {
        Err(CaseError::Damaged { path, reason }) => {
            format!("{}: {reason}", path.file_name().unwrap_or_default().to_string_lossy())
        }
        other => panic!("not found damaged: {:?}", other.map(|recording| recording.calls.len())),
    }
}

/// Tests that measure memory do so one at a time, and what a bomb took to build does not count.
static ALONE: Mutex<()> = Mutex::new(());

/// What reading takes at most: damage, of which file, and the most memory that this process had meanwhile.
fn damage_and_peak(case: &Case) -> (String, u64) {
    // Resets the peak (proc(5)).
    fs::write("/proc/self/clear_refs", "5").expect("reset");
    (damage(case), peak_bytes())
}

/// The most memory that this process had.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folded() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(1).expect("a level")))
}

/// Writes one table of paths, a batch so many times.
fn write_paths(file: &Path, properties: WriterProperties, ids: &[u32], words: &[&str], times: usize) {
    let schema = PathRow::schema();
    let columns: Vec<ArrayRef> =
        vec![Arc::new(UInt32Array::from(ids.to_vec())), Arc::new(StringArray::from(words.to_vec()))];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(file).expect("a file"), schema, Some(properties)).expect("a writer");
    for _ in 0..times {
        writer.write(&batch).expect("written");
    }
    writer.close().expect("closed");
}

fn table(case: &Case, name: &str) -> PathBuf {
    case.folder().join("tables").join(name)
}

#[test]
fn a_table_of_many_equal_rows_is_damaged() {
    let _alone = alone();
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let rows = 1 << 20;
    write_paths(&table(&case, "paths.parquet"), folded().build(), &vec![1; rows], &vec!["/"; rows], 8);
    assert!(table(&case, "paths.parquet").metadata().expect("there").len() < 100_000);
    let (damage, peak) = damage_and_peak(&case);
    assert!(damage.starts_with("paths.parquet: it unfolds"), "{damage}");
    assert!(peak < MOST_BYTES, "{peak}");
}

#[test]
fn a_word_that_is_repeated_by_its_number_is_damaged() {
    let _alone = alone();
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let word = "x".repeat(1 << 20);
    let properties = folded().set_dictionary_page_size_limit(64 << 20).build();
    write_paths(&table(&case, "paths.parquet"), properties, &[1; 64], &[word.as_str(); 64], 40);
    assert!(table(&case, "paths.parquet").metadata().expect("there").len() < 100_000);
    let (damage, peak) = damage_and_peak(&case);
    assert!(damage.starts_with("paths.parquet: it unfolds"), "{damage}");
    assert!(peak < MOST_BYTES, "{peak}");
}

#[test]
fn a_page_that_unfolds_to_a_hundred_megabytes_is_damaged() {
    let _alone = alone();
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let word = "x".repeat(100 << 20);
    let properties = folded().set_dictionary_enabled(false).set_data_page_size_limit(1 << 30).build();
    write_paths(&table(&case, "paths.parquet"), properties, &[1], &[&word], 1);
    assert!(table(&case, "paths.parquet").metadata().expect("there").len() < 100_000);
    let (damage, peak) = damage_and_peak(&case);
    assert!(damage.contains("absurd"), "{damage}");
    assert!(peak < MOST_BYTES, "{peak}");
}

#[test]
fn a_stream_that_unfolds_to_hundreds_of_megabytes_is_damaged() {
    let _alone = alone();
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let word = "x".repeat(300 << 20);
    let columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(vec![1])), Arc::new(StringArray::from(vec![word]))];
    let batch = RecordBatch::try_new(PathRow::schema(), columns).expect("a batch");
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).expect("options");
    let file = File::create(table(&case, "paths.arrows")).expect("a file");
    let mut writer = StreamWriter::try_new_with_options(file, &PathRow::schema(), options).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("written");
    let (damage, peak) = damage_and_peak(&case);
    assert!(damage.starts_with("paths.arrows: it unfolds"), "{damage}");
    assert!(peak < MOST_BYTES, "{peak}");
}

#[test]
fn a_stream_whose_messages_name_absurd_sizes_is_cut_there_or_damaged() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let file = table(&case, "paths.arrows");
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).expect("options");
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &PathRow::schema(), options).expect("a writer");
    let rows = (0..200).map(|id| PathRow { id, path: format!("/a/{id}") }).collect::<Vec<_>>();
    writer.write(&PathRow::to_batch(&rows)).and_then(|()| writer.finish()).expect("written");
    drop(writer);
    // Every word of it in turn becomes a gigabyte, and all but everything.
    for at in (0..bytes.len() - 8).step_by(12) {
        for absurd in [[0, 0, 0, 0x40, 0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            let mut changed = bytes.clone();
            changed[at..at + 8].copy_from_slice(&absurd);
            fs::write(&file, changed).expect("written");
            let read = case.read::<PathRow>();
            assert!(matches!(read, Ok(_) | Err(CaseError::Damaged { .. })), "at {at}: {read:?}");
        }
    }
}

#[test]
fn a_table_cut_off_or_changed_anywhere_is_read_or_damaged() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let file = table(&case, "paths.parquet");
    let bytes = fs::read(&file).expect("a table");
    let expect = |what: &str, contents: &[u8]| {
        fs::write(&file, contents).expect("written");
        let read = case.read::<PathRow>();
        assert!(matches!(read, Ok(_) | Err(CaseError::Damaged { .. })), "{what}: {read:?}");
        read.is_ok()
    };
    let cut =
        (0..bytes.len()).step_by(7).filter(|length| expect(&format!("cut at {length}"), &bytes[..*length])).count();
    assert_eq!(cut, 0, "a Parquet file has its footer at its end");
    for at in (0..bytes.len()).step_by(5) {
        for value in [0x7f, 0xff, bytes[at].wrapping_add(1)] {
            let mut changed = bytes.clone();
            changed[at] = value;
            expect(&format!("{value} at {at}"), &changed);
        }
    }
}

#[test]
fn columns_of_other_types_are_damaged() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::UInt64, false),
        Field::new("path", DataType::Utf8, false),
    ]));
    let columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(vec![1])), Arc::new(StringArray::from(vec!["/"]))];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("a batch");
    let file = File::create(table(&case, "paths.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, schema, None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    assert_eq!(damage(&case), "paths.parquet: column id has another type");
}

#[test]
fn pipes_devices_links_and_folders_in_the_place_of_files_are_damaged() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let outside = home.path().join("outside");
    fs::copy(table(&case, "calls.parquet"), &outside).expect("copied");
    let calls = table(&case, "calls.parquet");
    let places: [(&str, &dyn Fn()); 4] = [
        ("a link", &|| std::os::unix::fs::symlink(&outside, &calls).expect("linked")),
        ("a link to a device", &|| std::os::unix::fs::symlink("/dev/zero", &calls).expect("linked")),
        ("a pipe", &|| nix::unistd::mkfifo(&calls, nix::sys::stat::Mode::S_IRWXU).expect("a pipe")),
        ("a folder", &|| fs::create_dir(&calls).expect("a folder")),
    ];
    for (what, put) in places {
        let _ = fs::remove_file(&calls);
        put();
        assert!(damage(&case).starts_with("calls.parquet: it is"), "{what}: {}", damage(&case));
    }
    let manifest = case.folder().join("manifest.json");
    fs::remove_file(&manifest).expect("removed");
    nix::unistd::mkfifo(&manifest, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    assert!(matches!(Case::open(case.folder()), Err(CaseError::Damaged { .. })));
}

#[test]
fn a_folder_of_tables_that_is_a_link_is_not_stepped_over() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let tables = case.folder().join("tables");
    fs::rename(&tables, home.path().join("elsewhere")).expect("renamed");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), &tables).expect("linked");
    assert_eq!(case.read::<Call>().ok().map(|rows| rows.len()), Some(0), "what is behind a link is not of this case");
    assert!(case.add([Location::default()]).is_err());
}

#[test]
fn documents_without_an_end_are_damaged() {
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let deep = "[".repeat(1 << 20);
    let long = format!("{{\"schema\":1,\"missing\":[{}\"\"]}}", "\"\",".repeat(4 << 20));
    for text in [deep, long] {
        fs::write(case.folder().join("manifest.json"), text).expect("written");
        assert!(matches!(Case::open(case.folder()), Err(CaseError::Damaged { .. })));
    }
}

/// How often a reader of somebody else's has panicked over damage.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_reader_that_panics_over_a_table_has_found_damage_and_nothing_is_printed_of_it() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if storage::is_damage_found() {
            CAUGHT.fetch_add(1, Ordering::Relaxed);
        } else {
            before(panic);
        }
    }));
    let home = tempfile::tempdir().expect("a folder");
    let case = new_case(home.path());
    let file = table(&case, "paths.parquet");
    let words = ["/a", "/b", "/c"];
    write_paths(&file, WriterProperties::builder().build(), &[1, 2, 3], &words, 40);
    let sound = fs::read(&file).expect("a table");
    for place in 4..sound.len() {
        // Wider than any number that a dictionary's index can be.
        let mut bytes = sound.clone();
        bytes[place] = 200;
        fs::write(&file, bytes).expect("written");
        match case.read::<PathRow>() {
            Ok(_) | Err(CaseError::Damaged { .. }) => {}
            Err(other) => panic!("byte {place}: {other}"),
        }
    }
    assert!(CAUGHT.load(Ordering::Relaxed) > 0, "no byte made a reader panic: what is caught need not be");
}
