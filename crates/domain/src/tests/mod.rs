//! The laws of the domain, against a model that is too simple to be wrong.

mod effects;
mod flows;
mod laws;
mod lives;
mod model;
mod triggers;
