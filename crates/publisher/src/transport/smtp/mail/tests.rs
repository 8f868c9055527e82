use serde_json::{Value, json, value::to_raw_value};
use service::settings::SecretRef;
use uuid::Uuid;

use super::*;

fn settings() -> SmtpSettings {
    SmtpSettings {
        url: SecretRef::Environment("UNUSED".to_owned()),
        from: "Loja <loja@example.com>".to_owned(),
        to: "{{ data.fields.customer_email }}".to_owned(),
        reply_to: Some("help@example.com".to_owned()),
        subject: "Receipt {{ data.id }}: {{ data.fields.note }}".to_owned(),
        text: Some("{{ data.fields.total_minor | money('BRL') }} {{ data.fields.note }}".to_owned()),
        text_file: None,
        html: Some("<b>{{ data.fields.note }}</b>".to_owned()),
        html_file: None,
    }
}

fn effect(fields: &Value) -> ClaimedEffect {
    ClaimedEffect {
        effect_id: Uuid::from_u128(7),
        lease_token: Uuid::from_u128(8),
        attempt: 1,
        lane: 1,
        source: "loja".to_owned(),
        kind: "order".to_owned(),
        resource_id: "42".to_owned(),
        effect: "receipt".to_owned(),
        effect_key: String::new(),
        status: "paid".to_owned(),
        version_major: 1,
        fields: to_raw_value(fields).unwrap(),
        created_at: "2026-11-30T12:00:00Z".parse().unwrap(),
    }
}

fn letter(to: &str, note: &str) -> Result<Letter, String> {
    let fields = json!({ "customer_email": to, "note": note, "total_minor": 12990 });
    Stationery::of(&settings()).unwrap().letter(&effect(&fields))
}

fn text(letter: &Letter) -> String {
    String::from_utf8(letter.bytes.clone()).unwrap()
}

#[test]
fn each_attempt_sends_the_same_bytes_under_the_same_message_id() {
    let first = letter("ana@example.com", "thanks").unwrap();
    let mail = text(&first);
    assert_eq!(letter("ana@example.com", "thanks").unwrap().bytes, first.bytes);
    for line in [
        "Message-ID: <00000000-0000-0000-0000-000000000007@example.com>\r\n",
        "Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n",
        "From: Loja <loja@example.com>\r\n",
        "To: ana@example.com\r\n",
        "Reply-To: help@example.com\r\n",
        "Subject: Receipt 42: thanks\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "129.90 BRL thanks",
        "<b>thanks</b>",
    ] {
        assert!(mail.contains(line), "{line:?} is not in\n{mail}");
    }
}

#[test]
fn no_value_makes_a_header() {
    let mail = text(&letter("ana@example.com", "x\r\nBcc: evil@example.com\r\n\r\nbody").unwrap());
    let head = mail.split("\r\n\r\n").next().unwrap();
    assert!(!head.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{head}");
    for to in [
        "ana@example.com\r\nBcc: evil@example.com",
        "ana@example.com\nX: y",
        "ana@example.com, evil@example.com",
        "ana@example.com> SIZE=1\r\nRCPT TO:<evil@example.com",
    ] {
        assert!(letter(to, "x").is_err(), "{to:?}");
    }
}

#[test]
fn what_is_no_recipient_is_refused_without_being_repeated() {
    for to in ["", "ana", "ana@", "@example.com", "a b@example.com", "ana@exa mple.com"] {
        let Err(reason) = letter(to, "x") else { panic!("{to:?} was taken") };
        assert_eq!(reason, "to: is no usable address of one recipient");
    }
    let missing = Stationery::of(&settings()).unwrap().letter(&effect(&json!({})));
    assert!(missing.is_err_and(|reason| reason.contains("customer_email")));
}

#[test]
fn a_mail_needs_a_sender_and_a_text() {
    let with = |change: fn(&mut SmtpSettings)| {
        let mut settings = settings();
        change(&mut settings);
        Stationery::of(&settings).map(|_| ()).map_err(|error| format!("{error:#}"))
    };
    assert!(with(|it| it.from = "Loja".to_owned()).is_err_and(|reason| reason.starts_with("from: ")));
    assert!(
        with(|it| it.subject = "{{ nothing }}".to_owned())
            .is_err_and(|reason| reason.starts_with("subject: "))
    );
    assert!(with(|it| (it.text, it.html) = (None, None)).is_err());
    assert!(with(|it| it.html = None).is_ok() && with(|it| it.text = None).is_ok());
}
