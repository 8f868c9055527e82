//! Kind `smtp`: one mail for each effect.
//!
//! SMTP knows no idempotency key. Between the end of the text and the server's answer the connection may break, and
//! then nobody knows whether the mail is on its way: it is sent again, with the same `Message-ID`, date and text, by
//! which mail systems recognise it. That is the one case in which a mail can arrive twice.

mod connection;
mod mail;
mod server;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use service::{
    AddressGuard,
    settings::{Care, PublisherSettings, SmtpSettings},
};
use tokio::time::Instant;

use self::{
    connection::{Connection, Trouble},
    mail::{Letter, Stationery},
    server::{LiveServer, Server},
};
use crate::{
    answer::Answer,
    transport::{Delivery, Transport},
};

/// A connection that nobody used for so long is left; servers hang up after minutes.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// A mail server.
pub(crate) struct Smtp {
    stationery: Stationery,
    server: Mutex<LiveServer>,
    guard: AddressGuard,
    connect_timeout: Duration,
    idle: Mutex<Vec<Idle>>,
    idle_max: usize,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

impl Smtp {
    /// Reads the templates, the addresses and the server's address.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub(crate) fn new(
        settings: &SmtpSettings,
        care: &Care,
        publisher: &PublisherSettings,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            stationery: Stationery::of(settings)?,
            server: Mutex::new(LiveServer::resolve(settings)?),
            guard: AddressGuard::new(publisher.allow_addresses.0.clone()),
            connect_timeout: publisher.connect_timeout.get(),
            idle: Mutex::default(),
            idle_max: care.concurrency.unwrap_or(publisher.concurrency),
        })
    }

    async fn send(&self, delivery: Delivery<'_>) -> Answer {
        let letter = match self.stationery.letter(delivery.effect) {
            Ok(letter) => letter,
            Err(reason) => return Answer::permanent(&reason),
        };
        match tokio::time::timeout(delivery.time, self.hand_over(&letter)).await {
            Ok(Ok(said)) => {
                Answer { status: Some(said.code), excerpt: said.excerpt(), ..Answer::delivered() }
            }
            Ok(Err(trouble)) => trouble.answer(),
            Err(_) => Answer::transient("the mail server did not answer in time"),
        }
    }

    /// A kept connection may have been left by the server without a word: then a new one is made, once. That is safe
    /// until the text was sent.
    async fn hand_over(&self, letter: &Letter) -> Result<connection::Said, Trouble> {
        let server = self.server();
        if let Some(mut kept) = self.take(&server) {
            match kept.send(letter).await {
                Err(Trouble::Unheard(_)) => {}
                heard => return self.keep(kept, heard),
            }
        }
        let mut fresh = Connection::open(server, &self.guard, self.connect_timeout).await?;
        let heard = fresh.send(letter).await;
        self.keep(fresh, heard)
    }

    fn server(&self) -> Arc<Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).current()
    }

    fn take(&self, server: &Arc<Server>) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|kept| kept.since.elapsed() < IDLE_MAX && Arc::ptr_eq(kept.connection.server(), server));
        idle.pop().map(|kept| kept.connection)
    }

    /// Only a connection whose mail was taken is used again.
    fn keep<T>(&self, connection: Connection, heard: Result<T, Trouble>) -> Result<T, Trouble> {
        if heard.is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < self.idle_max {
                idle.push(Idle { connection, since: Instant::now() });
            }
        }
        heard
    }
}

impl Transport for Smtp {
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(self.send(delivery))
    }
}
