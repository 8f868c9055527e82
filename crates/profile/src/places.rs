//! From the tables of a profile to places, instants and fields.

use std::collections::BTreeMap;

use crate::compile::{Builder, zone};
use crate::field::Field;
use crate::instant::Spelling;
use crate::place::{Edits, Place, QUERY};
use crate::reader::Mark;
use crate::shape::Shape;
use crate::spec::{ConditionSpec, FieldSpec, HashSpec, InstantSpec, PlaceSpec, TablePlace};
use crate::version::VersionPlaces;

impl Builder<'_> {
    /// Compiles a place; headers and parameters that nothing signs must be marked.
    pub(crate) fn place(&mut self, key: &str, spec: &PlaceSpec, shape: &mut Shape) -> Option<Place> {
        let table = match spec {
            PlaceSpec::Path(path) => return self.path_in(key, path, shape),
            PlaceSpec::Table(table) => table,
        };
        let place = self.bare_place(key, table, shape)?;
        let edits = Edits {
            lower: table.lower,
            upper: table.upper,
            strip_prefix: table.strip_prefix.clone(),
            map: table.map.clone(),
            default: table.default.clone(),
        };
        Some(if edits == Edits::default() { place } else { Place::Edited(Box::new(place), edits) })
    }

    pub(crate) fn bare_place(&mut self, key: &str, table: &TablePlace, shape: &mut Shape) -> Option<Place> {
        let mut list = |builder: &mut Self, specs: &[PlaceSpec]| -> Vec<Place> {
            specs.iter().filter_map(|spec| builder.place(key, spec, shape)).collect()
        };
        match table {
            TablePlace { first: Some(specs), .. } => Some(Place::First(list(self, specs))),
            TablePlace { join: Some(specs), .. } => Some(Place::Join(
                list(self, specs),
                table.separator.clone().unwrap_or_else(|| ".".to_owned()),
            )),
            TablePlace { hash: Some(HashSpec::Places(specs)), .. } => {
                Some(Place::Hash(Some(list(self, specs))))
            }
            TablePlace { hash: Some(HashSpec::Body(word)), .. } => {
                if word != "body" {
                    self.faults.add(key, format!("hash = {word:?} is neither \"body\" nor a list of places"));
                }
                Some(Place::Hash(None))
            }
            TablePlace { path: Some(path), .. } => self.path_in(key, path, shape),
            TablePlace { constant: Some(text), .. } => Some(Place::Constant(text.clone())),
            TablePlace { cel: Some(text), .. } => self.expression(key, text, shape).map(Place::Cel),
            TablePlace { header: Some(header), .. } => {
                let name = header.to_ascii_lowercase();
                let covered = self.scheme.is_some_and(|scheme| scheme.covers_header(&name));
                self.demand_mark(key, covered || table.unsigned, &format!("header {name:?}"));
                self.headers.push(name.clone());
                Some(Place::Header { name })
            }
            TablePlace { query: Some(name), .. } => {
                let covered = self.scheme.is_some_and(|scheme| scheme.covers_query(name));
                self.demand_mark(key, covered || table.unsigned, &format!("query parameter {name:?}"));
                self.headers.push(QUERY.to_owned());
                Some(Place::Query { name: name.clone() })
            }
            _ => {
                self.faults
                    .add(key, "names no place: one of path, header, query, constant, first, join, hash, cel");
                None
            }
        }
    }

    pub(crate) fn demand_mark(&mut self, key: &str, marked: bool, what: &str) {
        if !marked {
            self.faults.add(key, format!("the signature does not cover {what}: add `unsigned = true`"));
        }
    }

    pub(crate) fn path_in(&mut self, key: &str, path: &str, shape: &mut Shape) -> Option<Place> {
        let slot = self.faults.note(key, shape.slot(path))?;
        Some(Place::Body { slot, path: path.to_owned() })
    }

    pub(crate) fn versions(
        &mut self,
        key: &str,
        sequence: Option<&PlaceSpec>,
        instants: &[InstantSpec],
        shape: &mut Shape,
    ) -> VersionPlaces {
        let sequence = sequence.and_then(|place| self.place(&format!("{key}.sequence"), place, shape));
        let sequence_is_text = self.has_forms || sequence.as_ref().is_some_and(|place| !place.is_typed());
        let key = format!("{key}.instant");
        let compiled = instants.iter().filter_map(|spec| match spec {
            InstantSpec::Place(place) => Some((self.place(&key, place, shape)?, self.spelling.clone())),
            InstantSpec::Own(own) => {
                let spelling = self.own_spelling(&key, own.zone.as_deref(), own.epoch);
                Some((self.path_in(&key, &own.path, shape)?, spelling))
            }
        });
        VersionPlaces { sequence, sequence_is_text, instants: compiled.collect() }
    }

    pub(crate) fn own_spelling(
        &mut self,
        key: &str,
        name: Option<&str>,
        epoch: Option<crate::instant::Epoch>,
    ) -> Spelling {
        let own = zone(key, name, self.faults);
        Spelling { zone: own.or_else(|| self.spelling.zone.clone()), epoch: epoch.or(self.spelling.epoch) }
    }

    pub(crate) fn fields(
        &mut self,
        key: &str,
        specs: &BTreeMap<String, FieldSpec>,
        shape: &mut Shape,
    ) -> BTreeMap<String, Field> {
        let mut fields = BTreeMap::new();
        for (name, spec) in specs {
            let key = format!("{key}.{name}");
            let Some(place) = self.place(&key, &spec.place(), shape) else { continue };
            let currency = spec.currency.as_ref().and_then(|place| self.place(&key, place, shape));
            let spelling = self.own_spelling(&key, spec.zone.as_deref(), spec.epoch);
            let all_texts = self.has_forms || !place.is_typed();
            let (type_, grows) = (spec.type_, self.grows(&key, name, spec));
            let name = name.clone();
            fields.insert(name.clone(), Field { name, place, type_, currency, spelling, all_texts, grows });
        }
        fields
    }

    /// Whether the field grows. Two facts of one version would not settle it alike, if only one of them said so.
    fn grows(&mut self, key: &str, name: &str, spec: &FieldSpec) -> bool {
        if spec.grows && !spec.type_.is_number() {
            self.faults.add(key, "`grows` is of numbers");
        }
        if *self.growing.entry(name.to_owned()).or_insert(spec.grows) != spec.grows {
            self.faults.add(key, "says `grows` in one place and not in another");
        }
        spec.grows
    }

    pub(crate) fn condition(
        &mut self,
        key: &str,
        spec: &ConditionSpec,
        shape: &mut Shape,
    ) -> Option<(Place, Mark)> {
        let mark = match (&spec.equals, spec.present) {
            (Some(text), None) => Mark::Equals(text.clone()),
            (None, Some(true)) => Mark::Present,
            _ => {
                self.faults.add(key, "needs `equals = \"…\"` or `present = true`");
                return None;
            }
        };
        let Some(place) = spec.place() else {
            self.faults.add(key, "needs exactly one of path, header and query");
            return None;
        };
        Some((self.place(key, &place, shape)?, mark))
    }
}
