//! The books in all orders of arrival: whatever comes, however often and in whatever batches, they balance and say what
//! happened.

use std::sync::Arc;

use applier::Worker;
use domain::Clock as _;
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, subsequence},
    test_runner::{Config, TestRunner},
};
use service::{Context, Health, Shutdown, SystemClock, settings::Configured};
use testkit::{Database, arrive};
use tokio::runtime::Runtime;

use super::{
    example, install,
    sale::{Sale, rekeyed},
};

/// A payment with refunds in parts and disputes, where the sums are small, so that full refunds are common.
fn sale() -> impl Strategy<Value = Sale> {
    let steps = ["needs_response", "under_review", "won", "lost"];
    let dispute = prop_oneof![Just(Vec::new()), subsequence(steps.to_vec(), 1..=4)];
    (any::<bool>(), 1i64..6, vec(1i64..4, 0..4), dispute).prop_map(|(is_invoice, total, parts, dispute)| {
        let mut sum = 0;
        let refunds = parts.into_iter().filter_map(|part| {
            let within = sum < total;
            sum = (sum + part).min(total);
            within.then_some(sum)
        });
        let refunds = refunds.collect();
        let paid_at = SystemClock.now().as_second() - 3600;
        Sale {
            name: String::new(),
            is_invoice,
            customer: 1,
            total,
            currency: "eur",
            refunds,
            dispute,
            paid_at,
        }
    })
}

/// Which events come in one batch after the other: each at least once, some again, some under another id.
fn arrivals(sales: &[Sale], again: &[(Index, bool)], order: &[Index]) -> Vec<Vec<u8>> {
    let events: Vec<String> = sales.iter().flat_map(Sale::events).collect();
    let mut all = events.clone();
    for (index, under_another_id) in again {
        let event = index.get(&events);
        all.push(if *under_another_id { rekeyed(event) } else { event.clone() });
    }
    for (place, index) in order.iter().enumerate() {
        let (from, to) = (place % all.len(), index.index(all.len()));
        all.swap(from, to);
    }
    all.into_iter().map(String::into_bytes).collect()
}

struct House {
    database: Database,
    configured: Arc<Configured>,
}

impl House {
    async fn apply(&self, batches: Vec<Vec<Vec<u8>>>) {
        let pool = self.database.pool();
        let mut worker = Worker::new(&Context {
            configured: self.configured.clone(),
            pool: pool.clone(),
            database: self.database.options(),
            clock: Arc::new(SystemClock),
            shutdown: Shutdown::new(),
            health: Health::new(),
        });
        let profile = &self.configured.profiles["stripe"];
        for batch in batches {
            let now = SystemClock.now();
            arrive(&pool.get().await.unwrap(), profile, "stripe", now, &batch).await;
            while worker.pass().await.unwrap().events > 0 {}
        }
    }

    async fn strings(&self, sql: &str) -> Vec<String> {
        let rows = self.database.client().await.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// What is booked of everything whose id begins so.
    async fn booked(&self, name: &str) -> Vec<String> {
        let sql = format!(
            "select concat_ws(' ', t.kind, t.id, paid_minor, refunded_minor, disputed_minor) from booking.positions t
              where starts_with(t.id, '{name}')"
        );
        let mut rows = self.strings(&sql).await;
        rows.sort();
        rows
    }
}

#[test]
fn in_any_order_repetition_and_batching_the_books_balance_and_are_the_truth() {
    let runtime = Runtime::new().unwrap();
    let house = runtime.block_on(async {
        let house = House {
            database: Database::create().await,
            configured: Arc::new(Configured::load(&example().join("config")).unwrap()),
        };
        install(&house.database).await;
        house
    });
    let mut case = 0;
    let case = std::cell::RefCell::new(&mut case);
    let strategy =
        (vec(sale(), 1..5), vec((any::<Index>(), any::<bool>()), 0..8), vec(any::<Index>(), 40), 1usize..12);
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&strategy, |(mut sales, again, order, batch)| {
        **case.borrow_mut() += 1;
        let prefix = format!("c{}x", case.borrow());
        for (at, sale) in sales.iter_mut().enumerate() {
            sale.name = format!("{prefix}{at}");
        }
        let events = arrivals(&sales, &again, &order);
        let mut right: Vec<String> = sales.iter().flat_map(Sale::booked).collect();
        right.sort();
        let cash: i64 = sales.iter().map(Sale::cash).sum();
        runtime.block_on(async {
            house.apply(events.chunks(batch).map(<[Vec<u8>]>::to_vec).collect()).await;
            prop_assert_eq!(house.booked(&prefix).await, right);
            let faults = "select concat_ws(' ', problem, subject, detail) from booking.ledger_faults";
            prop_assert_eq!(house.strings(faults).await, Vec::<String>::new());
            // By the entries themselves.
            let sql = format!(
                "select coalesce(sum(amount_minor), 0)::text from booking.entries join booking.transactions using (transaction_id)
                  where account = 'cash' and starts_with(id, '{prefix}')"
            );
            prop_assert_eq!(house.strings(&sql).await, [cash.to_string()]);
            let open = "select coalesce(last_error, '') from ordem.events where outcome is null or outcome = 'dead'";
            prop_assert_eq!(house.strings(open).await, Vec::<String>::new());
            Ok(())
        })
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}

#[tokio::test]
async fn the_check_of_the_books_finds_what_is_wrong() {
    let house = House {
        database: Database::create().await,
        configured: Arc::new(Configured::load(&example().join("config")).unwrap()),
    };
    install(&house.database).await;
    let paid_at = SystemClock.now().as_second() - 3600;
    let sale = Sale {
        name: "a".to_owned(),
        is_invoice: false,
        customer: 1,
        total: 5000,
        currency: "eur",
        refunds: vec![1000],
        dispute: vec!["needs_response"],
        paid_at,
    };
    house.apply(vec![sale.events().into_iter().map(String::into_bytes).collect()]).await;
    let problems = "select distinct problem from booking.ledger_faults order by 1";
    assert!(house.strings(problems).await.is_empty());
    // Each in a transaction that is rolled back; nobody but the owner of the server can do such things to the books.
    let wrongs = [
        ("update booking.entries set amount_minor = amount_minor + 1 where line = 1", "does not balance"),
        ("update booking.entries set currency = 'USD' where transaction_id = 1", "currencies are mixed"),
        ("delete from booking.entries where transaction_id = 1", "no entries"),
        (
            "update ordem_engine.resources set fields = fields || '{\"refunded_minor\": 2000}' where kind = 'order'",
            "booked is not what happened",
        ),
        (
            "update ordem_engine.resources set status = 'won' where kind = 'dispute'",
            "booked is not what happened",
        ),
        ("delete from booking.booked_effects", "effect without booking"),
        ("insert into booking.booked_effects values (gen_random_uuid(), now())", "booking without effect"),
    ];
    let client = house.database.client().await;
    for (wrong, problem) in wrongs {
        client.batch_execute("begin; set local session_replication_role = replica").await.unwrap();
        client.batch_execute(wrong).await.unwrap();
        let rows = client.query(problems, &[]).await.unwrap();
        let found: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        client.batch_execute("rollback").await.unwrap();
        assert!(found.iter().any(|told| told == problem), "{wrong}: {found:?}");
    }
    // The books themselves refuse what is not theirs to change.
    let refused = client.batch_execute("update booking.entries set amount_minor = 1").await.unwrap_err();
    assert!(refused.as_db_error().unwrap().message().contains("append only"));
}
