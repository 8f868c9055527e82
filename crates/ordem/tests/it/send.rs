//! `ordem send` and `ordem sign --source`, against a real receiver.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Daemon, Database, free_port};

use crate::world::Said;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// So many have samples, or the test looks for them in the wrong place.
const SHIPPED_MIN: usize = 15;

/// A receiver with a configuration of its own.
struct Receiver {
    database: Database,
    daemon: Daemon,
    config: TempDir,
    environment: Vec<(String, String)>,
    port: u16,
}

impl Receiver {
    /// `sources` is the file of that name; each source's secret stands in a variable of its own.
    async fn start(sources: &str, secrets: &[(String, String)]) -> Self {
        let config = tempfile::tempdir().unwrap();
        for file in ["flows.toml", "destinations.toml"] {
            std::fs::copy(format!("{ROOT}/config/{file}"), config.path().join(file)).unwrap();
        }
        let settings = format!("[service]\nprofiles_dir = \"{ROOT}/profiles\"\n{sources}");
        std::fs::write(config.path().join("sources.toml"), settings).unwrap();
        let (database, port) = (Database::create().await, free_port());
        let mut environment = vec![("ORDEM__RECEIVER__LISTEN".to_owned(), format!("127.0.0.1:{port}"))];
        environment.extend(secrets.iter().cloned());
        let mut all: Vec<(&str, String)> =
            environment.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        all.push(("ORDEM_TEST_CONFIG", config.path().display().to_string()));
        let mut daemon = Daemon::start("receiver", &database.url(), &all);
        daemon.ready().await;
        Self { database, daemon, config, environment, port }
    }

    async fn loja() -> Self {
        let sources = "[sources.loja]\nprofile = \"loja\"\nsecrets = [\"env:S_LOJA\"]\n\
                       [sources.off]\nprofile = \"loja\"\nsecrets = [\"env:S_OFF\"]\n";
        Self::start(sources, &[("S_LOJA".to_owned(), "a secret of the store".to_owned())]).await
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.config.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Runs the binary with the receiver's own environment, and with these variables instead.
    fn ordem(&self, instead: &[(&str, &str)], arguments: &[&str], input: &str) -> Said {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("ordem");
        command.env_clear().arg("--config").arg(self.config.path()).args(arguments).write_stdin(input);
        command.envs(self.environment.iter().cloned()).envs(instead.iter().copied());
        Said::of(&command.output().unwrap())
    }

    async fn events(&self) -> i64 {
        self.database.count("select count(*) from ordem.events").await
    }
}

fn paid(id: &str) -> String {
    json!({"id": id, "type": "order.paid", "sequence": 3, "occurred_at": "2026-01-02T03:04:05Z",
           "data": {"id": "ped_1", "total_cents": 1990, "currency": "BRL"}})
    .to_string()
}

#[tokio::test]
async fn an_event_that_is_sent_is_stored_once_however_often_it_is_sent() {
    let receiver = Receiver::loja().await;
    let arguments = ["send", "--source", "loja", "--body", "-"];
    let said = receiver.ordem(&[], &arguments, &paid("evt_1")).expect(0);
    let url = format!("POST http://127.0.0.1:{}/webhooks/loja\n200 stored", receiver.port);
    assert!(said.out.starts_with(&url), "{}", said.out);
    assert_eq!(receiver.events().await, 1);
    let repeated = [arguments.as_slice(), &["--count", "3", "--json"]].concat();
    let said = receiver.ordem(&[], &repeated, &paid("evt_1")).expect(0).json();
    let statuses: Vec<_> =
        said["answers"].as_array().unwrap().iter().map(|answer| &answer["status"]).collect();
    assert_eq!(statuses, [200, 200, 200]);
    assert_eq!(receiver.events().await, 1);
    receiver.ordem(&[], &arguments, &paid("evt_2")).expect(0);
    assert_eq!(receiver.events().await, 2);
}

#[tokio::test]
async fn a_refusal_and_a_receiver_that_is_away_are_told_with_the_way_out() {
    let mut receiver = Receiver::loja().await;
    let arguments = ["send", "--source", "loja", "--body", "-"];
    let said = receiver.ordem(&[("S_LOJA", "another")], &arguments, &paid("evt_1")).expect(1);
    assert!(
        said.out.contains("401 not stored") && said.out.contains("`ordem refused --source loja`"),
        "{said:?}"
    );
    let off = receiver.ordem(&[("S_OFF", "x")], &["send", "--source", "off", "--body", "-"], "{}").expect(1);
    assert!(off.out.contains("404 not stored") && off.out.contains("sources.off"), "{off:?}");
    assert_eq!(receiver.events().await, 0);
    receiver.daemon.kill();
    let said = receiver.ordem(&[], &arguments, &paid("evt_1")).expect(1);
    assert!(said.err.contains(&format!("http://127.0.0.1:{}/webhooks/loja", receiver.port)), "{said:?}");
    assert!(said.err.contains("cannot connect") && said.err.contains("--url"), "{said:?}");
}

#[tokio::test]
async fn bad_arguments_name_the_input_and_the_way_out() {
    let receiver = Receiver::loja().await;
    let cases: [(&[&str], &str); 7] = [
        (&["send", "--source", "x", "--body", "-"], "no source \"x\" (there are: loja, off,"),
        (
            &["send", "--source", "off", "--body", "-"],
            "sources.off is off: set its secret here as well (env:S_OFF)",
        ),
        (&["send", "--source", "loja", "--body", "/no/file"], "/no/file"),
        (&["send", "--source", "loja", "--body", "-", "--header", "x"], "write 'Name: value'"),
        (
            &["send", "--source", "loja", "--body", "-", "--url", "nowhere"],
            "--url: \"nowhere\" is no address",
        ),
        (
            &["sign", "--source", "loja", "--profile", "x", "--secret-env", "S", "--body", "-"],
            "cannot be used with",
        ),
        (&["sign", "--profile", "x", "--body", "-"], "--secret-env"),
    ];
    for (arguments, message) in cases {
        let said = receiver.ordem(&[], arguments, "{}").expect(2);
        assert!(said.err.contains(message), "{arguments:?}: {}", said.err);
    }
}

#[tokio::test]
async fn what_a_provider_signed_once_is_posted_as_it_is() {
    let receiver = Receiver::loja().await;
    let body = receiver.file("body.json", &paid("evt_1"));
    let signed = receiver.ordem(&[], &["sign", "--source", "loja", "--body", &body], "").expect(0).out;
    let headers = receiver.file("headers.txt", &format!("content-length: 1\nhost: shop.example\n{signed}"));
    let arguments = ["send", "--source", "loja", "--as-is", "--body", &body];
    receiver.ordem(&[], &arguments, "").expect(1);
    let with_headers = [arguments.as_slice(), &["--headers", &headers]].concat();
    receiver.ordem(&[("S_LOJA", "not asked for")], &with_headers, "").expect(0);
    assert_eq!(receiver.events().await, 1);
}

/// Sources of all shipped profiles that have samples.
#[derive(Default)]
struct Shipped {
    sources: String,
    secrets: Vec<(String, String)>,
    /// The first request of each.
    first: Vec<(String, Value)>,
}

fn shipped() -> Shipped {
    let Shipped { mut sources, mut secrets, mut first } = Shipped::default();
    for entry in std::fs::read_dir(format!("{ROOT}/profiles/samples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let samples: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let variable = format!("S_{}", name.to_uppercase());
        writeln!(sources, "[sources.{name}]\nprofile = \"{name}\"\nsecrets = [\"env:{variable}\"]").unwrap();
        for key in ["public_url", "zone"] {
            if let Some(text) = samples[key].as_str() {
                writeln!(sources, "{key} = \"{text}\"").unwrap();
            }
        }
        secrets.push((variable, samples["secret"].as_str().unwrap().to_owned()));
        let requests = samples["requests"].as_array().unwrap();
        let is_event = |request: &&Value| {
            request["expect"]["verified"] != false
                && request["expect"]["reading"] != "handshake"
                && request["options"].is_null()
        };
        first.push((name, requests.iter().find(is_event).unwrap().clone()));
    }
    Shipped { sources, secrets, first }
}

#[tokio::test]
async fn an_event_of_every_provider_is_signed_so_that_the_receiver_takes_it() {
    let Shipped { sources, secrets, first } = shipped();
    assert!(first.len() >= SHIPPED_MIN);
    let receiver = Receiver::start(&sources, &secrets).await;
    for (stored, (name, request)) in first.iter().enumerate() {
        let headers = receiver.file("headers.json", &request["headers"].to_string());
        let body = request["body"].as_str().unwrap();
        let query = request["query"].as_str().unwrap_or_default();
        let arguments =
            ["send", "--source", name, "--headers", &headers, "--body", "-", "--query", query, "--json"];
        let said = receiver.ordem(&[], &arguments, body);
        assert_eq!(said.code, 0, "{name}: {said:?}");
        assert_eq!(receiver.events().await, i64::try_from(stored).unwrap() + 1, "{name}: {said:?}");
    }
}
