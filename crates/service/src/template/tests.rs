use serde_json::{Value, json};

use super::*;

fn message(fields: Value) -> Value {
    json!({
        "type": "order.receipt",
        "timestamp": "2026-11-30T12:00:00Z",
        "data": {
            "effect_id": "0193a000-0000-7000-8000-000000000001", "source": "loja", "kind": "order", "id": "10/42",
            "effect": "receipt", "key": "", "status": "paid", "version": 7, "fields": fields,
        },
    })
}

fn rendered(text: &str, escape: Escape, fields: Value) -> Result<String, String> {
    Template::compile(text, escape)?.render(&message(fields))
}

#[test]
fn amounts_have_the_decimals_of_their_currency() {
    let text = "{{ data.fields.total_minor | money(data.fields.currency) }}";
    for (minor, currency, expected) in [
        (12990, "BRL", "129.90 BRL"),
        (5, "usd", "0.05 USD"),
        (0, "EUR", "0.00 EUR"),
        (-510, "BRL", "-5.10 BRL"),
        (500, "JPY", "500 JPY"),
        (1234, "KWD", "1.234 KWD"),
        (7, "KWD", "0.007 KWD"),
        (i64::MIN, "BRL", "-92233720368547758.08 BRL"),
    ] {
        let fields = json!({ "total_minor": minor, "currency": currency });
        assert_eq!(rendered(text, Escape::Text, fields).unwrap(), expected);
    }
    let amount = "{{ data.fields.total_minor | amount('BRL') }}";
    assert_eq!(rendered(amount, Escape::Text, json!({ "total_minor": 12990 })).unwrap(), "129.90");
}

#[test]
fn an_amount_that_is_none_is_refused() {
    let text = "{{ data.fields.total_minor | money(data.fields.currency) }}";
    for fields in [
        json!({ "total_minor": "129.90", "currency": "BRL" }),
        json!({ "total_minor": 1.5, "currency": "BRL" }),
        json!({ "total_minor": null, "currency": "BRL" }),
        json!({ "total_minor": true, "currency": "BRL" }),
        json!({ "total_minor": 1, "currency": null }),
        json!({ "total_minor": 1, "currency": "reais" }),
        json!({ "currency": "BRL" }),
    ] {
        let error = rendered(text, Escape::Text, fields).unwrap_err();
        assert!(error.starts_with("line 1: "), "{error}");
    }
}

#[test]
fn what_the_message_lacks_is_named_with_its_line() {
    let error = rendered("Hello\n{{ data.fields.name }}", Escape::Text, json!({})).unwrap_err();
    assert_eq!(error, "line 2: undefined value: `data.fields.name` is undefined");
    let guest = "{{ data.fields.name | default('guest') }}";
    assert_eq!(rendered(guest, Escape::Text, json!({})).unwrap(), "guest");
    let null = rendered("{{ data.fields.name }}", Escape::Text, json!({ "name": null })).unwrap_err();
    assert!(null.contains("the value is null"), "{null}");
}

#[test]
fn what_no_message_has_is_found_before_any_comes() {
    for (text, expected) in [
        ("{{ date.fields.name }}", "no message has date.fields.name"),
        ("{{ data.feilds }}", "no message has data.feilds"),
        ("\n{{ data.id | mony }}", "line 2: unknown filter"),
        ("{{ data.id", "line 1: syntax error"),
        ("{% include 'secrets' %}", "line 1: syntax error"),
        ("{% import 'x' as x %}", "line 1: syntax error"),
    ] {
        let error = Template::compile(text, Escape::Text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let sound =
        "{% for i in range(2) %}{{ data.fields.lines[i].name | upper }}{% endfor %}{{ type }}{{ timestamp }}";
    Template::compile(sound, Escape::Text).unwrap();
}

#[test]
fn json_values_are_json() {
    let text = r#"{"text": {{ data.fields.name }}, "n": {{ data.version }}, "all": {{ data.fields }}}"#;
    let fields = json!({ "name": "Zoë \"<x>\"\n", "none": null });
    let body: Value = serde_json::from_str(&rendered(text, Escape::Json, fields.clone()).unwrap()).unwrap();
    assert_eq!(body, json!({ "text": "Zoë \"<x>\"\n", "n": 7, "all": fields }));
}

#[test]
fn html_values_open_no_tag() {
    let text = "<b title=\"{{ data.fields.name }}\">";
    let html = rendered(text, Escape::Html, json!({ "name": "\"><script>&'" })).unwrap();
    assert!(!html.contains("<script>") && html.matches('"').count() == 2, "{html}");
}

#[test]
fn a_value_stays_within_its_segment_of_a_path() {
    let text = "/orders/{{ data.id }}/{{ data.fields.x }}?n={{ data.version }}";
    let path = |x: Value| rendered(text, Escape::Path, json!({ "x": x }));
    assert_eq!(path(json!("a b?é#%2e")).unwrap(), "/orders/10%2F42/a%20b%3F%C3%A9%23%252e?n=7");
    for x in [json!(".."), json!("."), json!(""), json!(null), json!([1]), json!({})] {
        path(x.clone()).expect_err(&x.to_string());
    }
    // What an author calls safe is still a value.
    assert_eq!(rendered("{{ '/' | safe }}", Escape::Path, json!({})).unwrap(), "%2F");
}

#[test]
fn a_value_is_one_token_of_a_subject() {
    let text = "ordem.{{ data.kind }}.{{ data.fields.x }}";
    let fields = json!({ "x": "a.b c*>\t\u{0}\u{a0}é" });
    assert_eq!(rendered(text, Escape::Subject, fields).unwrap(), "ordem.order.a_b_c_____é");
}

#[test]
fn work_and_text_are_bounded() {
    let forever = "{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}";
    let error = rendered(forever, Escape::Text, json!({})).unwrap_err();
    assert!(error.contains("steps") || error.contains("fuel"), "{error}");
    let long = "{{ 'x' * 1100000 }}";
    let error = rendered(long, Escape::Text, json!({})).unwrap_err();
    assert!(error.contains("1048576 are allowed"), "{error}");
    Template::compile(&"x".repeat(TEMPLATE_BYTES_MAX + 1), Escape::Text).unwrap_err();
}

#[test]
fn an_error_never_holds_a_value_of_the_message() {
    let text = "{{ data.fields.secret.deep }}";
    let error = rendered(text, Escape::Text, json!({ "secret": "4111-1111" })).unwrap_err();
    assert!(!error.contains("4111"), "{error}");
}
