//! Whether secrets and addresses that are set can be used at all.

use profile::Profile;

use crate::settings::{SecretRef, check::Check};

impl Check<'_> {
    pub(crate) fn keys_fit(
        &mut self,
        key: &str,
        profile: &Profile,
        group: Option<&str>,
        secrets: &[SecretRef],
    ) {
        for reference in secrets {
            if let Ok(Some(secret)) = reference.resolve()
                && let Err(error) = crate::source_keys::key(profile.scheme(), group, &secret)
            {
                self.add(key, format!("{reference}: {error}"));
            }
        }
    }

    pub(crate) fn signing_keys_fit(&mut self, key: &str, secrets: &[SecretRef]) {
        for reference in secrets {
            if let Ok(Some(secret)) = reference.resolve()
                && let Err(error) = signature::standard_webhooks::signing_keys(&secret)
            {
                self.add(&format!("{key}.secrets"), format!("{reference}: {error}"));
            }
        }
    }

    pub(crate) fn url_is_http(&mut self, key: &str, reference: &SecretRef) {
        use secrecy::ExposeSecret;
        let Ok(Some(text)) = reference.resolve() else { return };
        let good = url::Url::parse(text.expose_secret())
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
        if !good {
            self.add(key, format!("{reference} is no http or https address"));
        }
    }
}
