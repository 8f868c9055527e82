//! The shipped configuration is valid, and each kind of fault is named with file, key and reason.

use std::{fs, path::Path};

use super::{Configured, Demand};

fn load(files: &[(&str, &str)]) -> Result<Configured, Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    Configured::load(dir.path()).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn faults(text: &str) -> Vec<String> {
    load(&[("faulty.toml", text)]).unwrap_err()
}

#[test]
fn the_embedded_defaults_are_valid_and_the_shipped_folder_says_the_same() {
    let embedded = load(&[]).unwrap();
    let shipped = Configured::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config")).unwrap();
    assert_eq!(format!("{:?}", embedded.settings), format!("{:?}", shipped.settings));
    assert!(embedded.flow("order").is_some());
}

#[test]
fn a_source_whose_variables_are_not_set_is_off_with_a_warning() {
    let text = "[sources.other]\nprofile = \"loja\"\nsecrets = [\"env:ORDEM_TEST_NOT_SET\"]\n";
    let configured = load(&[("a.toml", text)]).unwrap();
    assert!(!configured.sources.contains_key("other"));
    assert!(configured.profiles.contains_key("other"));
    let warning = "sources.other is off, it answers 404: not set: env:ORDEM_TEST_NOT_SET";
    assert!(configured.warnings.iter().any(|found| found == warning), "{:?}", configured.warnings);
}

#[test]
fn a_required_source_whose_variables_are_not_set_is_a_fault_for_whom_it_concerns() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "[sources.other]\nprofile = \"loja\"\nrequired = true\nsecrets = [\"env:ORDEM_TEST_NOT_SET\"]\n";
    fs::write(dir.path().join("faulty.toml"), text).unwrap();
    let load = |demand| Configured::load_demanding(dir.path(), demand);
    assert!(load(Demand::Destinations).is_ok(), "a process demands only what it needs itself");
    assert!(load(Demand::Everything).is_err());
    let found = load(Demand::Sources).unwrap_err()[0].to_string();
    assert!(
        found.contains("faulty.toml: sources.other: is required, but not set: env:ORDEM_TEST_NOT_SET"),
        "{found}"
    );
}

#[test]
fn a_secret_that_is_set_but_empty_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret");
    fs::write(&secret, " \n").unwrap();
    let found =
        faults(&format!("[sources.other]\nprofile = \"loja\"\nsecrets = [\"file:{}\"]\n", secret.display()));
    assert!(
        found[0].contains("sources.other.secrets: file:") && found[0].contains("set but empty"),
        "{found:?}"
    );
}

#[test]
fn a_secret_in_the_file_itself_is_refused_and_not_repeated() {
    let found = faults("[sources.other]\nprofile = \"loja\"\nsecrets = [\"s3cr3t\"]\n");
    assert!(found[0].contains("sources.other.secrets[0]: is no reference to a secret"), "{found:?}");
    assert!(!found[0].contains("s3cr3t"));
}

#[test]
fn unknown_keys_and_sections_are_refused_with_their_file() {
    let found = faults("[receiver]\nlisten_on = \"0.0.0.0:1\"\n[recevier]\nlisten = \"0.0.0.0:1\"\n");
    assert!(found.iter().any(|fault| fault.contains("faulty.toml: recevier: unknown section")), "{found:?}");
    assert!(
        found.iter().any(|fault| fault.contains("faulty.toml: receiver") && fault.contains("listen_on")),
        "{found:?}"
    );
}

#[test]
fn several_faults_are_told_at_once() {
    let found = faults(
        "[receiver]\nlisten = \"nowhere\"\n[applier]\nlinger = \"soon\"\n[publisher]\nallow_addresses = [\"10.0.0.0/99\"]\n",
    );
    for needle in ["receiver.listen", "applier.linger: \"soon\" is no duration", "publisher.allow_addresses"]
    {
        assert!(found.iter().any(|fault| fault.contains(needle)), "{needle} not in {found:?}");
    }
}

#[test]
fn a_publisher_serves_only_destinations_that_there_are() {
    let found = faults("[publisher]\ndestinations = [\"fulfillment\", \"nowhere\"]\n");
    assert!(found[0].contains("publisher.destinations") && found[0].contains("nowhere"), "{found:?}");
}

#[test]
fn each_kind_of_destination_has_its_own_keys_and_all_have_some() {
    let told = |keys: &str, key: &str, reason: &str| {
        let found = faults(&format!("[destinations.other]\n{keys}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        let want = format!("faulty.toml: destinations.other{key}: ");
        assert!(found[0].contains(&want) && found[0].contains(reason), "{found:?}");
    };
    told("function = \"a.b\"", ".type", "is missing: one of http, sql, smtp, nats, file, stdout");
    told("type = \"kafka\"", ".type", "\"kafka\" is none of");
    told("type = \"sql\"\nfunction = \"a.b\"\nurl = \"env:X\"", ".url", "url");
    told("type = \"sql\"\nfunction = \"post\"", ".function", "booking.post");
    told("type = \"stdout\"\nrate = \"100\"", ".rate", "100/s");
    told("type = \"stdout\"\nage_max = \"0s\"", ".age_max", "longer than 0");
    let http = |rest: &str| format!("type = \"http\"\nurl = \"env:ORDEM_TEST_NOT_SET\"\n{rest}");
    told(&http(""), ".secrets", "signing = \"none\"");
    let unsigned = |rest: &str| http(&format!("signing = \"none\"\n{rest}"));
    told(&unsigned("headers = { host = \"x\" }"), ".headers.host", "set by Ordem itself");
    told(&unsigned("headers = { x-key = \"a\\nb\" }"), ".headers.x-key", "no value of a header");
    told(&unsigned("success_status = [302]"), ".success_status[0]", "no status of a success");
    told(&unsigned("method = \"GET\""), ".method", "GET");
}

#[test]
fn an_effect_without_its_destination_and_a_status_without_a_flow_are_faults() {
    let found =
        faults("[[flows.order.effects]]\nname = \"book\"\nenter = \"lost\"\ndestination = \"nowhere\"\n");
    assert!(found.iter().any(|fault| fault.contains("\"lost\" is no status")), "{found:?}");
    assert!(found.iter().any(|fault| fault.contains("no destination \"nowhere\"")), "{found:?}");
    let found = faults("[flows.order]\nstatuses = [\"created\"]\neffects = []\n[flows.order.terminal]\n");
    assert!(found.iter().any(|fault| fault.contains("loja") || fault.contains("no status of")), "{found:?}");
}

#[test]
fn a_file_that_is_no_toml_is_named() {
    let found = faults("[receiver\n");
    assert!(found[0].contains("faulty.toml"), "{found:?}");
}

#[test]
fn a_folder_that_does_not_exist_is_a_fault() {
    let found = Configured::load(Path::new("/nonexistent/ordem")).unwrap_err();
    assert!(found[0].to_string().contains("/nonexistent/ordem"));
}

#[test]
fn what_follows_from_a_fault_is_not_told_again() {
    let found = faults("[flows.order]\nstatusses = [\"created\"]\n");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = faults("[destinations.fulfillment]\nurls = \"env:X\"\n");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn lengths_of_time_that_would_end_or_never_end_the_work_are_refused() {
    let found = faults(
        "[service]\ndrain_timeout = \"0s\"\n[applier]\nretention = \"0s\"\nkeys_retention = \"0s\"\nbackoff_cap = \"0s\"\n\
         [publisher]\nbackoff_base = \"0s\"\nconnect_timeout = \"0s\"\n[receiver]\nadmin = \"127.0.0.1:8080\"\n",
    );
    for key in [
        "service.drain_timeout",
        "applier.retention",
        "applier.keys_retention",
        "applier.backoff_cap",
        "publisher.backoff_base",
        "publisher.connect_timeout",
        "receiver.admin",
    ] {
        assert!(found.iter().any(|fault| fault.contains(key)), "{key} not in {found:?}");
    }
}

#[test]
fn keys_are_kept_at_least_as_long_as_what_they_stand_for() {
    let found = faults("[applier]\nretention = \"90d\"\nkeys_retention = \"89d\"\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("applier.keys_retention") && found[0].contains("applier.retention,"),
        "{found:?}"
    );
    load(&[("a.toml", "[applier]\nretention = \"90d\"\nkeys_retention = \"90d\"\n")]).unwrap();
    let configured = load(&[("a.toml", "")]).unwrap();
    assert_eq!(configured.settings.applier.keys_retention.get().as_secs(), 400 * 86_400);
}

#[test]
fn a_signing_secret_that_makes_no_key_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret");
    fs::write(&secret, "whsec_!!!").unwrap();
    let found = faults(&format!(
        "[destinations.other]\ntype = \"http\"\nurl = \"env:ORDEM_TEST_NOT_SET\"\nsecrets = [\"file:{}\"]\n",
        secret.display()
    ));
    assert!(found[0].contains("destinations.other.secrets") && found[0].contains("base64"), "{found:?}");
}

#[test]
fn a_secret_may_have_an_end_and_what_is_wrong_with_it_is_named() {
    let text = |secret: &str| format!("[sources.other]\nprofile = \"loja\"\nsecrets = [{secret}]\n");
    let dated = text(
        "\"env:ORDEM_TEST_NOT_SET\", { from = \"env:ORDEM_TEST_NOT_SET\", until = \"2026-12-31T00:00:00Z\" }",
    );
    let configured = load(&[("a.toml", &dated)]).unwrap();
    let secrets = &configured.settings.sources["other"].secrets;
    let ends: Vec<_> = secrets.iter().map(|secret| secret.until.map(|until| until.to_string())).collect();
    assert_eq!(ends, [None, Some("2026-12-31T00:00:00Z".to_owned())]);
    for (secret, reason) in [
        ("{ from = \"env:A\", until = \"soon\" }", "until is no instant"),
        ("{ from = \"s3cr3t\", until = \"2026-12-31T00:00:00Z\" }", "is no reference to a secret"),
        ("{ from = \"env:A\" }", "until"),
        ("{ from = \"env:A\", till = \"2026-12-31T00:00:00Z\" }", "till"),
    ] {
        let found = faults(&text(secret));
        assert!(found[0].contains("faulty.toml: sources.other.secrets[0]"), "{found:?}");
        assert!(found[0].contains(reason) && !found[0].contains("s3cr3t"), "{found:?}");
    }
}

#[test]
fn a_round_that_comes_after_the_provider_has_given_up_is_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("url"), "https://api.example").unwrap();
    fs::write(dir.path().join("token"), "token").unwrap();
    let at = dir.path().display();
    let warned = |every: &str| {
        let text = format!(
            "[reconciler]\nevery = \"{every}\"\n[sources.other]\nprofile = \"asaas\"\nsecrets = [\"file:{at}/token\"]\n\
             api_url = \"file:{at}/url\"\napi_token = \"file:{at}/token\"\n"
        );
        let configured = load(&[("a.toml", &text)]).unwrap();
        configured.warnings.iter().any(|warning| warning.starts_with("sources.other: its provider repeats"))
    };
    assert!(warned("337h") && !warned("336h"));
}
