use super::*;
use crate::{Recording, Row, tables};
use serde_json::json;

fn shown(kind: NameKind, text: &str) -> String {
    let pseudonyms = Pseudonyms::salted([7; 32]);
    let mut text = text.to_string();
    pseudonyms.replace(kind, &mut text);
    text
}

fn is_pseudonym(text: &str) -> bool {
    text.len() == 1 + DIGITS
        && text.starts_with('n')
        && text[1..].bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[test]
fn every_column_of_text_says_what_kind_of_name_it_is() {
    for (table, _, columns) in Recording::tables() {
        for column in columns {
            let is_text = column.data_type == arrow_schema::DataType::Utf8;
            assert_eq!(is_text, column.names.is_some(), "{table}.{}", column.name);
        }
    }
}

#[test]
fn files_of_system_folders_stay_and_others_keep_their_shape() {
    for path in ["/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/etc/hosts", "/proc/self/maps", "[kernel]", "<frozen x>"]
    {
        assert_eq!(shown(NameKind::File, path), path);
    }
    let path = shown(NameKind::File, "/home/me/acme/server.py");
    let parts = path.split('/').collect::<Vec<_>>();
    assert!(parts[1] == "home" && is_pseudonym(parts[2]) && is_pseudonym(parts[3]), "{path}");
    assert!(parts[4].strip_suffix(".py").is_some_and(is_pseudonym), "{path}");
    assert_ne!(shown(NameKind::File, "/usr/local/bin/acme"), "/usr/local/bin/acme");
    assert_ne!(shown(NameKind::File, "/usr/../home/acme"), "/usr/../home/acme");
    let library = shown(NameKind::File, "/opt/acme/lib/libssl.so.3");
    assert!(library.ends_with("/lib/libssl.so.3") && !library.contains("acme"), "{library}");
    let packages = shown(NameKind::File, "/srv/venv/lib/python3.11/site-packages/acme/api.py");
    assert!(packages.contains("/lib/python3.11/site-packages/n") && !packages.contains("acme"), "{packages}");
    let hashed = shown(NameKind::File, "/srv/trust/3513523f.0");
    assert!(hashed.ends_with(".0") && !hashed.contains("3513523f"), "{hashed}");
}

#[test]
fn hosts_keep_their_family_their_port_and_their_parts() {
    for plain in ["127.0.0.1:80", "::1", "localhost:8080", "10.77.0.2"] {
        assert_eq!(shown(NameKind::Host, plain), plain);
    }
    assert!(shown(NameKind::Host, "192.0.2.7:443").parse::<std::net::SocketAddrV4>().is_ok_and(|it| it.port() == 443));
    assert!(shown(NameKind::Host, "2001:db8::7").parse::<std::net::Ipv6Addr>().is_ok_and(|it| it.is_unique_local()));
    assert!(shown(NameKind::Host, "fe80::7").starts_with("fe80::"));
    let name = shown(NameKind::Host, "api.Acme.example:8443");
    assert!(name.ends_with(":8443") && name.matches('.').count() == 2 && !name.contains("cme"), "{name}");
    assert_eq!(shown(NameKind::Host, "api.acme.example:8443"), name, "a host's name has no case");
    assert!(shown(NameKind::Host, "7.2.0.192.in-addr.arpa").ends_with(".in-addr.arpa"));
    assert!(!shown(NameKind::Host, "/run/acme/socket").contains("acme"));
}

#[test]
fn no_two_addresses_become_one() {
    let pseudonyms = Pseudonyms::salted([7; 32]);
    let all = (0..20_000u32).map(|number| pseudonyms.address(std::net::Ipv4Addr::from(number << 8 | 9).into()));
    let all = all.collect::<HashSet<_>>();
    assert_eq!(all.len(), 20_000);
}

#[test]
fn routes_keep_their_depth_and_where_numbers_stand() {
    let target = shown(NameKind::Target, "/orders/4711/acme.json?customer=*&acme");
    let parts = target.split(['/', '?', '&']).collect::<Vec<_>>();
    assert!(is_pseudonym(parts[1]) && parts[2].len() == 4 && parts[2].bytes().all(|byte| byte.is_ascii_digit()));
    assert!(
        parts[3].split_once(".json").is_some_and(|(name, rest)| is_pseudonym(name) && rest.is_empty())
            && parts[4].ends_with("=*")
            && is_pseudonym(parts[5]),
        "{target}"
    );
    assert!(!target.contains("4711") && !target.contains("acme") && !target.contains("customer"));
    assert_eq!(shown(NameKind::Target, "/"), "/");
    assert!(shown(NameKind::Target, "acme.example:443").ends_with(":443"));
}

#[test]
fn command_lines_keep_what_comes_with_the_system_and_what_kind_of_word_it_is() {
    let line = "sh -x --acme=secretive /srv/acme/x.sh http://me@shop.acme:80/cart?id=* 8080 -n eins:zwei";
    let shown = shown(NameKind::Command, line);
    assert!(shown.starts_with("sh -x --n"), "{shown}");
    assert!(shown.contains(" http://n") && shown.contains(":80/n") && shown.contains("=* 8080 -n n"), "{shown}");
    for name in ["acme", "secretive", "shop", "cart", "me@", "eins", "zwei"] {
        assert!(!shown.contains(name), "{name} in {shown}");
    }
}

#[test]
fn the_same_name_has_the_same_pseudonym_wherever_it_stands() {
    let file = shown(NameKind::File, "/srv/acmed");
    let (program, command) = (shown(NameKind::Program, "acmed"), shown(NameKind::Command, "/srv/acmed --x"));
    assert_eq!(file, format!("/srv/{program}"));
    assert!(command.starts_with(&file), "{command}");
    assert_eq!(shown(NameKind::Program, "GC Thread#3"), "GC Thread#3");
}

#[test]
fn another_salt_makes_other_pseudonyms() {
    let mut other = "/srv/acmed".to_string();
    Pseudonyms::salted([8; 32]).replace(NameKind::File, &mut other);
    assert_ne!(shown(NameKind::File, "/srv/acmed"), other);
}

#[test]
fn sentences_lose_names_that_were_seen_and_whatever_is_a_path_or_an_address() {
    let pseudonyms = Pseudonyms::salted([7; 32]);
    pseudonyms.replace(NameKind::Host, &mut "shop.acme.example".to_string());
    pseudonyms.replace(NameKind::Program, &mut "acmed".to_string());
    let mut text =
        "acmed (17) asked shop.acme.example:80 for /srv/acme/x, 192.0.2.9/443 and http://acme/y; HTTP/1.1 stays."
            .to_string();
    pseudonyms.replace(NameKind::Sentence, &mut text);
    assert!(!text.contains("acme") && !text.contains("192.0.2.9"), "{text}");
    assert!(text.ends_with("; HTTP/1.1 stays.") && text.contains("/443 and http://n"), "{text}");
}

#[test]
fn documents_lose_names_by_their_fields_and_in_sentences_and_keep_words_of_ours() {
    let pseudonyms = Pseudonyms::salted([7; 32]);
    pseudonyms.replace(NameKind::Program, &mut "acmeload".to_string());
    let mut document = json!({"metric": "acmeload", "place": [{"module": "acmed", "function": "serve", "line": 3}],
        "why": "acmeload was not there"});
    pseudonyms.document(&mut document);
    assert_eq!(document["metric"], "acmeload");
    assert_eq!(document["place"][0]["function"], "serve");
    assert!(is_pseudonym(document["place"][0]["module"].as_str().unwrap_or_default()), "{document}");
    assert!(!document["why"].as_str().unwrap_or_default().contains("acmeload"), "{document}");
}

#[test]
fn the_process_that_replaced_names_can_put_them_back() {
    let pseudonyms = Pseudonyms::salted([7; 32]);
    let row = tables::HttpMessage { host: "acme:1".into(), target: "/acme?x=*".into(), ..Default::default() };
    let mut written = row.clone();
    written.rename(&mut |kind, text| pseudonyms.replace(kind, text));
    assert_ne!(written.host, row.host);
    let mut recording = Recording { http_messages: vec![written], ..Recording::default() };
    recording.reveal(&pseudonyms);
    assert_eq!(recording.http_messages, [row]);
}
