use super::*;

fn holds(text: &str, body: &str) -> bool {
    let mut shape = Shape::new();
    let expression = Expression::compile(text, &mut shape).unwrap();
    let headers = [("x-topic", "orders/paid"), (":query", "type=order&data.id=7")];
    expression.holds(&shape.extract(body).unwrap(), &headers, "order.paid")
}

#[test]
fn conditions_hold_or_do_not() {
    let body = r#"{"a":{"b":5,"c":null,"d":"x"},"list":[{"k":1},{"k":2}],"amount":12990,"refunded":12990}"#;
    for (text, expected) in [
        ("body.a.b == 5", true),
        ("body.a.b > 5", false),
        ("body.refunded >= body.amount", true),
        ("has(body.a.c) && body.a.c == null", true),
        ("has(body.a.c) && body.a.c != null", false),
        ("has(body.a.z)", false),
        ("has(body.z.y)", false),
        ("!has(body.z.y)", true),
        ("body.z.y == 1", false),
        ("body.a.d == 5", false),
        ("body.a.d in ['x', 'y']", true),
        ("body.list.exists(i, i.k == 2)", true),
        ("body.list.all(i, i.k == 2)", false),
        ("size(body.list) == 2", true),
        ("body.list[0].k == 1", true),
        ("body.a.d.startsWith('x')", true),
        ("type == 'order.paid'", true),
        ("type.startsWith('order.')", true),
        ("header['x-topic'] == 'orders/paid'", true),
        ("query['data.id'] == '7' && query.type == 'order'", true),
        ("body.a.b", false),
    ] {
        assert_eq!(holds(text, body), expected, "{text}");
    }
}

#[test]
fn what_is_unknown_is_a_fault_when_it_is_loaded() {
    for (text, part) in [
        ("bodi.a == 1", "bodi"),
        ("sise(body.a) == 1", "sise"),
        ("body.a ==", "no CEL"),
        ("body == 1", "as a whole"),
        ("body.list.exists(i, j.k == 2)", "`j`"),
    ] {
        let error = Expression::compile(text, &mut Shape::new()).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn values_come_out_exact() {
    let mut shape = Shape::new();
    let expression = Expression::compile("body.total - body.refunded", &mut shape).unwrap();
    let leaves = shape.extract(r#"{"total":9007199254740993,"refunded":1}"#).unwrap();
    assert_eq!(expression.value(&leaves, &()), Leaf::Number("9007199254740992".into()));
    let leaves = shape.extract(r#"{"total":1}"#).unwrap();
    assert_eq!(expression.value(&leaves, &()), Leaf::Absent);
}

#[test]
fn what_cannot_be_computed_is_absent_and_never_panics() {
    let mut shape = Shape::new();
    let texts = [
        "body.a / body.zero",
        "body.a % body.zero",
        "body.min / body.minus",
        "body.min % body.minus",
        "-body.min",
        "body.max + body.a",
        "body.max * body.max",
        "body.min - body.a",
        "int(body.huge)",
        "int('x')",
        "body.list[9]",
        "body.list[body.minus]",
        "body.text[0]",
        "body.text - 1",
        "size(body.a)",
        "min([])",
        "body.list.map(x, x / 0)",
        "body.list.exists_one(x, x.y == 1)",
        "{'a': 1}.b",
    ];
    let expressions = texts.map(|text| (text, Expression::compile(text, &mut shape).unwrap()));
    let body = r#"{"a":1,"zero":0,"minus":-1,"min":-9223372036854775808,"max":9223372036854775807,"huge":1e300,"list":[1,2],"text":"x"}"#;
    let leaves = shape.extract(body).unwrap();
    for (text, expression) in &expressions {
        assert!(!expression.holds(&leaves, &(), ""), "{text}");
        assert_eq!(expression.value(&leaves, &()), Leaf::Absent, "{text}");
    }
}

#[test]
fn there_are_no_optional_members() {
    for text in ["body.?a.orValue(1) == 1", "body[?'a'] == 1", "optional.of(1) == 1"] {
        assert!(Expression::compile(text, &mut Shape::new()).is_err(), "{text}");
    }
}

#[test]
fn a_repeated_header_that_differs_is_absent() {
    let mut shape = Shape::new();
    let expression = Expression::compile("header['x-a'] == '1'", &mut shape).unwrap();
    let leaves = shape.extract("{}").unwrap();
    assert!(expression.holds(&leaves, &[("x-a", "1"), ("X-A", "1")], ""));
    assert!(!expression.holds(&leaves, &[("x-a", "1"), ("x-a", "2")], ""));
}
