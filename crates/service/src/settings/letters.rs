//! Checks what mails and NATS messages are made of: addresses, templates, the files that hold them.

use std::path::Path;

use email_address::EmailAddress;
use secrecy::ExposeSecret;

use crate::{
    Escape, Template,
    settings::{NatsSettings, SecretRef, SmtpSettings, check::Check},
};

impl Check<'_> {
    pub(crate) fn smtp_fits(&mut self, key: &str, smtp: &SmtpSettings) {
        self.url_has_scheme(&format!("{key}.url"), &smtp.url, &["smtp", "smtps"]);
        self.is_mailbox(&format!("{key}.from"), &smtp.from);
        if let Some(reply_to) = &smtp.reply_to {
            self.is_mailbox(&format!("{key}.reply_to"), reply_to);
        }
        self.template_fits(&format!("{key}.to"), &smtp.to, Escape::Text);
        self.template_fits(&format!("{key}.subject"), &smtp.subject, Escape::Text);
        let text = (smtp.text.as_deref(), smtp.text_file.as_deref());
        let html = (smtp.html.as_deref(), smtp.html_file.as_deref());
        if [text, html].iter().all(|(text, file)| text.is_none() && file.is_none()) {
            self.add(key, "a mail needs text (or text_file), html (or html_file), or both");
        }
        self.part_fits(key, "text", text, Escape::Text);
        self.part_fits(key, "html", html, Escape::Html);
    }

    pub(crate) fn nats_fits(&mut self, key: &str, nats: &NatsSettings) {
        self.url_has_scheme(&format!("{key}.url"), &nats.url, &["nats", "tls"]);
        self.template_fits(&format!("{key}.subject"), &nats.subject, Escape::Subject);
        if let Some(credentials) = &nats.credentials {
            self.any_set(&format!("{key}.credentials"), std::slice::from_ref(credentials));
        }
    }

    /// A template that stands in the settings, or in a file beside them.
    pub(crate) fn part_fits(
        &mut self,
        key: &str,
        name: &str,
        (text, file): (Option<&str>, Option<&Path>),
        escape: Escape,
    ) {
        let file_key = format!("{key}.{name}_file");
        match (text, file) {
            (Some(_), Some(_)) => self.add(&file_key, format!("does not go with {name}: give one of them")),
            (Some(text), None) => self.template_fits(&format!("{key}.{name}"), text, escape),
            (None, Some(file)) => match std::fs::read_to_string(file) {
                Ok(text) => self.template_fits(&file_key, &text, escape),
                Err(error) => self.add(&file_key, format!("{}: {error}", file.display())),
            },
            (None, None) => {}
        }
    }

    pub(crate) fn template_fits(&mut self, key: &str, text: &str, escape: Escape) {
        if let Err(reason) = Template::compile(text, escape) {
            self.add(key, reason);
        }
    }

    fn is_mailbox(&mut self, key: &str, text: &str) {
        if text.parse::<EmailAddress>().is_err() {
            self.add(key, format!("\"{text}\" is no address: write it like Shop <shop@example.com>"));
        }
    }

    /// The reason never repeats the address, which may hold a password.
    fn url_has_scheme(&mut self, key: &str, reference: &SecretRef, schemes: &[&str]) {
        let Ok(Some(text)) = reference.resolve() else { return };
        let good = url::Url::parse(text.expose_secret()).is_ok_and(|url| {
            schemes.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty())
        });
        if !good {
            let written =
                schemes.iter().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(" or ");
            self.add(key, format!("{reference} is no {written} address"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::settings::Configured;

    fn faults(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("faulty.toml"), text).unwrap();
        fs::write(dir.path().join("url"), "http://mail.example.com").unwrap();
        fs::write(dir.path().join("broken.txt"), "fine\n{{ data.nothing }}").unwrap();
        let text = text.replace("DIR", &dir.path().display().to_string());
        fs::write(dir.path().join("faulty.toml"), text).unwrap();
        match Configured::load(dir.path()) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn what_a_mail_cannot_be_made_of_is_named_with_its_key() {
        let found = faults(
            "[destinations.receipt]\ntype = \"smtp\"\nurl = \"file:DIR/url\"\nfrom = \"Shop\"\nreply_to = \"x\"\n\
             to = \"{{ data.fields.mail\"\nsubject = \"{{ date }}\"\ntext_file = \"broken.txt\"\n\
             html_file = \"missing.html\"\n",
        );
        for expected in [
            "receipt.url: file:",
            "receipt.from: \"Shop\" is no address",
            "receipt.reply_to: \"x\" is no address",
            "receipt.to: line 1: syntax error",
            "receipt.subject: no message has date",
            "receipt.text_file: no message has data.nothing",
            "receipt.html_file: ",
        ] {
            assert!(found.iter().any(|fault| fault.contains(expected)), "{expected} is not in {found:#?}");
        }
        let none = faults(
            "[destinations.receipt]\ntype = \"smtp\"\nurl = \"env:ORDEM_TEST_NOT_SET\"\nfrom = \"Shop <a@b.example>\"\n\
             to = \"a@b.example\"\nsubject = \"x\"\n",
        );
        assert!(none.iter().any(|fault| fault.contains("a mail needs text")), "{none:#?}");
    }

    #[test]
    fn what_a_subject_cannot_be_made_of_is_named_with_its_key() {
        let found = faults(
            "[destinations.fan]\ntype = \"nats\"\nurl = \"file:DIR/url\"\nsubject = \"ordem.{{ kind }}\"\n",
        );
        assert!(found.iter().any(|fault| fault.contains("fan.url: file:")), "{found:#?}");
        assert!(found.iter().any(|fault| fault.contains("fan.subject: no message has kind")), "{found:#?}");
    }
}
