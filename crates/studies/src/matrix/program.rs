//! Programs by their names, and what makes one end alone see other libraries.

use lab::{End, Subject, World};

/// The variable that the loader looks at first.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// What the loader already gets in this world.
pub fn library_path(world: &World) -> Option<String> {
    match world.environment.get(LIBRARY_PATH) {
        Some(value) => value.clone(),
        None => std::env::var(LIBRARY_PATH).ok(),
    }
}

/// The subject and its world where one end takes libraries from these folders first. The other one is started so that it
/// sees what it always sees.
pub fn on(subject: &Subject, world: &World, end: End, folders: &str) -> (Subject, World) {
    let (mut subject, mut world) = (subject.clone(), world.clone());
    let before = library_path(&world);
    world.environment.insert(LIBRARY_PATH.to_string(), Some(folders.to_string()));
    let other = match end {
        End::Client => subject.server.as_mut(),
        End::Server => Some(&mut subject.client),
    };
    if let Some(command) = other {
        let undo = match before {
            Some(value) => vec!["env".to_string(), format!("{LIBRARY_PATH}={value}")],
            None => vec!["env".to_string(), "-u".to_string(), LIBRARY_PATH.to_string()],
        };
        command.splice(0..0, undo);
    }
    (subject, world)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_end_sees_other_libraries() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let subject = Subject { client: words("get x"), server: Some(words("serve y")), ..Subject::default() };
        let mut world = World::default();
        world.environment.insert(LIBRARY_PATH.into(), Some("/opt/lib".into()));
        let (client, inside) = on(&subject, &world, End::Client, "/a:/opt/lib");
        assert_eq!(client.client, words("get x"));
        assert_eq!(client.server.unwrap_or_default(), words("env LD_LIBRARY_PATH=/opt/lib serve y"));
        assert_eq!(inside.environment[LIBRARY_PATH].as_deref(), Some("/a:/opt/lib"));
        world.environment.insert(LIBRARY_PATH.into(), None);
        let (server, _) = on(&subject, &world, End::Server, "/a");
        assert_eq!(server.client, words("env -u LD_LIBRARY_PATH get x"));
    }
}
