//! What a profile says of which events: the first rule that matches decides.

use std::collections::{BTreeMap, HashMap};

use crate::cel::Expression;
use crate::dedup::Dedup;
use crate::field::Field;
use crate::place::Place;
use crate::shape::Leaves;
use crate::spec::Unknown;
use crate::version::VersionPlaces;

/// One rule, with the defaults of its table filled in.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) types: Vec<Pattern>,
    pub(crate) when: Option<Expression>,
    pub(crate) kind: String,
    pub(crate) resource: Place,
    pub(crate) version: VersionPlaces,
    pub(crate) fields: Vec<Field>,
    pub(crate) dedup: Dedup,
    pub(crate) action: Action,
    /// Tells rules apart that mean the same to the inbox: kind, resource and key.
    pub(crate) identity: String,
}

/// What is done with an event that a rule matches.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// It is a fact with this status.
    Fact(StatusOf),
    /// It is not for us.
    Ignore(String),
    /// The provider is asked.
    Fetch { name: String, expect: Option<String> },
}

/// Where the status of a fact comes from.
#[derive(Clone, Debug)]
pub(crate) enum StatusOf {
    Fixed(String),
    Mapped { place: Place, map: BTreeMap<String, String>, unknown: Unknown },
}

/// A type, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Exact(String),
    Prefix(String),
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Exact(text.to_owned()),
        }
    }

    fn matches(&self, type_: &str) -> bool {
        match self {
            Self::Exact(text) => text == type_,
            Self::Prefix(prefix) => type_.starts_with(prefix.as_str()),
        }
    }
}

impl Rule {
    fn matches_type(&self, type_: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|pattern| pattern.matches(type_))
    }
}

/// All rules of a table, with an index by exact type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    list: Vec<Rule>,
    exact: HashMap<String, Candidates>,
    /// Rules that match types which are named nowhere.
    open: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Candidates {
    rules: Vec<usize>,
    /// Whether all of them mean the same to the inbox, so that no condition has to be evaluated there.
    agree: bool,
}

impl Rules {
    pub(crate) fn new(list: Vec<Rule>) -> Self {
        let mut exact = HashMap::new();
        for pattern in list.iter().flat_map(|rule| &rule.types) {
            if let Pattern::Exact(type_) = pattern {
                let rules: Vec<usize> = list
                    .iter()
                    .enumerate()
                    .filter(|(_, rule)| rule.matches_type(type_))
                    .map(|(at, _)| at)
                    .collect();
                let agree = rules.windows(2).all(|pair| list[pair[0]].identity == list[pair[1]].identity);
                exact.insert(type_.clone(), Candidates { rules, agree });
            }
        }
        let is_open =
            |rule: &Rule| rule.types.is_empty() || rule.types.iter().any(|p| matches!(p, Pattern::Prefix(_)));
        let open = list.iter().enumerate().filter(|(_, rule)| is_open(rule)).map(|(at, _)| at).collect();
        Self { list, exact, open }
    }

    pub(crate) fn all(&self) -> &[Rule] {
        &self.list
    }

    /// The rule that decides on an event of this type.
    pub(crate) fn deciding(
        &self,
        type_: &str,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
    ) -> Option<&Rule> {
        let holds = |rule: &&Rule| rule.when.as_ref().is_none_or(|when| when.holds(leaves, headers, type_));
        match self.exact.get(type_) {
            Some(candidates) => candidates.rules.iter().map(|at| &self.list[*at]).find(holds),
            None => {
                let typed =
                    self.open.iter().map(|at| &self.list[*at]).filter(|rule| rule.matches_type(type_));
                typed.into_iter().find(holds)
            }
        }
    }

    /// A rule that tells kind, resource and key of an event of this type; conditions are evaluated only where the
    /// rules of one type differ in these.
    pub(crate) fn identifying(
        &self,
        type_: &str,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
    ) -> Option<&Rule> {
        match self.exact.get(type_) {
            Some(candidates) if candidates.agree => candidates.rules.first().map(|at| &self.list[*at]),
            _ => self.deciding(type_, leaves, headers),
        }
    }
}
