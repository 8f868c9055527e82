//! The provider's list: queries, pages, items and their keys.

use jiff::Timestamp;
use profile::{Call, Get, ItemOf, List, PageError, Profile};

use crate::support::{loja, loja_with};

const END: &str = "2026-01-03T00:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn list(profile: &Profile) -> &List {
    &profile.api().unwrap().lists[0]
}

fn get(profile: &Profile) -> &Get {
    profile.api().unwrap().get.as_ref().unwrap()
}

fn query(call: &Call) -> Vec<String> {
    call.query.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn a_call_carries_instant_limit_and_token() {
    let profile = loja_with(r#"items = "data""#, "items = \"data\"\nquery = { status = \"any\" }");
    let list = list(&profile);
    let call = list.call(at("2026-01-02T03:04:05Z"), at(END), Some("c2"), &[]);
    assert_eq!(
        query(&call),
        ["status=any", "updated_since=2026-01-02T03:04:05Z", "limit=100", "page_token=c2"]
    );
    assert_eq!(list.call(at("2026-01-02T03:04:05Z"), at(END), None, &[]).query.len(), 3);
}

#[test]
fn a_list_is_in_no_order_unless_the_profile_says_so() {
    let sorted = |profile: Profile| list(&profile).sorted;
    assert!(!sorted(loja()));
    assert!(!sorted(loja_with("\nsorted = false\n", "\n")));
    assert!(sorted(loja_with("sorted = false", "sorted = true")));
}

#[test]
fn an_id_stays_one_segment_of_the_path() {
    let profile = loja();
    let get = get(&profile);
    assert_eq!(get.path_of("ped_1", &[]), "/orders/ped_1");
    assert_eq!(get.path_of("../a b/ç?", &[]), "/orders/%2E%2E%2Fa%20b%2F%C3%A7%3F");
}

#[test]
fn a_page_gives_the_exact_bytes_of_its_items_and_the_next_token() {
    let profile = loja();
    let page = |body: &'static [u8]| list(&profile).page(None, body, &|_| None);
    let page = page(br#"{"data":[ {"id": "a"},{"id":"b"} ],"next":"c2","x":1}"#).unwrap();
    assert_eq!(page.items, [br#"{"id": "a"}"#, br#"{"id":"b"}"# as &[u8]]);
    assert_eq!(page.next.as_deref(), Some("c2"));
    for last in [r#"{"data":[],"next":null}"#, r#"{"data":[]}"#, r#"{"data":[],"next":""}"#] {
        let page = list(&profile).page(None, last.as_bytes(), &|_| None).unwrap();
        assert_eq!((page.items.len(), page.next), (0, None), "{last}");
    }
}

#[test]
fn an_answer_that_is_no_page_is_an_error() {
    let profile = loja();
    for body in ["", "[]", "{}", r#"{"data":null}"#, r#"{"data":{}}"#, "<html>", r#"{"data":[],"data":[1]}"#]
    {
        assert!(list(&profile).page(None, body.as_bytes(), &|_| None).is_err(), "{body}");
    }
    let odd_token = list(&profile).page(None, br#"{"data":[],"next":{}}"#, &|_| None);
    assert!(matches!(odd_token, Err(PageError::NotThere { .. })));
}

#[test]
fn one_resource_may_be_the_answer_or_stand_inside_it() {
    let profile = loja();
    let item = br#"{"id":"ped_1"}"#;
    assert_eq!(get(&profile).read(item).unwrap(), [item]);
    let inside = loja_with("path = \"/orders/{id}\"", "path = \"/orders/{id}\"\nitem = \"order\"");
    let answer = br#"{"order":{"id":"ped_1"}}"#;
    assert_eq!(get(&inside).read(answer).unwrap(), [item]);
    assert!(get(&inside).read(item).is_err());
    assert!(get(&profile).read(b"[]").is_err());
    let several = loja_with("path = \"/orders/{id}\"", "path = \"/orders/{id}\"\nitems = \"\"");
    assert_eq!(get(&several).read(br#"[{"id":1}, {"id":2}]"#).unwrap(), [br#"{"id":1}"#, br#"{"id":2}"#]);
    assert!(get(&several).read(item).is_err());
}

#[test]
fn the_same_state_read_again_has_the_same_key_and_any_change_another() {
    let profile = loja();
    let key = |item: &str| profile.api_envelope(&ItemOf::Item, item.as_bytes()).dedup_key.unwrap();
    let item =
        r#"{"id":"ped_1","status":"paid","sequence":7,"updated_at":"2026-01-02T03:04:05Z","total_cents":5}"#;
    assert!(key(item).starts_with("api#5:order|5:ped_1|5:seq:7|16:"), "{}", key(item));
    assert_eq!(key(item), key(&item.replace("\"total_cents\":5", "\"total_cents\":5,\"read_at\":1")));
    assert_eq!(key(item), key(&item.replace("03:04:05Z", "09:09:09Z")));
    for (from, to) in [("ped_1", "ped_2"), ("paid", "shipped"), (":7", ":8"), (":5}", ":6}")] {
        assert_ne!(key(item), key(&item.replace(from, to)), "{to}");
    }
    let undated = r#"{"id":"ped_1","status":"paid","updated_at":"2026-01-02T03:04:05Z"}"#;
    assert!(key(undated).contains("at:2026-01-02T03:04:05Z"), "{}", key(undated));
    assert_ne!(key(undated), key(&undated.replace("05Z", "06Z")));
}

#[test]
fn an_items_envelope_names_the_resource_and_an_odd_item_is_kept_raw() {
    let profile = loja();
    let envelope = profile.api_envelope(&ItemOf::Item, br#"{"id":820982911946154508,"status":"paid"}"#);
    assert_eq!(envelope.event_type.as_deref(), Some("api.order"));
    assert_eq!(envelope.resource_id.as_deref(), Some("820982911946154508"));
    assert_eq!(envelope.kind.as_deref(), Some("order"));
    let odd = profile.api_envelope(&ItemOf::Item, b"7");
    assert!(!odd.is_readable() && odd.dedup_key.unwrap().starts_with("sha256:"));
}

#[test]
fn a_cursor_moves_by_the_items_own_instant() {
    let profile = loja();
    let instant = |item| profile.item_instant(&ItemOf::Item, item);
    let told = instant(br#"{"id":"a","updated_at":"2026-01-02T03:04:05.5Z"}"#);
    assert_eq!(told.unwrap().to_string(), "2026-01-02T03:04:05.5Z");
    assert_eq!(instant(br#"{"id":"a"}"#), None);
    assert_eq!(instant(b"7"), None);
}
