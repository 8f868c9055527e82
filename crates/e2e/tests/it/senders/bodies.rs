//! Bodies with what tends to break a signature: whatever is read and written again is no longer what was signed.

/// JSON texts as written, and beside each what it says.
const TEXTS: [(&str, &str); 6] = [
    (r#""pão de açúcar — 东京 🧾""#, "pão de açúcar — 东京 🧾"),
    (r#""https:\/\/loja.example\/p\/1?a=\u00e7\u0026b""#, "https://loja.example/p/1?a=ç&b"),
    (r#""\ud83e\uddfe \"quoted\" \\ \u002f""#, "🧾 \"quoted\" \\ /"),
    ("\"e\u{301} and \u{e9}, \u{2028}, \u{feff}\"", "e\u{301} and \u{e9}, \u{2028}, \u{feff}"),
    (r#""  \t spaces  \r\n ""#, "  \t spaces  \r\n "),
    (r#""<b>&amp;</b> %C3%A7 + ${x} {{y}}""#, "<b>&amp;</b> %C3%A7 + ${x} {{y}}"),
];

/// Members that nobody reads, and that not every reader of JSON takes.
const UNREAD: &str = r#""unread": [1.0, 1.50, -0, 1E2, 1e400, 123456789012345678901234567890, "\u0000", "\ud800 \udc00\ud800", {"": null}], "a": 1, "a": 2"#;

/// More than a number of 64 bits with a point can hold.
pub(crate) const BIG: i64 = 9_007_199_254_740_993;

/// A body, the id of what it is about, and the text in it.
pub(crate) struct Body {
    pub(crate) id: String,
    pub(crate) text: &'static str,
    pub(crate) json: String,
}

/// One body for each text, of a template with `@ID`, `@TEXT`, `@BIG` and `@UNREAD`, each with white space of its own.
/// Ids begin with the prefix.
pub(crate) fn bodies(template: &str, prefix: &str) -> Vec<Body> {
    let made = TEXTS.iter().enumerate().map(|(place, (written, text))| {
        let id = format!("{prefix}_{place}");
        let json = template.replace("@ID", &id).replace("@TEXT", written).replace("@UNREAD", UNREAD);
        let json = json.replace("@BIG", &BIG.to_string());
        let json = match place {
            0 => json,
            1 => format!("{json}\n"),
            2 => json.replace(", \"", ",\r\n\t\""),
            3 => format!(" \n{json} "),
            4 => json.replace(", \"", ",\""),
            _ => json.replace("\": ", "\"  :  "),
        };
        Body { id, text, json }
    });
    made.collect()
}

/// The same body as others would write it, or with a little of it changed: each is another one to a signature.
pub(crate) fn alterations(json: &str) -> Vec<(&'static str, String)> {
    let all = [
        ("a number that is the same to a double", json.replace("9007199254740993", "9007199254740992")),
        ("slashes without escapes", json.replace("\\/", "/")),
        ("no characters beyond ASCII", escaped(json)),
        ("no escapes", json.replace("\\u00e7", "ç")),
        ("one space more", format!("{json} ")),
        ("no space around", json.trim().to_owned()),
        ("other ends of lines", json.replace("\r\n", "\n")),
        ("a mark of byte order", format!("\u{feff}{json}")),
        ("composed characters", json.replace("e\u{301}", "\u{e9}")),
        ("one of two equal keys", json.replace("\"a\": 1, ", "")),
    ];
    all.into_iter().filter(|(_, other)| other != json).collect()
}

fn escaped(json: &str) -> String {
    let escape = |unit: u16| format!("\\u{unit:04x}");
    let mut out = String::new();
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            out.extend(character.encode_utf16(&mut [0; 2]).iter().copied().map(escape));
        }
    }
    out
}
