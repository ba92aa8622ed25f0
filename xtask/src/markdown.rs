//! Markdown to HTML: headings get anchors, links between files become links between pages, names of pathologies and
//! interventions become links to their pages, and raw HTML is shown as it is written.

use crate::links::Places;
use crate::page::Page;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeMap;

/// A page's body.
pub struct Body {
    /// As HTML.
    pub html: String,
    /// Its headings of the second level: anchor and text.
    pub headings: Vec<(String, String)>,
}

/// A page as HTML.
pub fn body(page: &Page, places: &Places) -> Body {
    let events = Parser::new_ext(&page.markdown, Options::ENABLE_TABLES).collect::<Vec<_>>();
    let anchors = anchors(&events);
    let headings = anchors.iter().filter(|(level, ..)| *level == 2).map(|(_, id, text)| (id.clone(), text.clone()));
    let headings = headings.collect();
    let mut next = anchors.into_iter();
    let mut inside = Inside::default();
    let mut is_link = true;
    let mut done = Vec::with_capacity(events.len());
    for event in events {
        inside.follow(&event);
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = next.next().map(|(_, id, _)| CowStr::from(id));
                done.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = places.link(page, &dest_url).map(CowStr::from);
                is_link = target.is_some();
                done.extend(target.map(|dest_url| Event::Start(Tag::Link { link_type, dest_url, title, id })));
            }
            // A link that leads out of the site is its text only.
            Event::End(TagEnd::Link) if !is_link => {}
            // Comments are for those who read the file; all other HTML is text.
            Event::Html(raw) | Event::InlineHtml(raw) if raw.trim_start().starts_with("<!--") => {}
            Event::Html(raw) | Event::InlineHtml(raw) => done.push(Event::Text(raw)),
            Event::Code(word) if inside.is_plain() => match places.named(page, &word) {
                Some(address) => linked(&mut done, address, Event::Code(word)),
                None => done.push(Event::Code(word)),
            },
            Event::Text(text) if inside.is_plain() => words(&mut done, &text, page, places),
            other => done.push(other),
        }
    }
    let mut text = String::new();
    html::push_html(&mut text, done.into_iter());
    Body {
        html: text.replace("<table>", "<div class=\"wide\"><table>").replace("</table>", "</table></div>"),
        headings,
    }
}

/// Where no link may be made: inside of links, headings and blocks of code.
#[derive(Default)]
struct Inside(usize);

impl Inside {
    fn follow(&mut self, event: &Event) {
        match event {
            Event::Start(Tag::Link { .. } | Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::HtmlBlock) => self.0 += 1,
            Event::End(TagEnd::Link | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock) => self.0 -= 1,
            _ => {}
        }
    }

    fn is_plain(&self) -> bool {
        self.0 == 0
    }
}

/// Text, with a link around each name that has a page. Names of one word are words of the language, and stay.
fn words(done: &mut Vec<Event<'_>>, text: &str, page: &Page, places: &Places) {
    let mut plain = String::new();
    for word in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-') {
        let name = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        match places.named(page, name).filter(|_| name.contains('-')) {
            Some(address) => {
                done.push(Event::Text(std::mem::take(&mut plain).into()));
                linked(done, address, Event::Text(name.to_string().into()));
                plain += &word[name.len()..];
            }
            None => plain += word,
        }
    }
    done.push(Event::Text(plain.into()));
}

fn linked<'a>(done: &mut Vec<Event<'a>>, address: String, content: Event<'a>) {
    let link = Tag::Link {
        link_type: pulldown_cmark::LinkType::Inline,
        dest_url: address.into(),
        title: CowStr::from(""),
        id: CowStr::from(""),
    };
    done.extend([Event::Start(link), content, Event::End(TagEnd::Link)]);
}

/// Level, anchor and text of each heading. Anchors are made as code hosts make them, so that links work in both places.
fn anchors(events: &[Event]) -> Vec<(usize, String, String)> {
    let mut anchors: Vec<(usize, String, String)> = Vec::new();
    let mut seen = BTreeMap::new();
    let mut open = None;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = Some((*level as usize, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                let Some((level, text)) = open.take() else { continue };
                let slug = slug(&text);
                let count = seen.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(0);
                anchors.push((level, if *count == 0 { slug } else { format!("{slug}-{count}") }, text));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, text)) = &mut open {
                    *text += part;
                }
            }
            _ => {}
        }
    }
    anchors
}

/// A heading's anchor.
fn slug(text: &str) -> String {
    let kept = text.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Shelf;

    fn html(markdown: &str) -> String {
        let page = |source: &str, address: &str, markdown: &str| {
            Page::file(source, address, Shelf::Reference, markdown.to_string())
        };
        let pages = [
            page("docs/a.md", "a.html", markdown),
            page("docs/pathologies/busy-spin.md", "pathologies/busy-spin.html", "# busy-spin"),
        ];
        body(&pages[0], &Places::new(&pages, std::path::Path::new("/nonexistent"))).html
    }

    #[test]
    fn raw_html_is_shown_and_not_obeyed() {
        let html = html("# a\n\n<script>alert(1)</script>\n\nsay <b onclick=x>it</b> <!-- not this -->\n");
        assert!(!html.contains("<script") && !html.contains("<b onclick") && !html.contains("not this"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn links_between_files_become_links_between_pages() {
        let html = html("# a\n\n[spin](pathologies/busy-spin.md#evidence) and [out](https://example.com/)");
        assert!(html.contains("href=\"pathologies/busy-spin.html#evidence\""), "{html}");
        assert!(html.contains("href=\"https://example.com/\""), "{html}");
    }

    #[test]
    fn names_that_have_a_page_lead_there_but_not_in_code() {
        let html = html("# a\n\nIt is busy-spin, or `busy-spin`.\n\n    busy-spin\n");
        assert_eq!(html.matches("href=\"pathologies/busy-spin.html\"").count(), 2, "{html}");
        assert!(html.contains("<pre><code>busy-spin\n</code></pre>"), "{html}");
    }

    #[test]
    fn headings_get_the_anchors_of_code_hosts() {
        let html = html("# What's `up`?\n\n## Up, down\n\n## Up, down\n");
        for anchor in ["id=\"whats-up\"", "id=\"up-down\"", "id=\"up-down-1\""] {
            assert!(html.contains(anchor), "{html}");
        }
    }
}
