use super::*;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's folder")
}

fn built() -> Files {
    build(root()).expect("a site without broken links")
}

#[test]
fn every_pathology_and_every_intervention_has_a_page_that_the_navigation_lists() {
    let files = built();
    let pathologies =
        diagnose::pages().iter().map(|page| format!("pathologies/{}.html", page.name)).collect::<Vec<_>>();
    let interventions = lab::interventions::ALL.iter().map(|one| format!("interventions/{}.html", one.name));
    for address in pathologies.into_iter().chain(interventions) {
        assert!(files.contains_key(&address), "{address}");
        assert!(files["index.html"].contains(&format!("href=\"{address}\"")), "{address}");
    }
}

#[test]
fn every_story_has_a_page() {
    let files = built();
    for story in crate::story::all(&root().join("casebook")).expect("the casebook") {
        let places = [format!("tutorials/{}.html", story.name), format!("stories/{}.html", story.name)];
        assert!(places.iter().any(|place| files.contains_key(place)), "{}", story.name);
    }
}

#[test]
fn a_pathology_leads_to_what_is_tried_for_it_and_to_its_story() {
    let page = &built()["pathologies/nagle-delayed-ack.html"];
    for link in ["../interventions/tcp-nodelay.html", "../tutorials/nagle.html"] {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
    }
}

#[test]
fn pages_need_nothing_but_the_folder_that_they_are_in() {
    for (name, html) in built().iter().filter(|(name, _)| links::is_page(name)) {
        assert!(!html.contains("<script") && !html.contains("src="), "{name}");
        assert!(html.matches("<link").count() == 1 && html.contains("site.css"), "{name}");
        assert!(html.matches("<h1").count() == 1, "{name}");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_reported_with_its_file() {
    let copy = tempfile::tempdir().expect("a folder");
    for folder in ["docs", "casebook"] {
        copy_folder(&root().join(folder), &copy.path().join(folder));
    }
    for file in ["CASE-FORMAT.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        fs::copy(root().join(file), copy.path().join(file)).expect("copied");
    }
    let index = copy.path().join("docs/index.md");
    let text = fs::read_to_string(&index).expect("read") + "\n[gone](gone.md) [far](commands.md#gone)\n";
    fs::write(&index, text).expect("written");
    let error = build(copy.path()).expect_err("two broken links").to_string();
    assert!(error.contains("docs/index.md: gone.md (there is no such page)"), "{error}");
    assert!(error.contains("docs/index.md: commands.html#gone (that page has no such heading)"), "{error}");
}

#[test]
fn what_an_earlier_site_left_goes_when_it_is_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    let files = |name: &str| Files::from([("site.css".into(), String::new()), (name.to_string(), "x".into())]);
    write(&files("a/old.html"), &site).expect("written");
    write(&files("b/new.html"), &site).expect("written");
    assert!(!site.join("a/old.html").exists() && site.join("b/new.html").exists());
}

/// The Markdown files of a folder and of those in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("read").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            fs::copy(path, target).expect("copied");
        }
    }
}
