//! The allocator of every process that links this crate.
//!
//! Batches are thousands of small texts that come and go together; the system's allocator took about a
//! quarter of the applier's own time for them.

use mimalloc::MiMalloc;
#[cfg(target_os = "linux")]
use rustix::thread::disable_transparent_huge_pages;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Leaves memory in small pages: in huge ones a daemon that uses 7 MiB holds 25 MiB.
pub(crate) fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    if let Err(error) = disable_transparent_huge_pages(true) {
        // It only costs memory.
        tracing::debug!(%error, "huge pages stay on");
    }
}
