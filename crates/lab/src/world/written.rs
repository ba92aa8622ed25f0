//! A world as it is written in the TOML of a trial. Every key takes what the option of its name takes; those that can be
//! given several times are tables or lists here.

use super::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The keys, as they are written. Others are refused.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<Processors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Size>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    route: Vec<String>,
    /// A name to a value; `false` removes the variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, Variable>,
    /// A name to a value, as sysctl has them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    setting: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "a variable is text, or false where it is to be removed")]
enum Variable {
    Set(String),
    Removed(bool),
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "processors are a list of numbers, or text as in \"0,2-3\"")]
enum Processors {
    Text(String),
    List(Vec<usize>),
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "memory is a number of bytes, or text as in \"512m\"")]
enum Size {
    Text(String),
    Bytes(u64),
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "a setting is a number or text")]
enum Value {
    Text(String),
    Number(i64),
}

impl TryFrom<Written> for World {
    type Error = String;

    fn try_from(written: Written) -> Result<World, String> {
        let mut world = World::default();
        for (key, value) in written.changes()? {
            world.change(key, &value)?;
        }
        world.check()?;
        Ok(world)
    }
}

impl From<World> for Written {
    fn from(world: World) -> Written {
        let variable = |value: Option<String>| value.map_or(Variable::Removed(false), Variable::Set);
        let processors = Some(world.processors).filter(|list| !list.is_empty());
        Written {
            link: world.link.map(|link| link.to_string()),
            folder: world.folder.map(|folder| folder.display().to_string()),
            processors: processors.map(Processors::List),
            quota: world.processor_quota,
            memory: world.memory.map(Size::Bytes),
            route: world.routes.into_iter().map(|(end, words)| format!("{}: {words}", end.word())).collect(),
            env: world.environment.into_iter().map(|(name, value)| (name, variable(value))).collect(),
            setting: world.settings.into_iter().map(|(name, value)| (name, Value::Text(value))).collect(),
        }
    }
}

impl Written {
    /// The same as options.
    fn changes(self) -> Result<Vec<(&'static str, String)>, String> {
        let mut changes = Vec::new();
        let mut add = |key, value: Option<String>| changes.extend(value.map(|value| (key, value)));
        add("link", self.link);
        add("folder", self.folder);
        add("quota", self.quota.map(|quota| quota.to_string()));
        add(
            "processors",
            self.processors.map(|processors| match processors {
                Processors::Text(text) => text,
                Processors::List(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            }),
        );
        add(
            "memory",
            self.memory.map(|memory| match memory {
                Size::Text(text) => text,
                Size::Bytes(bytes) => bytes.to_string(),
            }),
        );
        for (name, variable) in self.env {
            add(
                "env",
                Some(match variable {
                    Variable::Set(value) => format!("{name}={value}"),
                    Variable::Removed(false) => name,
                    Variable::Removed(true) => return Err(format!("env.{name} is true: a variable is text, or false")),
                }),
            );
        }
        for (name, value) in self.setting {
            add(
                "setting",
                Some(match value {
                    Value::Text(text) => format!("{name}={text}"),
                    Value::Number(number) => format!("{name}={number}"),
                }),
            );
        }
        changes.extend(self.route.into_iter().map(|route| ("route", route)));
        Ok(changes)
    }
}
