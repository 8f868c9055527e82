//! Kind `smtp`, against `aiosmtpd`.

use std::{path::Path, time::Duration};

use testkit::{MailMood, SmtpServer, packages::or_skip};

use super::{Kind, Mood};

pub(crate) struct Smtp(pub(crate) SmtpServer);

impl Kind for Smtp {
    async fn start() -> Option<Self> {
        or_skip(SmtpServer::start()).map(Self)
    }

    fn section(&self, folder: &Path) -> String {
        std::fs::write(folder.join("url"), self.0.url()).unwrap();
        format!(
            "type = \"smtp\"\nurl = \"file:{}/url\"\nfrom = \"Loja <loja@example.com>\"\n\
             to = \"{{{{ data.fields.customer_email }}}}\"\nsubject = \"Receipt {{{{ data.id }}}}\"\n\
             text = \"Paid: {{{{ data.fields.total_minor | money('BRL') }}}}\"",
            folder.display()
        )
    }

    async fn set(&mut self, mood: Mood) -> bool {
        let willing = MailMood::default();
        self.0.set(&match mood {
            Mood::Willing => willing,
            Mood::RefusingForGood => MailMood { rcpt: Some("550 5.1.1 no such user"), ..willing },
            Mood::RefusingForNow => MailMood { rcpt: Some("451 4.7.1 try again later"), ..willing },
            Mood::Silent => MailMood { delay: Duration::from_secs(30), ..willing },
            Mood::Slow => MailMood { delay: Duration::from_millis(300), ..willing },
        });
        true
    }

    async fn arrived(&self) -> Vec<String> {
        self.0.mails().iter().map(|mail| mail.id().to_owned()).collect()
    }

    async fn down(&mut self) {
        self.0.kill();
    }

    async fn up(&mut self) {
        self.0.start_again();
    }
}
