//! The database goes away in the middle of a round and comes back.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use reconciler::End;
use tokio::{
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use crate::world::World;

/// A way to the database that can be shut.
#[derive(Clone)]
struct Gate {
    open: Arc<Mutex<bool>>,
    ways: Arc<Mutex<Vec<AbortHandle>>>,
    address: SocketAddr,
}

impl Gate {
    async fn before(host: String, port: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Self { open: Arc::new(Mutex::new(true)), ways: Arc::default(), address };
        let door = gate.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                if *door.open.lock().unwrap() {
                    let to = format!("{host}:{port}");
                    let way = tokio::spawn(async move {
                        let mut far = TcpStream::connect(to).await.unwrap();
                        let _either_way = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    });
                    door.ways.lock().unwrap().push(way.abort_handle());
                }
            }
        });
        gate
    }

    fn set_open(&self, open: bool) {
        *self.open.lock().unwrap() = open;
        if !open {
            self.ways.lock().unwrap().drain(..).for_each(|way| way.abort());
        }
    }
}

#[tokio::test]
async fn a_round_waits_for_the_database_and_goes_on_with_the_page_it_has() {
    let mut world = World::new().await;
    let url = world.database.url();
    let server = url.split(['@', '/']).nth(3).unwrap();
    let (host, port) = server.rsplit_once(':').unwrap();
    let gate = Gate::before(host.to_owned(), port.to_owned()).await;
    let options =
        db::Options { url: url.replace(server, &gate.address.to_string()), ..world.database.options() };
    let direct =
        std::mem::replace(&mut world.pool, db::pool(&options, tokio::runtime::Handle::current()).unwrap());
    world.store.fill(4);
    world.store.page_size(2);
    let shut = gate.clone();
    world.store.after_page(move |page, _| {
        if page == 1 {
            shut.set_open(false);
        }
    });
    let reader = world.reader();
    let (round, ()) = tokio::join!(reader.round(), async {
        testkit::eventually("the second page", 2, async || world.store.queries().len()).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        gate.set_open(true);
    });
    world.pool = direct;
    assert!(matches!(round.1, End::Complete) && round.0.stored == 4, "{round:?}");
    assert_eq!(world.store.queries().len(), 2, "no page was asked for again");
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:03Z");
}
