//! What the caller is told to do about each kind of failure.

use db::Error;
use testkit::Database;

#[tokio::test]
async fn each_sqlstate_says_what_the_caller_can_do() {
    let database = Database::empty().await;
    let client = database.client().await;
    let cases = [
        ("40P01", "retry"),
        ("40001", "retry"),
        ("53200", "retry"),
        ("55P03", "retry"),
        ("57014", "too slow"),
        ("53100", "unavailable"),
        ("53300", "unavailable"),
        ("57P01", "unavailable"),
        ("57P03", "unavailable"),
        ("58030", "unavailable"),
        ("08006", "unavailable"),
        ("23514", "refused"),
        ("22P05", "refused"),
        ("42501", "refused"),
    ];
    for (code, expected) in cases {
        let raise = format!("do $$ begin raise exception 'provoked' using errcode = '{code}'; end $$");
        let error = Error::from(client.batch_execute(&raise).await.unwrap_err());
        let told = match &error {
            Error::Retry(_) => "retry",
            Error::TooSlow(_) => "too slow",
            Error::Unavailable(_) => "unavailable",
            Error::Refused(_) => "refused",
            Error::Settings(_) | Error::Schema(_) | Error::Function { .. } => "something else",
        };
        assert_eq!(told, expected, "{code}");
        assert_eq!(error.is_lock_timeout(), code == "55P03", "{code}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable_and_says_why() {
    let mut options = Database::empty().await.options();
    options.url = "postgres://postgres@127.0.0.1:1/nowhere".to_owned();
    let error = db::connect(&options).await.unwrap_err();
    assert!(error.is_unavailable());
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn an_address_that_is_none_is_told_without_repeating_it() {
    let options = db::Options {
        url: "mysql//user:s3cr3t@host".to_owned(),
        application_name: "test".to_owned(),
        connections_max: 1,
        acquire_timeout: std::time::Duration::from_secs(1),
        statement_timeout: std::time::Duration::from_secs(1),
        plans: db::PlanShape::Free,
    };
    let text = options.validate().unwrap_err().to_string();
    assert!(text.contains("expected postgres://") && !text.contains("s3cr3t"), "{text}");
    assert!(!format!("{options:?}").contains("s3cr3t"));
}
