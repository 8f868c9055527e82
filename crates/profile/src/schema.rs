//! The format as a JSON Schema, for editors: generated from the very types that read a profile.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

use crate::spec::ProfileSpec;

/// The schema of a profile's file, by draft 7: the one that editors of TOML know.
///
/// It is about the shape alone. What only makes sense together, `ordem profile check` tells.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft07().with_transform(WithoutNull);
    let mut schema = settings.into_generator().into_root_schema_for::<ProfileSpec>();
    schema.insert("title".to_owned(), "Profile of a provider, for Ordem".into());
    schema.to_value()
}

/// TOML has no null: what is optional is left out.
#[derive(Clone)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
            ways.retain(|way| way.get("type").is_none_or(|name| name != "null"));
            if ways.len() == 1 {
                let only = schema.remove("anyOf").unwrap_or_default();
                // Beside a description, a bare reference would count for nothing in draft 7.
                schema.insert("allOf".to_owned(), only);
            }
        }
        transform_subschemas(self, schema);
    }
}
