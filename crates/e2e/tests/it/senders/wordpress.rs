//! The plugin of docs/WORDPRESS.md takes what the publisher signs, once, and nothing else.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use testkit::packages::or_skip;

use super::{
    bodies::alterations,
    effects::{SECRETS, effects},
};

const PAGE: &str = include_str!("../../../../../docs/WORDPRESS.md");

/// Whether PHP is here.
fn php() -> Result<(), String> {
    let answer = Command::new("php").arg("--version").output();
    answer.map(drop).map_err(|error| format!("php: {error}"))
}

/// Answer, rows and schedules after each of these requests.
fn site(secrets: &[&str], requests: &[Value]) -> Value {
    let code = PAGE.split("```php\n").nth(1).unwrap().split("```").next().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let plugin = dir.path().join("ordem.php");
    let harness = dir.path().join("wordpress.php");
    std::fs::write(&plugin, code).unwrap();
    std::fs::write(&harness, include_str!("wordpress.php")).unwrap();
    let mut child = Command::new("php")
        .args([&harness, &plugin])
        .env("SITE_SECRETS", json!(secrets).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(requests).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_plugin_takes_each_effect_once_and_nothing_that_was_changed() {
    if or_skip(php()).is_none() {
        return;
    }
    let calls = effects().await;
    let request = |headers: &Value, body: &str| json!({"headers": headers, "body": body});
    let (first, second) = (request(&calls[0].0, &calls[0].1), request(&calls[1].0, &calls[1].1));
    let mut requests = vec![first.clone(), first.clone(), second, first];
    let expected = [[200, 1, 1], [200, 1, 1], [200, 2, 2], [200, 2, 2]];
    // Whichever of the two secrets the site has by now.
    for secrets in [&SECRETS[..1], &SECRETS[1..], &["whsec_YW5vdGhlcg==", SECRETS[0]]] {
        assert_eq!(site(secrets, &requests), json!(expected), "{secrets:?}");
    }

    requests = alterations(&calls[0].1).iter().map(|(_, other)| request(&calls[0].0, other)).collect();
    for (header, value) in [
        ("webhook-id", "x"),
        ("webhook-timestamp", "1"),
        ("webhook-timestamp", ""),
        ("webhook-signature", "v1,"),
    ] {
        let mut headers = calls[0].0.clone();
        headers[header] = json!(value);
        requests.push(request(&headers, &calls[0].1));
    }
    assert!(requests.len() > 6);
    let refused: Vec<_> = requests.iter().map(|_| json!([401, 0, 0])).collect();
    assert_eq!(site(&SECRETS, &requests), json!(refused));
    // Another secret, and one that is none.
    let right = [request(&calls[0].0, &calls[0].1)];
    assert_eq!(site(&["whsec_YW5vdGhlcg==", "whsec_", ""], &right), json!([[401, 0, 0]]));
}
