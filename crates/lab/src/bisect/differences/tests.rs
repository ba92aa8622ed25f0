use super::*;
use crate::bisect::closure::fixture::Pair;
use std::collections::BTreeMap;

/// Name, kind, good and bad of all.
fn fields_of(pair: &Pair) -> Vec<(String, FactorKind, String, String)> {
    let fields = |one: Difference| (one.factor.name, one.factor.kind, one.factor.good, one.factor.bad);
    pair.differences().into_iter().map(fields).collect()
}

fn expected(name: &str, kind: FactorKind, good: &str, bad: &str) -> (String, FactorKind, String, String) {
    (name.to_string(), kind, good.to_string(), bad.to_string())
}

#[test]
fn used_packages_of_other_versions_are_factors_and_others_are_none() {
    let mut pair = Pair::new();
    for (side, version) in [(&mut pair.good, "1"), (&mut pair.bad, "2")] {
        side.data("/usr/share/one/table", version);
        side.package("one", version, &["/usr/share/one/table", "/usr/share/one/other"]);
        side.data("/usr/share/same/table", "same");
        side.package("same", "3", &["/usr/share/same/table"]);
        side.write("/usr/share/unused", version);
        side.package("unused", version, &["/usr/share/unused"]);
    }
    pair.good.write("/usr/share/one/other", "");
    pair.bad.data("/usr/share/late", "");
    pair.bad.package("late", "1", &["/usr/share/late"]);
    assert_eq!(fields_of(&pair), [expected("one", FactorKind::Package, "1", "2")]);
    let paths = ["/usr/share/one/other", "/usr/share/one/table"].map(PathBuf::from).to_vec();
    assert_eq!(pair.differences()[0].change, Change::Files { paths });
}

#[test]
fn other_bytes_of_the_same_version_are_a_factor() {
    let mut pair = Pair::new();
    for (side, text) in [(&mut pair.good, "a"), (&mut pair.bad, "b")] {
        side.data("/usr/share/patched/table", text);
        side.package("patched", "1", &["/usr/share/patched/table"]);
    }
    assert_eq!(fields_of(&pair), [expected("patched", FactorKind::Package, "1", "1")]);
}

#[test]
fn files_of_no_package_are_data_or_libraries_and_the_loaders_cache_is_neither() {
    let mut pair = Pair::new();
    for (side, text) in [(&mut pair.good, "a"), (&mut pair.bad, "bbb")] {
        side.data("/etc/ssl/bundle", &text.repeat(1_000));
        side.data("/etc/ld.so.cache", text);
        side.data("/etc/same", "same");
        side.library("libown.so.1", &format!("int {text};"), &[], "");
    }
    pair.bad.data("/etc/only-here", "");
    let all = fields_of(&pair);
    assert_eq!(all[1], expected("/etc/only-here", FactorKind::Data, "", "0 bytes"));
    assert_eq!(all[2], expected("/etc/ssl/bundle", FactorKind::Data, "1,000 bytes", "3,000 bytes"));
    assert_eq!((all[0].0.as_str(), all[0].1, all.len()), ("libown.so.1", FactorKind::Library, 3));
}

#[test]
fn the_source_that_owns_the_loader_is_no_factor_to_be_tried() {
    let mut pair = Pair::new();
    for (side, version) in [(&mut pair.good, "1"), (&mut pair.bad, "2")] {
        side.program("int main(void) { return 0; }", &[]);
        side.package("core", version, &["/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"]);
    }
    let found = pair.differences();
    assert_eq!(fields_of(&pair), [expected("core", FactorKind::Libc, "1", "2")]);
    assert_eq!((found[0].change.clone(), found[0].factor.untestable.as_str()), (Change::Libc, C_LIBRARY));
}

#[test]
fn variables_that_differ_are_factors_and_secrets_are_not_shown() {
    let mut pair = Pair::new();
    let some = |text: &str| Some(text.to_string());
    pair.good.ready.environment = BTreeMap::from([("MODE".into(), some("1")), ("API_TOKEN".into(), some("x"))]);
    pair.bad.ready.environment = BTreeMap::from([("MODE".into(), None), ("API_TOKEN".into(), some("y"))]);
    let kind = FactorKind::Environment;
    assert_eq!(fields_of(&pair), [expected("API_TOKEN", kind, "*", "*"), expected("MODE", kind, "1", "")]);
    let change = Change::Variable { name: "MODE".into(), value: some("1") };
    assert_eq!(pair.differences()[1].change, change);
}

#[test]
fn libraries_of_a_folder_are_compared_with_those_loaded_in_their_place() {
    let mut pair = Pair::new();
    for (side, number) in [(&mut pair.good, 1), (&mut pair.bad, 2)] {
        side.library("libone.so.1", &format!("int one{number};"), &[], "");
        side.library("libtwo.so.1", "int two;", &[], "");
        let folder = side.host("/usr/lib/x").parent().expect("a folder").to_path_buf();
        side.used = ["libone.so.1", "libtwo.so.1"].map(|name| folder.join(name)).into();
        (side.ready.base, side.ready.libraries) = ("/".into(), Some(folder));
    }
    assert_eq!(
        fields_of(&pair).iter().map(|one| (one.0.as_str(), one.1)).collect::<Vec<_>>(),
        [("libone.so.1", FactorKind::Library)]
    );
}
