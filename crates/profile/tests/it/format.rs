//! The file format: what it refuses, and how it says so.

use profile::{Answers, Profile};

use crate::support::{LOJA, loja, loja_with};

/// The faults of the loja profile with one piece of its text replaced, as they are shown.
fn faults(from: &str, to: &str) -> Vec<String> {
    assert!(LOJA.contains(from), "{from:?} is not in the profile");
    let faults = Profile::parse("profiles/loja.toml", &LOJA.replace(from, to)).unwrap_err();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn the_shipped_profile_says_what_it_should() {
    let profile = loja();
    assert_eq!(profile.name(), "Loja");
    assert!(!profile.weaknesses().is_empty());
    assert_eq!(profile.kept_headers(), ["content-encoding", "content-type", "x-loja-signature"]);
    assert_eq!(profile.answers(), Answers { success: 200, refusal: 401 });
    assert_eq!(profile.statuses().count(), 10);
    for content_type in [None, Some("text/plain"), Some("application/cloudevents+json; charset=utf-8")] {
        assert!(profile.accepts(content_type));
    }
}

#[test]
fn content_types_are_compared_without_parameters_and_case() {
    let profile = loja_with("[receive]", "[receive]\ncontent_types = [\"application/json\"]");
    assert!(profile.accepts(Some("Application/JSON; charset=utf-8")));
    assert!(!profile.accepts(Some("text/plain")));
    assert!(!profile.accepts(None));
}

#[test]
fn each_fault_names_file_key_and_reason() {
    for (from, to, shown) in [
        ("[receive]", "[receive]\nsucess = 200", "profiles/loja.toml: receive"),
        ("kind = \"order\"", "", "profiles/loja.toml: event"),
        ("criterion = \"sequence\"", "criterion = \"clock\"", "profiles/loja.toml: version.criterion"),
        ("algorithm = \"hmac-sha256\"", "algorithm = \"md5\"", "profiles/loja.toml: verify"),
        ("header = \"x-loja-signature\"", "header = \"x loja\"", "profiles/loja.toml: verify: \"x loja\""),
        ("type = \"text\"", "type = \"txet\"", "profiles/loja.toml: api.item.fields.currency.type: line "),
        (
            "resource = \"data.id\"",
            "resource = 5",
            "profiles/loja.toml: event.resource: line 31: expected a path such as",
        ),
        (
            "\"occurred_at\"",
            "{ path = \"x\", epoch = \"days\" }",
            "profiles/loja.toml: event.instant: line 33: expected a path",
        ),
        ("resource = \"data.id\"", "resource = \"data..id\"", "profiles/loja.toml: event.resource"),
        (
            "sequence = \"sequence\"\ninstant = \"occurred_at\"",
            "",
            "profiles/loja.toml: event.sequence: is missing",
        ),
        ("[[\"id\"]]", "[]", "profiles/loja.toml: dedup.keys: needs"),
        ("[[\"id\"]]", "[[{ header = \"x-id\" }]]", "the signature does not cover header \"x-id\""),
        ("success = 200", "success = 500", "profiles/loja.toml: receive.success: 500"),
        ("\"24h\"", "\"soon\"", "profiles/loja.toml: version.future_tolerance: \"soon\""),
        ("\"24h\"", "\"-1h\"", "profiles/loja.toml: version.future_tolerance: must not"),
        (
            "precision =",
            "zone = \"Brazil/Nowhere\"\nprecision =",
            "profiles/loja.toml: version.zone: \"Brazil/Nowhere\"",
        ),
        ("\"/orders/{id}\"", "\"/orders\"", "profiles/loja.toml: api.get.path: has no {id}"),
        ("style = \"token\"", "style = \"magic\"", "profiles/loja.toml: api.list.paging"),
        ("limit = 100", "limit = 0", "profiles/loja.toml: api.list.limit: must be"),
        ("name = \"Loja\"", "name = ", "profiles/loja.toml: line 3: "),
    ] {
        let faults = faults(from, to);
        assert!(faults.iter().any(|fault| fault.contains(shown)), "{to}: {faults:#?}");
    }
}

#[test]
fn several_faults_are_shown_at_once() {
    let toml = LOJA
        .replace("\"24h\"", "\"soon\"")
        .replace("success = 200", "success = 99")
        .replace("\"/orders/{id}\"", "\"/orders\"")
        .replace("\"data.total_cents\"", "\"data.\"");
    let faults = Profile::parse("profiles/loja.toml", &toml).unwrap_err();
    let keys: Vec<_> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(faults.len(), 4, "{keys:?}");
}

#[test]
fn a_number_that_grows_does_so_wherever_it_is_read() {
    let field = "path = \"data.total_cents\", type = \"money_minor\"";
    let here = faults(field, &format!("{field}, grows = true"));
    assert!(here.iter().any(|fault| fault.contains("in one place and not in another")), "{here:?}");
    let text = faults("data.currency\", type = \"text\"", "data.currency\", type = \"text\", grows = true");
    assert!(text.iter().any(|fault| fault.contains("`grows` is of numbers")), "{text:?}");
    let everywhere = LOJA.replace("type = \"money_minor\"", "type = \"money_minor\", grows = true");
    assert!(Profile::parse("profiles/loja.toml", &everywhere).is_ok());
}
