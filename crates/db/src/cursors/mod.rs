//! How far each source's API has been read, and who reads it.

mod advance;
mod lead;
mod read;

pub use advance::advance;
pub use lead::Candidate;
pub use read::read;
