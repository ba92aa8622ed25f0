use super::*;

fn read(text: &str) -> Result<World, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())
}

fn typed(changes: &[(&str, &str)]) -> World {
    let mut world = World::default();
    for (key, value) in changes {
        world.change(key, value).expect("understood");
    }
    world
}

#[test]
fn a_world_is_the_same_typed_and_written() {
    let written = r#"
        link = "mtu=1400,rate=10mbit"
        folder = "/srv"
        processors = [3, 0, 1]
        quota = 0.5
        memory = "512m"
        route = ["client: quickack 1"]
        [env]
        LANG = "C"
        TZ = false
        [setting]
        "net.ipv4.tcp_sack" = 0
    "#;
    let typed = typed(&[
        ("link", "mtu=1400,rate=10mbit"),
        ("folder", "/srv"),
        ("processors", "0-1,3"),
        ("quota", "0.5"),
        ("memory", "512m"),
        ("route", "client: quickack 1"),
        ("env", "LANG=C"),
        ("env", "TZ"),
        ("setting", "net.ipv4.tcp_sack=0"),
    ]);
    assert_eq!(read(written), Ok(typed.clone()));
    assert_eq!(typed.memory, Some(512 << 20));
    assert_eq!(typed.environment["TZ"], None);
    assert_eq!(read(""), Ok(World::default()));
    assert_eq!(read(&toml::to_string(&typed).expect("written")), Ok(typed));
}

#[test]
fn what_is_wrong_with_a_world_is_named_with_what_is_allowed() {
    let error = |text: &str| read(text).expect_err("refused");
    assert!(error("lnik = 'mtu=1500'").contains("unknown field `lnik`"), "{}", error("lnik = 'mtu=1500'"));
    assert!(error("link = 'jitter=5ms'").contains("the keys are mtu, rate, burst, queue"));
    assert!(error("quota = 0.0").contains("at least 0.01"));
    assert!(error("memory = '5k'").contains("at least 1m"));
    assert!(error("processors = '3-1'").contains("0,2-3"));
    assert!(error("[env]\nTZ = true").contains("or false"));
    assert!(error("route = ['nowhere: quickack 1']").contains("client: quickack 1"));
    assert!(World::default().change("colour", "red").is_err_and(|error| error.contains("it has link, env")));
}

#[test]
fn what_belongs_to_a_network_needs_a_link() {
    assert!(read("[setting]\n'net.ipv4.tcp_sack' = 0").is_err_and(|error| error.contains("a setting needs a link")));
    assert!(typed(&[("route", "server: quickack 1")]).check().is_err_and(|error| error.starts_with("a route needs")));
}
