//! The providers' own libraries sign, and Ordem takes it; Ordem signs, and the libraries take it.

mod bodies;
mod effects;
pub(crate) mod libraries;
mod webhooks;
mod wordpress;
