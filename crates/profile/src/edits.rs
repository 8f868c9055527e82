//! What is done with the text of a place once it is read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::leaf::Leaf;
use crate::place::text_of;

/// What is done with the text of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    pub(crate) lower: bool,
    pub(crate) upper: bool,
    pub(crate) strip_prefix: Option<String>,
    pub(crate) map: Option<BTreeMap<String, String>>,
    pub(crate) default: Option<String>,
}

impl Edits {
    pub(crate) fn apply<'a>(&self, leaf: Leaf<'a>) -> Leaf<'a> {
        let edits_text = self.lower || self.upper || self.strip_prefix.is_some() || self.map.is_some();
        let leaf = match text_of(leaf) {
            Ok(text) if edits_text => self.edit(text),
            Ok(text) => Leaf::Text(text),
            Err(leaf) => leaf,
        };
        match &self.default {
            Some(default) if leaf.is_empty() => Leaf::Text(default.clone().into()),
            _ => leaf,
        }
    }

    fn edit<'a>(&self, text: Cow<'a, str>) -> Leaf<'a> {
        let mut text = match self.strip_prefix.as_ref().and_then(|prefix| text.strip_prefix(prefix.as_str()))
        {
            Some(rest) => Cow::Owned(rest.to_owned()),
            None => text,
        };
        if self.lower {
            text = text.to_lowercase().into();
        }
        if self.upper {
            text = text.to_uppercase().into();
        }
        match &self.map {
            Some(map) => {
                map.get(text.as_ref()).map_or(Leaf::Absent, |value| Leaf::Text(value.clone().into()))
            }
            None => Leaf::Text(text),
        }
    }
}
