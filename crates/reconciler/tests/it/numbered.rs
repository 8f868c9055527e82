//! Pages that are counted, by number or offset, of lists that change while they are read.

use reconciler::End;
use serde_json::{Value, json};

use crate::{
    api::{Api, Asked, Says, ok},
    stage::{ITEM, Stage},
};

/// Three to a page.
const SIZE: usize = 3;

/// Orders, and what they do while they are read.
struct Shop {
    /// Id, instant and number of changes.
    rows: Vec<(String, String, usize)>,
    calls: usize,
}

impl Shop {
    /// As many orders, one a minute.
    fn with(orders: usize) -> Self {
        Self::at((0..orders).map(|at| format!("2026-01-02T02:{at:02}:00Z")))
    }

    fn at(instants: impl Iterator<Item = String>) -> Self {
        let rows = instants.enumerate().map(|(at, instant)| (format!("o{at:02}"), instant, 1)).collect();
        Self { rows, calls: 0 }
    }

    /// One page, by the instant of change, `skip` items from the first.
    fn page(&mut self, asked: &Asked, skip: usize) -> Says {
        self.calls += 1;
        let since = asked.param("since").unwrap().to_owned();
        self.rows.sort_by(|a, b| a.1.cmp(&b.1));
        let data = self.rows.iter().filter(|row| row.1 >= since).skip(skip).take(SIZE);
        let data: Vec<Value> = data
            .map(|(id, instant, sequence)| json!({ "id": id, "status": "paid", "sequence": sequence, "updated_at": instant }))
            .collect();
        ok(json!({ "data": data }))
    }

    /// The oldest order changes, and moves to the end.
    fn change(&mut self, minute: usize) {
        self.rows[0].1 = format!("2026-01-02T03:{minute:02}:00Z");
        self.rows[0].2 += 1;
    }
}

fn number(asked: &Asked) -> usize {
    (asked.param("page").unwrap().parse::<usize>().unwrap() - 1) * SIZE
}

fn list(sorted: bool, paging: &str) -> String {
    format!(
        "[api]\nauth = \"bearer\"\n[api.list]\npath = \"/orders\"\nsince_param = \"since\"\nitems = \"data\"\nlimit = {SIZE}\n\
         limit_param = \"n\"\nsorted = {sorted}\npaging = {paging}\n{ITEM}"
    )
}

const BY_PAGE: &str = "{ style = \"page\", param = \"page\" }";

async fn ids(stage: &Stage) -> usize {
    stage.texts("select distinct resource_id from ordem_engine.inbox_events").await.len()
}

#[tokio::test]
async fn what_moves_to_the_end_of_numbered_pages_pulls_nothing_past_the_reader() {
    let mut shop = Shop::with(10);
    let api = Api::start(move |asked| {
        let page = shop.page(asked, number(asked));
        // An order of the first page changes while the rest is read.
        if shop.calls == 1 {
            shop.change(0);
        }
        page
    })
    .await;
    let stage = Stage::new(&list(true, BY_PAGE), &api.url, "t").await;
    stage.round().await;
    assert_eq!(ids(&stage).await, 10);
    assert_eq!(stage.cursors().await, ["/orders 02 03:00:00"]);
}

#[tokio::test]
async fn what_is_skipped_by_count_moves_under_the_reader_as_little() {
    for sorted in [true, false] {
        let mut shop = Shop::with(10);
        let api = Api::start(move |asked| {
            let skip = asked.param("skip").map_or(0, |skip| skip.parse().unwrap());
            let page = shop.page(asked, skip);
            if [1, 2].contains(&shop.calls) {
                shop.change(shop.calls);
            }
            page
        })
        .await;
        let stage =
            Stage::new(&list(sorted, "{ style = \"offset\", param = \"skip\" }"), &api.url, "t").await;
        stage.round().await;
        assert_eq!(ids(&stage).await, 10, "sorted = {sorted}");
        assert_eq!(stage.cursors().await, ["/orders 02 03:02:00"]);
    }
}

#[tokio::test]
async fn numbered_pages_in_no_known_order_are_read_again_until_nothing_was_passed_over() {
    let mut shop = Shop::with(10);
    let api = Api::start(move |asked| {
        let page = shop.page(asked, number(asked));
        if shop.calls == 1 {
            shop.change(0);
        }
        page
    })
    .await;
    let stage = Stage::new(&list(false, BY_PAGE), &api.url, "t").await;
    let pulled = stage.round().await;
    assert_eq!((ids(&stage).await, pulled.stored), (10, 11));
    // The first reading, one that brought what it had passed over, one that brought nothing.
    assert_eq!(api.asked().iter().filter(|asked| asked.param("page") == Some("1")).count(), 3);
    assert_eq!(stage.cursors().await, ["/orders 02 03:00:00"]);
}

#[tokio::test]
async fn one_page_needs_no_second_reading() {
    let mut shop = Shop::with(2);
    let api = Api::start(move |asked| shop.page(asked, number(asked))).await;
    let stage = Stage::new(&list(false, BY_PAGE), &api.url, "t").await;
    assert_eq!(stage.round().await.stored, 2);
    assert_eq!(api.asked().len(), 1);
    assert_eq!(stage.cursors().await, ["/orders 02 02:01:00"]);
}

#[tokio::test]
async fn more_than_a_page_within_a_second_is_counted_and_read_again() {
    let second = "2026-01-02T02:00:00Z".to_owned();
    let later = (1..6).map(|minute| format!("2026-01-02T02:{minute:02}:00Z"));
    let mut shop = Shop::at(std::iter::repeat_n(second, 8).chain(later));
    let api = Api::start(move |asked| {
        let page = shop.page(asked, number(asked));
        if [2, 6].contains(&shop.calls) {
            shop.change(shop.calls);
        }
        page
    })
    .await;
    let stage = Stage::new(&list(true, BY_PAGE), &api.url, "t").await;
    stage.round().await;
    assert_eq!(ids(&stage).await, 13);
    assert_eq!(stage.cursors().await, ["/orders 02 03:06:00"]);
}

#[tokio::test]
async fn the_cursor_waits_while_a_list_goes_on_moving_under_its_numbers() {
    let mut shop = Shop::with(9);
    let api = Api::start(move |asked| {
        let page = shop.page(asked, number(asked));
        // With each page of the first round one order changes.
        if asked.param("page") == Some("1") && shop.calls < 10 {
            shop.change(shop.calls);
        }
        page
    })
    .await;
    let stage = Stage::new(&list(false, BY_PAGE), &api.url, "t").await;
    stage.round().await;
    assert_eq!(api.asked().len(), 3 * 4, "four pages, the last of them empty, three times");
    assert_eq!(stage.cursors().await, ["/orders 01 03:10:00"]);
    stage.round().await;
    assert_eq!(ids(&stage).await, 9);
    assert_eq!(stage.cursors().await, ["/orders 02 03:09:00"]);
}

#[tokio::test]
async fn a_provider_that_gives_one_page_for_every_number_is_found_out() {
    for sorted in [true, false] {
        let mut shop = Shop::at(std::iter::repeat_n("2026-01-02T02:00:00Z".to_owned(), 3));
        let api = Api::start(move |asked| shop.page(asked, 0)).await;
        let stage = Stage::new(&list(sorted, BY_PAGE), &api.url, "t").await;
        let (pulled, end) = stage.reader().round().await;
        let End::Failed(failure) = end else { panic!("{end:?} after {pulled:?}") };
        assert!(failure.to_string().contains("read before"), "{failure}");
        assert!(api.asked().len() < 6, "{}", api.asked().len());
    }
}
