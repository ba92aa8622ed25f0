use super::*;
use crate::bisect::closure::fixture::{Pair, is_root};

fn checked(pair: &Pair, objects: &[&str]) -> Linkage {
    let world = pair.bad.ready.world(&World::default(), End::Client, &[]);
    let objects = objects.iter().map(PathBuf::from).collect::<Vec<_>>();
    let mut wait = |time| {
        std::thread::sleep(time);
        false
    };
    check(&world, End::Client, &objects, &mut wait).expect("asked")
}

fn pair() -> Pair {
    let mut pair = Pair::new();
    pair.bad.library("libone.so.1", "int one(void) { return 1; }", &[], "");
    pair.bad.program("int one(void); int main(void) { return one(); }", &["libone.so.1"]);
    pair
}

#[test]
fn what_a_program_loads_is_listed_and_nothing_is_missing() {
    if !is_root() {
        return;
    }
    let linkage = checked(&pair(), &["/opt/program", "/no/such/program"]);
    assert_eq!(linkage.missing, []);
    assert_eq!(linkage.loaded["libone.so.1"].file_name().expect("a name"), "libone.so.1");
}

#[test]
fn of_a_script_its_interpreter_is_asked() {
    if !is_root() {
        return;
    }
    let pair = pair();
    pair.bad.write("/opt/script", "#!/opt/program -x\n");
    assert!(checked(&pair, &["/opt/script"]).loaded.contains_key("libone.so.1"));
}

#[test]
fn a_library_that_is_gone_and_one_that_a_plug_in_lacks_are_missing() {
    if !is_root() {
        return;
    }
    let mut pair = pair();
    pair.bad.library("libtwo.so.1", "int two(void) { return 1; }", &[], "");
    pair.bad.library("plug.so", "int two(void); int plug(void) { return two(); }", &["libtwo.so.1"], "");
    let missing = |pair: &Pair| {
        let missing = checked(pair, &["/opt/program", "/usr/lib/plug.so"]).missing.into_iter();
        missing.filter(|one| one.kind == MissingKind::Library).map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(missing(&pair), [] as [String; 0]);
    for name in ["libone.so.1", "libtwo.so.1"] {
        std::fs::remove_file(pair.bad.host(&format!("/usr/lib/{name}"))).expect("removed");
    }
    assert_eq!(missing(&pair), ["libone.so.1", "libtwo.so.1"]);
}

#[test]
fn the_parts_of_the_c_library_are_known_by_their_private_versions() {
    let elf = |path: &str| Elf::read(Path::new(path)).expect("an ELF file");
    assert!(elf("/lib/x86_64-linux-gnu/libc.so.6").is_c_library);
    let pair = pair();
    let own = Elf::read(&pair.bad.host("/usr/lib/libone.so.1")).expect("built");
    assert!(!own.is_c_library && own.offers.contains("one") && own.soname.as_deref() == Some("libone.so.1"));
    let program = Elf::read(&pair.bad.host("/opt/program")).expect("built");
    assert_eq!(program.loader.as_deref(), Some(Path::new("/lib64/ld-linux-x86-64.so.2")));
    assert_eq!(program.needed, ["libone.so.1", "libc.so.6"]);
}
