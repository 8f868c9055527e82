//! The rows of resources: locked, loaded and saved as sets.

mod load;
mod lock;
mod open;
mod save;

pub use load::{load, load_lockable, load_locked};
pub(crate) use lock::lane;
pub use lock::lock_numbers;
pub use open::{Open, open};
pub use save::save;
pub(crate) use save::values;
