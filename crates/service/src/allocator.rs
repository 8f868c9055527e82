//! The allocator of every process that links this crate.
//!
//! Batches are thousands of small texts that come and go together; the system's allocator took about a
//! quarter of the applier's own time for them.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
