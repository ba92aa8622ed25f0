use super::fixture::{Pair, is_root};
use crate::bisect::differences::Change;

/// A program that needs `libuse`, which needs the library given, in both worlds.
fn chain(good: &str, bad: &str) -> Pair {
    let mut pair = Pair::new();
    for (side, name, number) in [(&mut pair.good, good, 1), (&mut pair.bad, bad, 2)] {
        side.library(name, &format!("int dep(void) {{ return {number}; }}"), &[], "");
        side.library("libuse.so.1", "int dep(void); int use(void) { return dep(); }", &[name], "");
        side.program("int use(void); int main(void) { return use(); }", &["libuse.so.1"]);
        // Read whichever library is loaded: that it is there does not make the library take effect.
        side.data("/etc/dep.conf", &number.to_string());
    }
    pair.good.package("dep", "1", &[&format!("/usr/lib/{good}"), "/etc/dep.conf"]);
    pair.bad.package("dep", "2", &[&format!("/usr/lib/{bad}"), "/etc/dep.conf"]);
    pair.good.package("use", "1", &["/usr/lib/libuse.so.1"]);
    pair.bad.package("use", "2", &["/usr/lib/libuse.so.1"]);
    pair
}

#[test]
fn a_library_of_the_same_name_is_taken_alone() {
    if !is_root() {
        return;
    }
    chain("libdep.so.1", "libdep.so.1").with(|closures| {
        assert_eq!(closures.closed(&["dep"]), Ok("dep".into()));
        assert_eq!(closures.closed(&[]), Ok(String::new()));
    });
}

#[test]
fn a_library_of_another_name_and_what_needs_it_go_together() {
    if !is_root() {
        return;
    }
    chain("libdep.so.1", "libdep.so.2").with(|closures| {
        assert_eq!(closures.loaded(&["dep"]), "", "nobody loads it");
        assert_eq!(closures.closed(&["dep"]), Ok("dep use".into()));
        assert_eq!(closures.loaded(&["dep", "use"]), "dep use");
        assert_eq!(closures.closed(&["use"]), Ok("dep use".into()));
    });
}

/// The bad world's `libuse` needs what only the bad world's `libdep` has.
fn grown(versions: (&str, &str)) -> Pair {
    let mut pair = Pair::new();
    pair.good.library("libdep.so.1", "int dep(void) { return 1; }", &[], versions.0);
    pair.bad.library("libdep.so.1", "int dep(void) { return 1; } int fresh(void) { return 2; }", &[], versions.1);
    pair.good.library("libuse.so.1", "int dep(void); int use(void) { return dep(); }", &["libdep.so.1"], "");
    pair.bad.library("libuse.so.1", "int fresh(void); int use(void) { return fresh(); }", &["libdep.so.1"], "");
    for (side, version) in [(&mut pair.good, "1"), (&mut pair.bad, "2")] {
        side.program("int use(void); int main(void) { return use(); }", &["libuse.so.1"]);
        side.package("dep", version, &["/usr/lib/libdep.so.1"]);
        side.package("use", version, &["/usr/lib/libuse.so.1"]);
    }
    pair
}

#[test]
fn who_needs_a_symbol_that_the_good_library_lacks_comes_along() {
    if !is_root() {
        return;
    }
    grown(("", "")).with(|closures| {
        assert_eq!(closures.closed(&["use"]), Ok("use".into()));
        assert_eq!(closures.closed(&["dep"]), Ok("dep use".into()));
    });
}

#[test]
fn who_needs_a_version_that_the_good_library_lacks_comes_along() {
    if !is_root() {
        return;
    }
    grown(("D_1 { dep; };", "D_1 { dep; }; D_2 { fresh; } D_1;")).with(|closures| {
        assert_eq!(closures.closed(&["dep"]), Ok("dep use".into()));
    });
}

#[test]
fn where_a_program_that_is_no_factor_needs_it_nothing_can_be_added() {
    if !is_root() {
        return;
    }
    let mut pair = grown(("", ""));
    for side in [&mut pair.good, &mut pair.bad] {
        let code = "int fresh(void) __attribute__((weak)); int use(void); int main(void) { return use(); }";
        side.program(code, &["libuse.so.1"]);
    }
    // The good world's libuse is gone from what differs: the bad one's stays, and its need with it.
    std::fs::copy(pair.bad.host("/usr/lib/libuse.so.1"), pair.good.host("/usr/lib/libuse.so.1")).expect("copied");
    pair.good.write("/var/lib/dpkg/status", "");
    pair.bad.write("/var/lib/dpkg/status", "");
    pair.good.package("dep", "1", &["/usr/lib/libdep.so.1"]);
    pair.bad.package("dep", "2", &["/usr/lib/libdep.so.1"]);
    pair.with(|closures| {
        // What the good world lacks as well is not held against the set.
        assert_eq!(closures.closed(&["dep"]), Ok("dep".into()));
    });
}

/// Both worlds have a C library of their own making, of which the good one is newer.
#[test]
fn what_needs_the_good_worlds_c_library_cannot_be_taken() {
    if !is_root() {
        return;
    }
    let mut pair = Pair::new();
    let (old, new) = ("C_1 { old; }; C_PRIVATE { inner; };", "C_1 { old; }; C_9 { new; } C_1; C_PRIVATE { inner; };");
    let code = "int old(void) { return 1; } int inner(void) { return 2; }";
    pair.good.library("libcore.so.1", &format!("{code} int new(void) {{ return 3; }}"), &[], new);
    pair.bad.library("libcore.so.1", code, &[], old);
    pair.good.library("libuse.so.1", "int new(void); int use(void) { return new(); }", &["libcore.so.1"], "");
    pair.bad.library("libuse.so.1", "int old(void); int use(void) { return old(); }", &["libcore.so.1"], "");
    for side in [&mut pair.good, &mut pair.bad] {
        side.program("int use(void); int main(void) { return use(); }", &["libuse.so.1"]);
    }
    let differences = pair.differences();
    let last = differences.last().expect("factors");
    assert_eq!((&last.change, last.factor.untestable.is_empty()), (&Change::Libc, false));
    pair.with(|closures| {
        let why = closures.closed(&["libuse.so.1"]).expect_err("refused");
        assert_eq!(why, "libuse.so.1 needs C_9, and so the good world's C library");
        assert!(closures.closed(&["libcore.so.1"]).is_err());
    });
}

#[test]
fn a_link_into_another_package_brings_that_along() {
    if !is_root() {
        return;
    }
    let mut pair = Pair::new();
    for (side, version) in [(&mut pair.good, "1"), (&mut pair.bad, "2")] {
        side.program("int main(void) { return 0; }", &[]);
        side.package("one", version, &["/usr/share/one/table"]);
        side.package("two", version, &["/usr/share/two/table-1", "/usr/share/two/table"]);
        side.data("/usr/share/two/table", version);
    }
    pair.good.link("/usr/share/one/table", "../two/table-1");
    pair.good.write("/usr/share/two/table-1", "one");
    pair.good.used.insert("/usr/share/one/table".into());
    pair.bad.data("/usr/share/one/table", "two");
    pair.with(|closures| {
        assert_eq!(closures.closed(&["one"]), Ok("one two".into()));
        assert_eq!(closures.closed(&["two"]), Ok("two".into()));
        assert_eq!(closures.loaded(&["one", "two"]), "one two");
    });
}

#[test]
fn what_a_plug_in_needs_comes_along_and_the_order_of_questions_does_not_matter() {
    if !is_root() {
        return;
    }
    let mut pair = Pair::new();
    for (side, dep) in [(&mut pair.good, "libdep.so.1"), (&mut pair.bad, "libdep.so.2")] {
        side.library(dep, "int dep(void) { return 1; }", &[], "");
        // Opened at run time: nothing needs it.
        side.library("plug.so", "int dep(void); int plug(void) { return dep(); }", &[dep], "");
        side.program("int main(void) { return 0; }", &[]);
        let version = if dep.ends_with('1') { "1" } else { "2" };
        side.package("dep", version, &[&format!("/usr/lib/{dep}")]);
        side.package("plug", version, &["/usr/lib/plug.so"]);
    }
    let mut first = Vec::new();
    pair.with(|closures| first.extend([closures.closed(&["dep"]), closures.closed(&["plug"])]));
    pair.with(|closures| {
        assert_eq!([closures.closed(&["plug"]), closures.closed(&["dep"])], [first[1].clone(), first[0].clone()]);
    });
    assert_eq!(first, [Ok("dep plug".into()), Ok("dep plug".into())]);
}
