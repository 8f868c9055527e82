//! Mail beyond what all kinds share: whose fault an answer is, kept connections, TLS and log-in.

use std::path::Path;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use testkit::{Daemon, MailMood, SmtpServer, eventually, packages::or_skip};

use crate::{
    conformance::{Bench, smtp::Smtp},
    stage::{Stage, ranges},
};

const DESTINATION: &str = "[destinations.receipt]\ntype = \"smtp\"\nurl = \"env:RECEIPT_URL\"\nfrom = \"loja@example.com\"\n\
                           to = \"{{ data.fields.customer_email }}\"\nsubject = \"Receipt\"\ntext = \"Paid\"\n";

#[tokio::test]
async fn an_answer_about_the_mail_is_for_good_and_one_about_us_is_not() {
    let Some(bench) = Bench::<Smtp>::new().await else { return };
    let courier = bench.stage.courier();
    let willing = MailMood::default;
    for (at, mood, state, status) in [
        ("mail", MailMood { mail: Some("550 sender refused"), ..willing() }, "pending", 550),
        ("mail", MailMood { mail: Some("530 log in first"), ..willing() }, "pending", 530),
        ("rcpt", MailMood { rcpt: Some("530 log in first"), ..willing() }, "pending", 530),
        ("rcpt", MailMood { rcpt: Some("553 no such name"), ..willing() }, "dead", 553),
        ("rcpt", MailMood { rcpt: Some("452 full"), ..willing() }, "pending", 452),
        ("data", MailMood { data: Some("552 too large"), ..willing() }, "dead", 552),
        ("data", MailMood { data: Some("451 later"), ..willing() }, "pending", 451),
    ] {
        bench.kind.0.set(&mood);
        let id = bench.effect(&format!("{at}_{status}")).await;
        courier.round().await.unwrap();
        let shown = bench.stage.shown(id).await;
        assert_eq!((shown.state.as_str(), shown.attempts), (state, 1), "{mood:?}: {shown:?}");
        assert!(shown.last_error.as_ref().unwrap().contains(&status.to_string()), "{shown:?}");
        assert_eq!(bench.stage.tried(id).await[0].http_status, Some(status));
    }
    assert!(bench.kind.0.mails().is_empty());
}

#[tokio::test]
async fn a_kept_connection_that_the_server_left_costs_no_attempt() {
    let Some(mut bench) = Bench::<Smtp>::new().await else { return };
    let courier = bench.stage.courier();
    bench.effect("ped_1").await;
    courier.round().await.unwrap();
    bench.kind.0.start_again();
    let id = bench.effect("ped_2").await;
    courier.round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("delivered", 1), "{shown:?}");
    assert_eq!(bench.kind.0.mails().len(), 2);
}

#[tokio::test]
async fn an_internal_mail_server_is_refused_and_tried_again_later() {
    let Some(mut bench) = Bench::<Smtp>::new().await else { return };
    bench.stage.settings.allow_addresses = ranges(&["10.0.0.0/8"]);
    let id = bench.effect("ped_1").await;
    bench.stage.courier().round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!(shown.state, "pending");
    assert!(shown.last_error.unwrap().contains("is an internal address"));
    assert!(bench.kind.0.mails().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_goes_by_tls_to_a_server_that_proves_its_name_and_knows_us() {
    let folder = tempfile::tempdir().unwrap();
    let tls = certificate(folder.path(), "localhost");
    let roots = tls[0].clone();
    let Some(server) = or_skip(SmtpServer::start_with(Some(tls), Some("ana:s3cret"))) else { return };
    let mut stage = Stage::new("http://127.0.0.1:9/").await;
    stage.destination.name = "receipt".to_owned();
    let id = stage.effect("ped_1", "receipt", 0).await;
    let url =
        |host: &str, password: &str| format!("smtp://ana:{password}@{host}:{}?tls=required", server.port());
    let failed = |text: &'static str| {
        let stage = &stage;
        eventually(text, true, move || async move {
            stage.shown(id).await.last_error.is_some_and(|error| error.to_lowercase().contains(text))
        })
    };
    // The same machine by a name that the certificate does not have.
    let first = publisher(&stage, folder.path(), &url("127.0.0.1", "s3cret"), &roots);
    failed("certificate").await;
    drop(first);
    let second = publisher(&stage, folder.path(), &url("localhost", "wrong"), &roots);
    failed("535").await;
    assert!(!second.log().contains("wrong"), "{}", second.log());
    drop(second);
    assert_eq!(stage.shown(id).await.state, "pending");
    let _third = publisher(&stage, folder.path(), &url("localhost", "s3cret"), &roots);
    eventually("delivered", 1, || stage.count("delivered")).await;
    let mails = server.mails();
    assert!(mails.len() == 1 && mails[0].is_secret, "{mails:?}");
    assert_eq!(
        (mails[0].from.as_str(), mails[0].to.as_slice()),
        ("loja@example.com", &["ana@example.com".to_owned()][..])
    );
}

/// A certificate for this name and its key, as files.
fn certificate(folder: &Path, name: &str) -> [String; 2] {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).unwrap();
        folder.join(name).display().to_string()
    };
    [file("certificate.pem", cert.pem()), file("key.pem", signing_key.serialize_pem())]
}

fn publisher(stage: &Stage, folder: &Path, url: &str, roots: &str) -> Daemon {
    std::fs::write(folder.join("destinations.toml"), DESTINATION).unwrap();
    let environment = [
        ("ORDEM_TEST_CONFIG", folder.display().to_string()),
        ("RECEIPT_URL", url.to_owned()),
        ("SSL_CERT_FILE", roots.to_owned()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ("ORDEM__PUBLISHER__BACKOFF_BASE", "50ms".to_owned()),
        ("ORDEM__PUBLISHER__BACKOFF_CAP", "200ms".to_owned()),
        ("ORDEM__PUBLISHER__ATTEMPTS_MAX", "1000".to_owned()),
        ("ORDEM__PUBLISHER__LEASE", "10s".to_owned()),
        ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "6s".to_owned()),
        ("ORDEM__PUBLISHER__CONNECT_TIMEOUT", "5s".to_owned()),
    ];
    Daemon::start("publisher", &stage.database.url(), &environment)
}
