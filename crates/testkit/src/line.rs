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

/// Stands between a process and its database; for a while it can be cut, or slow.
#[derive(Debug)]
pub struct Line {
    open: watch::Sender<bool>,
    delay: watch::Sender<Duration>,
}

impl Line {
    /// A line to the database at this address; returns it with the address to use instead.
    ///
    /// # Panics
    /// When the address has no user and no port, or no port is free here.
    pub async fn to(url: &str) -> (Self, String) {
        let (before, after) = url.rsplit_once('@').expect("a user");
        let (address, name) = after.split_once('/').expect("a database");
        let (_, far_port) = address.rsplit_once(':').expect("a port");
        let far_port = far_port.parse().expect("a port");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (open, is_open) = watch::channel(true);
        let (delay, is_delayed) = watch::channel(Duration::ZERO);
        tokio::spawn(accept(listener, far_port, is_open, is_delayed));
        (Self { open, delay }, format!("{before}@127.0.0.1:{port}/{name}"))
    }

    /// Ends all connections and takes no new one, or takes them again.
    pub fn open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// Every answer of the database comes this much later.
    pub fn delay(&self, delay: Duration) {
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
