//! Conditions and computed values in CEL, over the members that they name and no others.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{EntryExpr, Expr};
use cel::{Context, Env, IdedExpr, Program, Value};

use crate::leaf::Leaf;
use crate::place::Place;
use crate::shape::{Leaves, Shape};

/// Functions that expressions may call, besides operators and the macros `has`, `all`, `exists`, `exists_one`, `filter`
/// and `map`.
const FUNCTIONS: [&str; 9] =
    ["contains", "double", "endsWith", "int", "max", "min", "size", "startsWith", "string"];

/// Longest expression.
const BYTES_MAX: usize = 2_000;

/// The standard functions, set up once.
static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A compiled expression.
#[derive(Clone)]
pub(crate) struct Expression {
    text: String,
    program: Arc<Program>,
    body: Tree,
    headers: Vec<String>,
    queries: Vec<String>,
    has_body: bool,
    has_type: bool,
}

/// Members of `body` that are named: where each stands.
#[derive(Clone, Debug, Default)]
struct Tree {
    slot: Option<usize>,
    children: BTreeMap<String, Tree>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({})", self.text)
    }
}

/// What an expression names.
#[derive(Default)]
struct Names {
    chains: Vec<Vec<String>>,
    headers: Vec<String>,
    queries: Vec<String>,
    has_type: bool,
}

impl Expression {
    /// Compiles an expression, and makes the shape pick out what it names.
    pub(crate) fn compile(text: &str, shape: &mut Shape) -> Result<Self, String> {
        if text.len() > BYTES_MAX {
            return Err(format!("is longer than {BYTES_MAX} bytes"));
        }
        let program = Program::compile(text).map_err(|error| format!("{text:?} is no CEL: {error}"))?;
        let mut names = Names::default();
        names.walk(program.expression(), &mut Vec::new()).map_err(|reason| format!("{text:?} {reason}"))?;
        let mut body = Tree::default();
        for chain in &names.chains {
            let slot = shape.slot(&chain.join("."))?;
            let node =
                chain.iter().fold(&mut body, |node, key| node.children.entry(key.clone()).or_default());
            node.slot = Some(slot);
        }
        Ok(Self {
            text: text.to_owned(),
            program: Arc::new(program),
            has_body: !names.chains.is_empty(),
            body,
            headers: names.headers,
            queries: names.queries,
            has_type: names.has_type,
        })
    }

    /// The headers that it names.
    pub(crate) fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The query parameters that it names.
    pub(crate) fn queries(&self) -> &[String] {
        &self.queries
    }

    /// Whether it names the event's type.
    pub(crate) fn names_type(&self) -> bool {
        self.has_type
    }

    /// The slots of the body that it reads.
    pub(crate) fn slots(&self) -> Vec<usize> {
        self.body.slots()
    }

    /// Whether it holds. An expression that cannot be evaluated over this event (a member is missing, two kinds of
    /// values do not compare) does not hold.
    pub(crate) fn holds(&self, leaves: &Leaves<'_>, headers: &dyn signature::Headers, type_: &str) -> bool {
        matches!(self.evaluate(leaves, headers, type_), Some(Value::Bool(true)))
    }

    /// Its value; absent where it cannot be evaluated.
    pub(crate) fn value<'a>(&self, leaves: &Leaves<'a>, headers: &dyn signature::Headers) -> Leaf<'a> {
        match self.evaluate(leaves, headers, leaves.type_()) {
            Some(Value::String(text)) => Leaf::Text(text.as_str().to_owned().into()),
            Some(Value::Int(number)) => Leaf::Number(number.to_string().into()),
            Some(Value::UInt(number)) => Leaf::Number(number.to_string().into()),
            Some(Value::Float(number)) if number.is_finite() => Leaf::Number(number.to_string().into()),
            Some(Value::Bool(value)) => Leaf::Boolean(value),
            Some(Value::Null) => Leaf::Null,
            _ => Leaf::Absent,
        }
    }

    fn evaluate(&self, leaves: &Leaves<'_>, headers: &dyn signature::Headers, type_: &str) -> Option<Value> {
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        if self.has_body {
            context.add_variable_from_value("body", self.body.value(leaves)?);
        }
        if self.has_type {
            context.add_variable_from_value("type", type_);
        }
        if !self.headers.is_empty() {
            // A header that contradicts itself is as good as none.
            let value = |name: &String| match (Place::Header { name: name.to_ascii_lowercase() })
                .leaf(leaves, headers)
            {
                Ok(Leaf::Text(text)) => Some((name.clone(), Value::from(text.into_owned()))),
                _ => None,
            };
            let values = self.headers.iter().filter_map(value);
            context.add_variable_from_value("header", values.collect::<HashMap<String, Value>>());
        }
        if !self.queries.is_empty() {
            let query = crate::place::query(headers);
            let values = self.queries.iter().filter_map(|name| {
                Some((name.clone(), Value::from(crate::place::query_value(&query, name)?)))
            });
            context.add_variable_from_value("query", values.collect::<HashMap<String, Value>>());
        }
        self.program.execute(&context).ok()
    }
}

impl Tree {
    fn slots(&self) -> Vec<usize> {
        self.slot.into_iter().chain(self.children.values().flat_map(Self::slots)).collect()
    }

    /// The value at this node; nothing when it is absent.
    fn value(&self, leaves: &Leaves<'_>) -> Option<Value> {
        match self.slot {
            Some(slot) => {
                let json: serde_json::Value = serde_json::from_str(leaves.raw(slot)?).ok()?;
                Some(convert(json))
            }
            None => {
                let members =
                    self.children.iter().filter_map(|(key, node)| Some((key.clone(), node.value(leaves)?)));
                Some(Value::from(members.collect::<HashMap<String, Value>>()))
            }
        }
    }
}

fn convert(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Value::Int(value),
            (None, Some(value)) => Value::UInt(value),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(list) => Value::from(list.into_iter().map(convert).collect::<Vec<Value>>()),
        serde_json::Value::Object(object) => Value::from(
            object.into_iter().map(|(key, value)| (key, convert(value))).collect::<HashMap<_, _>>(),
        ),
    }
}

impl Names {
    fn walk(&mut self, node: &IdedExpr, bound: &mut Vec<String>) -> Result<(), String> {
        match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.variable(name, bound),
            Expr::Select(_) => self.select(node, bound),
            Expr::Call(call) => {
                let is_operator = call.func_name.starts_with(['_', '@', '!', '-']);
                if !is_operator && !FUNCTIONS.contains(&call.func_name.as_str()) {
                    let known = FUNCTIONS.join(", ");
                    return Err(format!("calls `{}`, which is unknown: known are {known}", call.func_name));
                }
                if call.func_name == "_[_]" && self.named(&call.args) {
                    return Ok(());
                }
                let target = call.target.iter().map(AsRef::as_ref);
                target.chain(&call.args).try_for_each(|argument| self.walk(argument, bound))
            }
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.walk(element, bound)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.walk(&entry.key, bound)?;
                    self.walk(&entry.value, bound)
                }
                EntryExpr::StructField(field) => self.walk(&field.value, bound),
            }),
            Expr::Struct(_) => Err("makes a message, which is unknown here".to_owned()),
            Expr::Comprehension(inner) => {
                self.walk(&inner.iter_range, bound)?;
                let before = bound.len();
                bound.push(inner.accu_var.clone());
                bound.push(inner.iter_var.clone());
                bound.extend(inner.iter_var2.clone());
                let parts = [&inner.accu_init, &inner.loop_cond, &inner.loop_step, &inner.result];
                let walked = parts.into_iter().try_for_each(|part| self.walk(part, bound));
                bound.truncate(before);
                walked
            }
        }
    }

    fn variable(&mut self, name: &str, bound: &[String]) -> Result<(), String> {
        match name {
            _ if bound.iter().any(|known| known == name) => Ok(()),
            "type" => {
                self.has_type = true;
                Ok(())
            }
            "body" | "header" | "query" => Err(format!("uses `{name}` as a whole: name a member of it")),
            _ => Err(format!("uses `{name}`, which is unknown: known are body, type, header and query")),
        }
    }

    fn select(&mut self, node: &IdedExpr, bound: &mut Vec<String>) -> Result<(), String> {
        let (root, chain) = chain(node);
        match &root.expr {
            Expr::Ident(name) if name == "body" && !bound.contains(name) => {
                self.chains.push(chain.into_iter().map(str::to_owned).collect());
                Ok(())
            }
            Expr::Ident(name) if name == "header" || name == "query" => {
                let list = if name == "header" { &mut self.headers } else { &mut self.queries };
                list.extend(chain.first().map(|member| (*member).to_owned()));
                Ok(())
            }
            _ => self.walk(root, bound),
        }
    }

    /// `header["x"]` and `query["x"]`.
    fn named(&mut self, arguments: &[IdedExpr]) -> bool {
        let [of, index] = arguments else { return false };
        let (Expr::Ident(name), Expr::Literal(cel::common::ast::LiteralValue::String(text))) =
            (&of.expr, &index.expr)
        else {
            return false;
        };
        let list = match name.as_str() {
            "header" => &mut self.headers,
            "query" => &mut self.queries,
            _ => return false,
        };
        list.push(text.inner().to_owned());
        true
    }
}

/// What a chain of selections starts from, and its members in their order.
fn chain(node: &IdedExpr) -> (&IdedExpr, Vec<&str>) {
    let mut members = Vec::new();
    let mut at = node;
    while let Expr::Select(select) = &at.expr {
        members.push(select.field.as_str());
        at = &select.operand;
    }
    members.reverse();
    (at, members)
}

#[cfg(test)]
mod tests;
