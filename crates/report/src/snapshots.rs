//! The example documents as text and as Markdown, whole, as a person has read them. What changes in them on purpose is
//! accepted with `INSTA_UPDATE=always cargo test --release -p whyslow-report snapshots`, and read again.

use crate::document::{Body, Document};
use case::Manifest;

/// Both forms of a document, in one file of `snapshots`.
fn hold<'d>(name: &str, body: impl Into<Body<'d>>) {
    let manifest = Manifest { whyslow: "0.1.0".into(), ..Manifest::default() };
    let document = Document { manifest: Some(&manifest), ..Document::of(body) };
    let text = crate::text(&document, &crate::Style::default());
    let markdown = crate::markdown(&document);
    insta::assert_snapshot!(name, format!("{text}\n======== Markdown ========\n\n{markdown}"));
    if let Ok(folder) = std::env::var("PAGES") {
        std::fs::write(format!("{folder}/{name}.html"), crate::page(&document)).expect("written");
    }
}

#[test]
fn answers() {
    use crate::examples::answer as examples;
    hold("suspected", &examples::slow());
    hold("healthy", &examples::healthy());
    hold("proved", &examples::proved());
    hold("refuted", &examples::refuted());
    hold("undecided", &examples::undecided());
    hold("two-causes", &examples::two_causes());
    hold("steps", &examples::stepwise());
    hold("attached", &examples::attached());
}

#[test]
fn comparisons() {
    use crate::examples::comparison as examples;
    hold("slower", &examples::slower());
    hold("faster", &examples::faster());
    hold("same", &examples::same());
    hold("open", &examples::open());
    hold("busier", &examples::busier());
    hold("gated", &examples::gated());
}

#[test]
fn sweeps() {
    use crate::examples::sweep as examples;
    hold("cliff", &examples::cliff());
    hold("growth", &examples::growth());
    hold("proportional", &examples::proportional());
    hold("level", &examples::level());
    hold("knee", &examples::knee());
    hold("capacity", &examples::capacity());
    hold("categories", &examples::categories());
    hold("failed", &examples::failed());
}

#[test]
fn bisections() {
    use crate::examples::bisection as examples;
    hold("bundle", &examples::bundle());
    hold("single", &examples::single());
    hold("together", &examples::together());
    hold("commit", &examples::commit());
    hold("commits", &examples::commits());
    hold("reversed", &examples::reversed());
    hold("no-effect", &examples::no_effect());
    hold("not-separable", &examples::not_separable());
    hold("undecided-bisection", &examples::undecided());
}

#[test]
fn traffic() {
    use crate::examples::traffic as examples;
    hold("crawled", &examples::crawled());
    hold("visited", &examples::visited());
}

#[test]
fn loads() {
    use crate::examples::load as examples;
    hold("load-stalled", &examples::stalled());
    hold("load-merged", &examples::merged());
    hold("load-refused", &examples::refused());
}

#[test]
fn feeds() {
    use crate::examples::feeds as examples;
    hold("feeds-refreshed", &examples::refreshed());
    hold("feeds-interrupted", &examples::interrupted());
    hold("feeds-slower", &examples::slower());
    hold("feeds-level", &examples::level());
}

#[test]
fn watched() {
    use crate::examples::watched as examples;
    hold("watched-changed", &examples::changed());
    hold("watched-level", &examples::level());
}

#[test]
fn series() {
    use crate::examples::steps as examples;
    hold("series", &examples::fell());
    hold("series-bucket", &examples::bucket());
    hold("series-level", &examples::level());
}

#[test]
fn matrices() {
    use crate::examples::matrix as examples;
    hold("versions", &examples::openssl());
    hold("versions-sharing", &examples::sharing());
    hold("versions-level", &examples::level());
    hold("versions-alone", &examples::alone());
}
