//! `examples/booking`: one payment becomes ledger, loyalty, retention and receipt.

mod books;
mod ripple;
mod sale;

use std::{fs, path::PathBuf};

use testkit::Database;

/// The folder of the example.
fn example() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/booking"))
}

/// Runs the example's SQL in its order.
async fn install(database: &Database) {
    let mut files: Vec<PathBuf> =
        fs::read_dir(example().join("sql")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 5);
    let client = database.client().await;
    for file in files {
        client.batch_execute(&fs::read_to_string(file).unwrap()).await.unwrap();
    }
}
