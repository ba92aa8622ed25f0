//! Values with hostile strings in every place, for the tests of this crate.

/// A string that would run, end an attribute, steer a terminal or turn the direction of writing, were it let through.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}\u{1b}[31m";

/// A value with every string made hostile, but for words of the contract itself.
pub(crate) fn hostile<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let mut json = serde_json::to_value(value).expect("JSON");
    poisoned(&mut json);
    serde_json::from_value(json).expect("the same shape")
}

fn poisoned(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = format!("{HOSTILE}{text}"),
        serde_json::Value::Array(values) => values.iter_mut().for_each(poisoned),
        serde_json::Value::Object(fields) => {
            let ours = [
                "status",
                "verdict",
                "purpose",
                "outcome",
                "state",
                "stopped",
                "kind",
                "result",
                "bond",
                "value_kind",
                "per",
                "thing",
                "group",
                "when",
                "work",
                "claim",
                "target",
                "quantity",
                "limit",
            ];
            fields.iter_mut().filter(|(name, _)| !ours.contains(&name.as_str())).for_each(|(_, value)| poisoned(value));
        }
        _ => {}
    }
}
