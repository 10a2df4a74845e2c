//! Resources: what a server lets read.

use serde_json::Value;

use super::log::clip;

/// Bytes of each text about a resource.
pub(super) const MAX_FIELD: usize = 16 * 1024;

/// Something that a server lets read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What it is asked for by.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// As the server declares it.
    pub media_type: Option<String>,
    /// Bytes, as the server declares them.
    pub size: Option<u64>,
}

/// Many resources, told apart by what is filled into an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The address with its gaps, as in RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// As the server declares it.
    pub media_type: Option<String>,
}

impl Resource {
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let uri = field(value, "uri").ok_or("a resource without an address")?;
        Ok(Self {
            name: field(value, "name").unwrap_or_else(|| uri.clone()),
            uri,
            title: field(value, "title"),
            description: field(value, "description"),
            media_type: field(value, "mimeType"),
            size: value.get("size").and_then(Value::as_u64),
        })
    }
}

impl ResourceTemplate {
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let template = field(value, "uriTemplate").ok_or("a template without an address")?;
        Ok(Self {
            name: field(value, "name").unwrap_or_else(|| template.clone()),
            uri_template: template,
            title: field(value, "title"),
            description: field(value, "description"),
            media_type: field(value, "mimeType"),
        })
    }
}

pub(super) fn field(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(|text| clip(text, MAX_FIELD))
}
