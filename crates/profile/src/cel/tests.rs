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
