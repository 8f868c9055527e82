//! Every statement is prepared against the migrated schema; its types are kept in a snapshot.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use testkit::Database;

fn sql_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sql_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            found.push(path);
        }
    }
}

#[tokio::test]
async fn every_statement_fits_the_migrated_schema() {
    let database = Database::create().await;
    let client = database.client().await;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sql_files(&source, &mut files);
    files.sort();
    assert!(files.len() > 5, "no statements found");
    let mut types = String::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&source).unwrap().display().to_string();
        assert!(text.starts_with("-- db::"), "{name}: the first line names the function that runs it");
        let statement = client.prepare(&text).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let parameters: Vec<_> = statement.params().iter().map(|kind| kind.name()).collect();
        let columns: Vec<_> = statement
            .columns()
            .iter()
            .map(|column| format!("{} {}", column.name(), column.type_().name()))
            .collect();
        writeln!(types, "{name}\n  ({})\n  -> {}", parameters.join(", "), columns.join(", ")).unwrap();
    }
    insta::assert_snapshot!(types);
}
