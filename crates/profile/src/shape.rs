//! Picks the values at a fixed set of paths out of a JSON text, in one pass and without building a tree.
//!
//! The paths are compiled into a trie. What stands on no path is skipped; a key that stands on a path and comes
//! twice in one object makes the text unreadable, because nobody can say which of the two counts.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::document::{Unreadable, describe, first_letter};

/// Most keys that one object may have on paths: one bit each tells whether it was seen.
const CHILDREN_MAX: usize = 64;

/// Greatest index of a list that a path can name.
pub(crate) const INDEX_MAX: usize = 99;

/// A set of paths, each with its slot.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    nodes: Vec<Node>,
    slots: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The dotted path to here, for messages.
    path: String,
    children: Vec<(Box<str>, usize)>,
    slot: Option<usize>,
}

/// The raw JSON text at each slot.
#[derive(Debug)]
pub(crate) struct Leaves<'a> {
    slots: Vec<Option<&'a str>>,
    text: &'a str,
    type_: OnceCell<Cow<'a, str>>,
}

impl<'a> Leaves<'a> {
    /// The text at a slot; nothing when the path led nowhere.
    pub(crate) fn raw(&self, slot: usize) -> Option<&'a str> {
        self.slots.get(slot).copied().flatten()
    }

    /// The event's type, once it is known; empty before.
    pub(crate) fn type_(&self) -> &str {
        self.type_.get().map_or("", AsRef::as_ref)
    }

    /// Says what the event's type is, for what is computed from it.
    pub(crate) fn know_type(&self, type_: Cow<'a, str>) {
        let _ = self.type_.set(type_);
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::new()
    }
}

impl Shape {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::default()], slots: 0 }
    }

    /// The slot of a path; the same path has the same slot.
    ///
    /// # Errors
    /// The text is no path, or one object would have too many keys on paths.
    pub(crate) fn slot(&mut self, path: &str) -> Result<usize, String> {
        let mut at = 0;
        for key in crate::place::keys(path)? {
            at = self.child(at, &key)?;
        }
        let slot = *self.nodes[at].slot.get_or_insert(self.slots);
        self.slots = self.slots.max(slot + 1);
        Ok(slot)
    }

    fn child(&mut self, parent: usize, key: &str) -> Result<usize, String> {
        if let Some((_, child)) = self.nodes[parent].children.iter().find(|(name, _)| **name == *key) {
            return Ok(*child);
        }
        if self.nodes[parent].children.len() == CHILDREN_MAX {
            return Err(format!("more than {CHILDREN_MAX} keys of one object are used"));
        }
        let parent_path = &self.nodes[parent].path;
        let path = if parent_path.is_empty() { key.to_owned() } else { format!("{parent_path}.{key}") };
        let child = self.nodes.len();
        self.nodes.push(Node { path, ..Node::default() });
        self.nodes[parent].children.push((key.into(), child));
        Ok(child)
    }

    /// The values at all paths of one JSON object.
    pub(crate) fn extract<'a>(&self, text: &'a str) -> Result<Leaves<'a>, Unreadable> {
        match first_letter(text) {
            Some(b'{') => {}
            other => return Err(Unreadable::NotAnEvent(describe(other))),
        }
        let mut slots = vec![None; self.slots];
        let mut json = serde_json::Deserializer::from_str(text);
        self.object(0, &mut slots)
            .deserialize(&mut json)
            .and_then(|()| json.end())
            .map_err(|error| Unreadable::Json(error.to_string()))?;
        Ok(Leaves { slots, text, type_: OnceCell::new() })
    }

    /// Reads what stands on paths below a value that was taken as a whole.
    fn below<'de>(
        &self,
        node: usize,
        raw: &'de str,
        slots: &mut [Option<&'de str>],
    ) -> Result<(), serde_json::Error> {
        if self.nodes[node].children.is_empty() {
            return Ok(());
        }
        self.object(node, slots).deserialize(&mut serde_json::Deserializer::from_str(raw))
    }

    fn object<'s, 'o, 'de>(&'s self, node: usize, slots: &'o mut [Option<&'de str>]) -> Object<'s, 'o, 'de> {
        Object { shape: self, node: &self.nodes[node], slots }
    }
}

/// Reads the value at an inner node: its children if it is an object, nothing if it is something else.
struct Object<'s, 'o, 'de> {
    shape: &'s Shape,
    node: &'s Node,
    slots: &'o mut [Option<&'de str>],
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Object<'_, '_, 'de> {
    /// Reads the elements that paths name by their index.
    #[inline(never)]
    fn elements<A: SeqAccess<'de>>(self, list: &mut A) -> Result<(), A::Error> {
        for index in 0..=INDEX_MAX {
            let name = format!("[{index}]");
            let found = self.node.children.iter().find(|(key, _)| **key == *name).map(|(_, child)| *child);
            let Some(child) = found else {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    break;
                }
                continue;
            };
            let Some(raw) = list.next_element::<&RawValue>()?.map(RawValue::get) else { break };
            if let Some(slot) = self.shape.nodes[child].slot {
                self.slots[slot] = Some(raw);
            }
            self.shape.below(child, raw, self.slots).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        while let Some(position) = map.next_key_seed(Key { node: self.node })? {
            let Some(position) = position else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let child = self.node.children[position].1;
            let node = &self.shape.nodes[child];
            let bit = 1 << position;
            if seen & bit != 0 {
                return Err(A::Error::custom(format_args!("key `{}` is repeated", node.path)));
            }
            seen |= bit;
            match node.slot {
                None => map.next_value_seed(self.shape.object(child, self.slots))?,
                Some(slot) => {
                    let raw = map.next_value::<&RawValue>()?.get();
                    self.slots[slot] = Some(raw);
                    self.shape.below(child, raw, self.slots).map_err(A::Error::custom)?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.node.children.is_empty() {
            self.elements(&mut list)?;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Finds a key among a node's children.
struct Key<'s> {
    node: &'s Node,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    #[inline]
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    #[inline]
    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.node.children.iter().position(|(name, _)| **name == *key))
    }
}
