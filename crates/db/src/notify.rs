//! `LISTEN` and `NOTIFY`: a hint that there is work, never the truth about it.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Client, NoTls, config::SslMode};

use crate::{Options, Result, tls};

/// What can be listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// New rows in the inbox queue.
    Inbox,
    /// New rows in the effect queue.
    Effects,
    /// New look-ups.
    Lookups,
}

impl Channel {
    /// The name in PostgreSQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "ordem_inbox",
            Self::Effects => "ordem_effects",
            Self::Lookups => "ordem_lookups",
        }
    }

    /// Wakes all listeners. Call it outside hot inserts: committing a notification takes one lock for the
    /// whole server.
    ///
    /// # Errors
    /// When the database refuses or is away.
    pub async fn notify(self, client: &Client) -> Result<()> {
        client.execute("select pg_notify($1, '')", &[&self.as_str()]).await?;
        Ok(())
    }
}

/// Wakes a loop when the database says that there may be work.
///
/// It keeps its own connection and opens it again when it breaks; until then the loop's poll is all there is.
#[derive(Debug)]
pub struct Listener {
    woken: watch::Receiver<u64>,
    task: tokio::task::JoinHandle<()>,
}

impl Listener {
    /// Starts listening in the background.
    #[allow(clippy::disallowed_methods, reason = "the listener owns and ends this task itself")]
    pub fn start(options: Options, channel: Channel) -> Self {
        let (wake, woken) = watch::channel(0);
        let task = tokio::spawn(async move {
            loop {
                if let Err(error) = listen(&options, channel, &wake).await {
                    tracing::debug!(%error, channel = channel.as_str(), "listening broke off, trying again");
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        Self { woken, task }
    }

    /// Waits for a notification that came since the last call, at most this long.
    pub async fn wait(&mut self, at_most: Duration) {
        let _either_way = tokio::time::timeout(at_most, self.woken.changed()).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(options: &Options, channel: Channel, wake: &watch::Sender<u64>) -> Result<()> {
    let mut config = options.config()?;
    config.application_name(format!("{} listener", options.application_name));
    if config.get_ssl_mode() == SslMode::Require {
        let (client, connection) = config.connect(tls::connector()?).await?;
        return drive(client, connection, channel, wake).await;
    }
    let (client, connection) = config.connect(NoTls).await?;
    drive(client, connection, channel, wake).await
}

async fn drive<S, T>(
    client: Client,
    mut connection: tokio_postgres::Connection<S, T>,
    channel: Channel,
    wake: &watch::Sender<u64>,
) -> Result<()>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    let command = format!("listen {}", channel.as_str());
    let started = client.batch_execute(&command);
    tokio::pin!(started);
    let mut listening = false;
    loop {
        tokio::select! {
            done = &mut started, if !listening => {
                done?;
                listening = true;
                // What was written before we listened counts as news.
                wake.send_modify(|count| *count = count.wrapping_add(1));
            }
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(_))) => wake.send_modify(|count| *count = count.wrapping_add(1)),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Ok(()),
            }
        }
    }
}
