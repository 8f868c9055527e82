//! A receiver with one source whose profile a test writes itself.

use std::fmt::Write as _;

use tempfile::TempDir;

use crate::app::App;

/// What every profile of these tests has after its `[verify]` and `[receive]`.
const EVENT: &str = r#"
[event]
kind = "order"
type = "type"
resource = "data.id"
sequence = "sequence"
[event.status]
"order.paid" = "paid"
[version]
criterion = "sequence"
"#;

/// The dedup of most of them.
pub(crate) const BY_ID: &str = "[dedup]\nkeys = [[\"id\"]]\n";

/// The usual signature: hexadecimal HMAC of the body in `x-sig`.
pub(crate) const SIGNED: &str =
    "[verify]\nkind = \"hmac\"\nalgorithm = \"hmac-sha256\"\nheader = \"x-sig\"\nencoding = \"hex\"\n";

/// A running receiver whose source is `shop`.
pub(crate) struct Shop {
    pub(crate) app: App,
    _config: TempDir,
}

impl Shop {
    /// `profile` is the profile's file, which gets the usual events unless it has its own; `source` are the further
    /// settings of the source.
    pub(crate) async fn start(profile: &str, source: &str, environment: &[(&str, &str)]) -> Self {
        let config = tempfile::tempdir().unwrap();
        std::fs::create_dir(config.path().join("profiles")).unwrap();
        let event = if profile.contains("[event]") { "" } else { EVENT };
        let text = format!("name = \"Shop\"\n{profile}\n{event}");
        std::fs::write(config.path().join("profiles/shop.toml"), text).unwrap();
        let mut settings =
            "[service]\nprofiles_dir = \"profiles\"\n[sources.shop]\nprofile = \"shop\"\n".to_owned();
        settings.write_str(source).unwrap();
        std::fs::write(config.path().join("a.toml"), settings).unwrap();
        let mut all = vec![("ORDEM_TEST_CONFIG", config.path().to_str().unwrap())];
        all.extend(environment);
        Self { app: App::start_with(&all).await, _config: config }
    }

    /// The status and the body of the answer to a POST.
    pub(crate) async fn post(
        &self,
        query: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> (u16, String) {
        let mut request = self.app.client.post(format!("{}/webhooks/shop{query}", self.app.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.body(body.into()).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The same for a GET.
    pub(crate) async fn get(&self, query: &str) -> (u16, String) {
        let url = format!("{}/webhooks/shop{query}", self.app.url);
        let answer = self.app.client.get(url).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}
