//! A line to the database that can be cut and slowed.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// Stands between a process and its database.
pub(crate) struct Line {
    port: u16,
    open: watch::Sender<bool>,
    delay: watch::Sender<Duration>,
}

impl Line {
    /// A line to the database at this address; returns it with the address to use instead.
    pub(crate) async fn to(url: &str) -> (Self, String) {
        let (before, after) = url.rsplit_once('@').unwrap();
        let (address, name) = after.split_once('/').unwrap();
        let far_port = address.rsplit_once(':').unwrap().1.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (open, is_open) = watch::channel(true);
        let (delay, is_delayed) = watch::channel(Duration::ZERO);
        tokio::spawn(accept(listener, far_port, is_open, is_delayed));
        let line = Self { port, open, delay };
        let url = format!("{before}@127.0.0.1:{}/{name}", line.port);
        (line, url)
    }

    /// Ends all connections and takes no new one, or takes them again.
    pub(crate) fn open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// Every answer of the database comes this much later.
    pub(crate) fn delay(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }
}

async fn accept(
    listener: TcpListener,
    far_port: u16,
    is_open: watch::Receiver<bool>,
    delay: watch::Receiver<Duration>,
) {
    while let Ok((near, _)) = listener.accept().await {
        if !*is_open.borrow() {
            continue;
        }
        let (mut cut, delay) = (is_open.clone(), delay.clone());
        tokio::spawn(async move {
            let Ok(far) = TcpStream::connect(("127.0.0.1", far_port)).await else { return };
            let ((near_from, near_to), (far_from, far_to)) = (near.into_split(), far.into_split());
            let undelayed = watch::channel(Duration::ZERO).1;
            tokio::select! {
                () = carry(near_from, far_to, undelayed) => {}
                () = carry(far_from, near_to, delay) => {}
                _ = cut.wait_for(|open| !open) => {}
            }
        });
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay: watch::Receiver<Duration>) {
    let mut part = vec![0; 65536];
    while let Ok(count) = from.read(&mut part).await {
        if count == 0 {
            return;
        }
        let delay = *delay.borrow();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&part[..count]).await.is_err() {
            return;
        }
    }
}
