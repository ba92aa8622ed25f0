//! A line that is a JSON object, as Caddy and Envoy write them, and whoever told nginx to. Keys are known by their names,
//! however deep they stand; what belongs to the answer's head is not looked at.

use crate::entry::{Entry, Field};
use crate::names;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A line's fields; texts in which something was escaped are the parser's own.
#[derive(Default)]
pub struct JsonLine<'l> {
    client: Cow<'l, str>,
    time: Cow<'l, str>,
    method: Cow<'l, str>,
    target: Cow<'l, str>,
    request: Cow<'l, str>,
    agent: Cow<'l, str>,
    status: u16,
    bytes: u64,
    took: Option<f64>,
    /// Envoy's own key for the status stands beside a `duration` in milliseconds.
    is_envoy: bool,
    has_status: bool,
}

impl<'l> JsonLine<'l> {
    /// Reads a line; none where it is no JSON object, or says nothing of a request.
    pub fn read(line: &'l [u8]) -> Option<JsonLine<'l>> {
        let mut found = JsonLine::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        Object { found: &mut found }.deserialize(&mut reader).ok()?;
        reader.end().ok()?;
        let is_request = !found.target.is_empty() || !found.request.is_empty() || found.has_status;
        (is_request && !found.client.is_empty()).then_some(found)
    }

    /// Its entry; none where its time is none.
    pub fn entry(&self) -> Option<Entry<'_>> {
        let mut entry = Entry { status: self.status, bytes: self.bytes, ..Entry::default() };
        entry.take(Field::Client, self.client.as_bytes())?;
        if !self.time.is_empty() {
            entry.take(Field::Time, self.time.as_bytes())?;
        }
        if self.target.is_empty() {
            entry.take(Field::Request, self.request.as_bytes())?;
        } else {
            entry.target = self.target.as_bytes();
            entry.method = self.method.as_bytes();
        }
        entry.agent = self.agent.as_bytes();
        let unit = if self.is_envoy { 1e-3 } else { 1.0 };
        entry.took_ns = self.took.filter(|took| *took >= 0.0).map(|took| (took * unit).round() as u64);
        Some(entry)
    }

    fn note(&mut self, field: Field, value: Scalar<'l>) {
        match (field, value) {
            // The one that stands first is the outermost.
            (Field::Client, Scalar::Text(text)) if self.client.is_empty() => self.client = text,
            (Field::Time, Scalar::Text(text)) if self.time.is_empty() => self.time = text,
            (Field::Time, Scalar::Number(number)) if self.time.is_empty() => self.time = number.to_string().into(),
            (Field::Request, Scalar::Text(text)) => self.request = text,
            (Field::Method, Scalar::Text(text)) if self.method.is_empty() => self.method = text,
            (Field::Target, Scalar::Text(text)) if self.target.is_empty() => self.target = text,
            (Field::Agent, Scalar::Text(text)) if self.agent.is_empty() => self.agent = text,
            (Field::Status, value) => {
                if let Some(status) = value.number().filter(|status| (0.0..1000.0).contains(status)) {
                    (self.status, self.has_status) = (status as u16, true);
                }
            }
            (Field::Bytes, value) => self.bytes = value.number().filter(|bytes| *bytes >= 0.0).unwrap_or(0.0) as u64,
            (Field::Took(unit), value) => self.took = value.number().map(|took| took * unit as f64).or(self.took),
            _ => {}
        }
    }
}

enum Scalar<'l> {
    Text(Cow<'l, str>),
    Number(f64),
}

impl Scalar<'_> {
    /// A number, also one in quotation marks.
    fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            Scalar::Text(text) => text.parse().ok(),
        }
    }
}

/// An object whose keys are looked at.
struct Object<'f, 'l> {
    found: &'f mut JsonLine<'l>,
}

impl<'l> DeserializeSeed<'l> for Object<'_, 'l> {
    type Value = ();
    fn deserialize<D: Deserializer<'l>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Object<'_, 'l> {
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }
    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key { field, skip, is_envoy }) = map.next_key()? {
            self.found.is_envoy |= is_envoy;
            if skip {
                map.next_value::<IgnoredAny>()?;
            } else {
                map.next_value_seed(Value { found: self.found, field })?;
            }
        }
        Ok(())
    }
}

/// A key, as far as it matters.
struct Key {
    field: Field,
    /// Whether what stands under it is of the answer, or too deep.
    skip: bool,
    is_envoy: bool,
}

impl<'l> Deserialize<'l> for Key {
    fn deserialize<D: Deserializer<'l>>(reader: D) -> Result<Key, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Key;
            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("a key")
            }
            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                let skip = matches!(key, "resp_headers" | "tls" | "response_headers");
                Ok(Key { field: names::of_json(key), skip, is_envoy: key == "response_code" })
            }
        }
        reader.deserialize_str(Word)
    }
}

/// A value under a key.
struct Value<'f, 'l> {
    found: &'f mut JsonLine<'l>,
    field: Field,
}

impl<'l> DeserializeSeed<'l> for Value<'_, 'l> {
    type Value = ();
    fn deserialize<D: Deserializer<'l>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'l> Visitor<'l> for Value<'_, 'l> {
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a value")
    }
    fn visit_borrowed_str<E>(self, text: &'l str) -> Result<(), E> {
        self.found.note(self.field, Scalar::Text(text.into()));
        Ok(())
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.found.note(self.field, Scalar::Text(text.to_string().into()));
        Ok(())
    }
    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.found.note(self.field, Scalar::Number(number));
        Ok(())
    }
    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.found.note(self.field, Scalar::Number(number as f64));
        Ok(())
    }
    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.found.note(self.field, Scalar::Number(number as f64));
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    /// Caddy writes each head's values as a list.
    fn visit_seq<A: SeqAccess<'l>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Value { found: self.found, field: self.field })?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'l>>(self, map: A) -> Result<(), A::Error> {
        Object { found: self.found }.visit_map(map)
    }
}
