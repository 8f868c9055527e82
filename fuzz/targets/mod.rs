//! What the fuzz targets do with one input. `make test` replays the seeds through the same functions, on stable Rust.

mod agree;
pub(crate) mod extract;
pub(crate) mod form;
pub(crate) mod headers;
