//! Lists in all the ways that providers page, bound and name them.

use jiff::Timestamp;
use profile::{Address, Auth, Call, Fault, ItemOf, List, Profile, Reading, Stored};

use crate::support::{LOJA, flow, parse};

const ITEM: &str = "[api.item]\nkind = \"order\"\nresource = \"id\"\nsequence = \"sequence\"\ninstant = \"updated_at\"\n\
                    status = { path = \"status\", map = { paid = \"paid\" } }\n";

/// The loja profile with another API.
fn with_api(api: &str) -> String {
    let before = LOJA.split("\n[api]").next().unwrap();
    format!("{before}\n{api}\n")
}

fn list_with(keys: &str) -> List {
    let api = format!("[api]\nauth = \"bearer\"\n[api.list]\npath = \"/orders\"\n{keys}\n{ITEM}");
    parse(&with_api(&api)).api().unwrap().lists[0].clone()
}

fn faults(api: &str) -> Vec<String> {
    let faults = Profile::parse("p.toml", &with_api(api)).unwrap_err();
    faults.iter().map(|Fault { key, reason, .. }| format!("{key}: {reason}")).collect()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn call(list: &List, page: Option<&str>) -> Call {
    let constants = [("account".to_owned(), "a/1".to_owned())];
    list.call(at("2026-01-02T03:04:05.5Z"), at("2026-01-02T23:00:00.5Z"), page, &constants)
}

fn query(call: &Call) -> String {
    call.query.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

fn no_header(_: &str) -> Option<String> {
    None
}

#[test]
fn bounds_are_spelt_outwards_in_every_format() {
    for (format, since, until) in [
        ("rfc3339", "2026-01-02T03:04:05.5Z", "2026-01-02T23:00:00.5Z"),
        ("epoch-seconds", "1767323045", "1767394801"),
        ("epoch-milliseconds", "1767323045500", "1767394800500"),
        // Whatever zone the provider counts its days in.
        ("date", "2026-01-01", "2026-01-03"),
        ("rfc2822", "Fri, 2 Jan 2026 03:04:05 +0000", "Fri, 2 Jan 2026 23:00:01 +0000"),
    ] {
        let list = list_with(&format!(
            "since_param = \"from\"\nsince_format = \"{format}\"\nuntil_param = \"to\"\nitems = \"data\"\n\
             paging = {{ style = \"token\", param = \"t\", next = \"next\" }}"
        ));
        assert_eq!(query(&call(&list, None)), format!("from={since}&to={until}"), "{format}");
    }
}

#[test]
fn a_post_takes_its_parameters_at_dotted_paths() {
    let list = list_with(
        "method = \"POST\"\nsince_param = \"query.filter.updated_at.start\"\nlimit_param = \"limit\"\nlimit = 5\n\
         items = \"orders\"\nbody = { query = { sort = \"UPDATED_AT\" }, ids = [\"x\"] }\nquery = { v = \"{constant:account}\" }\n\
         paging = { style = \"token\", param = \"cursor\", next = \"cursor\" }",
    );
    let call = call(&list, Some("c2"));
    assert_eq!(query(&call), "v=a/1");
    let body: serde_json::Value = serde_json::from_str(&call.body.unwrap()).unwrap();
    let wanted = serde_json::json!({
        "query": { "sort": "UPDATED_AT", "filter": { "updated_at": { "start": "2026-01-02T03:04:05.5Z" } } },
        "ids": ["x"], "limit": 5, "cursor": "c2"
    });
    assert_eq!(body, wanted);
}

#[test]
fn the_last_items_id_asks_for_what_follows_until_the_answer_says_that_there_is_no_more() {
    let list = list_with(
        "since_param = \"created[gte]\"\nsince_format = \"epoch-seconds\"\nitems = \"data\"\n\
         paging = { style = \"last-id\", param = \"starting_after\", id = \"id\", more = \"has_more\" }",
    );
    let next = |body: &str| list.page(None, body.as_bytes(), &no_header).map(|page| page.next);
    assert_eq!(next(r#"{"data":[{"id":"a"},{"id":"b"}],"has_more":true}"#).unwrap().as_deref(), Some("b"));
    assert_eq!(next(r#"{"data":[{"id":"a"}],"has_more":false}"#).unwrap(), None);
    assert_eq!(next(r#"{"data":[],"has_more":true}"#).unwrap(), None);
    // An answer that should tell and does not must not end the list.
    assert!(next(r#"{"data":[{"id":"a"}]}"#).is_err());
    assert_eq!(query(&call(&list, Some("b"))), "created[gte]=1767323045&starting_after=b");
}

#[test]
fn since_id_ends_with_an_empty_page() {
    let list = list_with(
        "since_param = \"updated_at_min\"\nitems = \"\"\nlimit = 2\n\
         paging = { style = \"last-id\", param = \"since_id\", id = \"id\" }",
    );
    let next = |body: &str| list.page(None, body.as_bytes(), &no_header).unwrap().next;
    assert_eq!(next(r#"[{"id":9007199254740993}]"#).as_deref(), Some("9007199254740993"));
    assert_eq!(next("[]"), None);
}

#[test]
fn a_next_address_is_followed_as_it_stands() {
    let link = list_with(
        "since_param = \"updated_at_min\"\nitems = \"orders\"\npaging = { style = \"link-header\" }",
    );
    let header = |name: &str| {
        (name == "link").then(|| r#"<https://x/orders?page_info=p1>; rel="previous", <https://x/orders?page_info=p3&limit=2>; rel="next""#.to_owned())
    };
    let page = link.page(None, br#"{"orders":[]}"#, &header).unwrap();
    assert_eq!(page.next.as_deref(), Some("https://x/orders?page_info=p3&limit=2"));
    let next = call(&link, page.next.as_deref());
    assert_eq!(next.to, Address::Named("https://x/orders?page_info=p3&limit=2".to_owned()));
    assert_eq!((next.query.len(), next.body), (0, None));
    assert_eq!(link.page(None, br#"{"orders":[]}"#, &no_header).unwrap().next, None);

    let url = list_with(
        "since_param = \"updated_at[GTE]\"\nitems = \"data\"\n\
         paging = { style = \"next-url\", next = \"meta.pagination.next\", more = \"meta.pagination.has_more\" }",
    );
    let next = |more: bool| {
        let body = format!(
            r#"{{"data":[],"meta":{{"pagination":{{"next":"https://x/?after=9","has_more":{more}}}}}}}"#
        );
        url.page(None, body.as_bytes(), &no_header).unwrap().next
    };
    assert_eq!(next(true).as_deref(), Some("https://x/?after=9"));
    assert_eq!(next(false), None);
}

#[test]
fn a_token_may_stand_in_a_header() {
    let list = list_with(
        "since_param = \"from\"\nitems = \"\"\n\
         paging = { style = \"header-token\", param = \"cursor\", header = \"X-Cursor-Next\" }",
    );
    let with = |value: &str| {
        let value = value.to_owned();
        list.page(None, b"[]", &move |name: &str| (name == "x-cursor-next").then(|| value.clone()))
            .unwrap()
            .next
    };
    assert_eq!(with("c9").as_deref(), Some("c9"));
    assert_eq!(with(" "), None);
}

#[test]
fn a_total_goes_before_a_short_page() {
    let list = list_with(
        "since_param = \"from\"\nitems = \"results\"\nlimit = 50\n\
         paging = { style = \"offset\", param = \"offset\", total = \"paging.total\" }",
    );
    // The provider's own maximum is smaller than what was asked for.
    let next = |page, total: u32| {
        let body = format!(r#"{{"results":[{{}},{{}}],"paging":{{"total":{total}}}}}"#);
        list.page(page, body.as_bytes(), &no_header).unwrap().next
    };
    assert_eq!(next(None, 3).as_deref(), Some("2"));
    assert_eq!(next(Some("2"), 4), None);
}

const EVENTS: &str = "[api]\nauth = \"bearer\"\n[api.list]\npath = \"/v1/events\"\nsince_param = \"since\"\nitems = \"data\"\n\
                      reader = \"event\"\npaging = { style = \"token\", param = \"t\", next = \"next\" }\n";

#[test]
fn an_event_of_a_list_is_the_event_of_the_webhook() {
    let profile = parse(&with_api(EVENTS));
    let event = br#"{"id":"evt_1","type":"order.paid","occurred_at":"2026-01-02T03:04:05Z","data":{"id":"ped_1","status":"paid","sequence":2,"updated_at":"2026-01-02T03:04:05Z"}}"#;
    let listed = profile.api_envelope(&ItemOf::Event, event);
    let sent = profile.envelopes(&profile::Incoming { body: event, headers: &() }).remove(0);
    assert_eq!(listed, sent);
    let stored = Stored {
        source: "loja",
        origin: domain::Origin::Reconcile,
        body: event,
        headers: &(),
        event_type: listed.event_type.as_deref(),
        event_key: "key",
        received_at: at("2026-01-03T00:00:00Z"),
    };
    let flow = flow();
    let reading = profile.read(&stored, &|_| Some(&flow));
    assert!(matches!(&reading, Reading::Fact { fact, .. } if fact.status == "paid"), "{reading:?}");
    assert_eq!(profile.item_instant(&ItemOf::Event, event), Some(at("2026-01-02T03:04:05Z")));
}

#[test]
fn several_lists_have_names_and_readers_of_their_own() {
    let second = "[api.items.refund]\nkind = \"refund\"\nresource = \"id\"\nsequence = \"n\"\ninstant = \"at\"\n\
                  status = { path = \"state\", map = { DONE = \"succeeded\" } }\n";
    let lists = |second_name: &str| {
        format!(
            "[api]\nauth = \"bearer\"\n[[api.lists]]\npath = \"/orders\"\nsince_param = \"s\"\nitems = \"data\"\n\
             paging = {{ style = \"page\", param = \"p\" }}\n\
             [[api.lists]]\nname = \"{second_name}\"\npath = \"/refunds\"\nsince_param = \"s\"\nitems = \"data\"\nreader = \"refund\"\n\
             paging = {{ style = \"page\", param = \"p\" }}\n{ITEM}{second}"
        )
    };
    let profile = parse(&with_api(&lists("refunds")));
    let api = profile.api().unwrap();
    assert_eq!(api.lists.iter().map(|list| list.name.as_str()).collect::<Vec<_>>(), ["/orders", "refunds"]);
    let of = &api.lists[1].items;
    let envelope = profile.api_envelope(of, br#"{"id":"r1","state":"DONE","at":"2026-01-02T03:04:05Z"}"#);
    assert_eq!(envelope.event_type.as_deref(), Some("api.refund"));
    assert_eq!(envelope.kind.as_deref(), Some("refund"));
    assert!(faults(&lists("/orders")).iter().any(|fault| fault.contains("is the name of another list")));
}

#[test]
fn what_cannot_work_is_refused_when_the_profile_is_loaded() {
    let api =
        |keys: &str| format!("[api]\nauth = \"bearer\"\n[api.list]\npath = \"/orders\"\n{keys}\n{ITEM}");
    let token = "paging = { style = \"token\", param = \"t\", next = \"next\" }";
    for (keys, reason) in [
        (format!("items = \"data\"\n{token}"), "api.list.since_param: is missing"),
        (format!("since_param = \"s\"\nitems = \"data\"\nwindow_max = \"1h\"\n{token}"), "needs until_param"),
        (format!("since_param = \"s\"\nitems = \"\"\n{token}"), "it holds nothing besides"),
        (
            format!("since_param = \"s\"\nitems = \"data\"\nreader = \"x\"\n{token}"),
            "there is no [api.items.x]",
        ),
        (format!("since_param = \"s\"\nitems = \"data\"\nbody = {{ a = 1 }}\n{token}"), "is of a POST"),
        (
            format!("since_param = \"s\"\nitems = \"data\"\nevery = \"0s\"\n{token}"),
            "is shorter than a second",
        ),
        (
            "since_param = \"s\"\nitems = \"data\"\nmethod = \"POST\"\npaging = { style = \"link-header\" }"
                .to_owned(),
            "that is no POST",
        ),
    ] {
        let faults = faults(&api(&keys));
        assert!(faults.iter().any(|fault| fault.contains(reason)), "{keys}\n{faults:?}");
    }
    let sliding = api(&format!("items = \"data\"\nsliding = \"48h\"\n{token}"));
    assert!(Profile::parse("p.toml", &with_api(&sliding)).is_ok());
    let reread = format!(
        "[api]\nauth = \"bearer\"\n[api.reread]\nstatuses = []\nevery = \"1h\"\nmax_age = \"720h\"\n{ITEM}"
    );
    let faults = faults(&reread);
    assert!(faults.iter().any(|fault| fault.contains("needs [api.get]")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.contains("nothing would be read again")), "{faults:?}");
}

#[test]
fn each_way_to_say_who_we_are_is_read_and_a_wrong_one_named() {
    let auth = |text: &str| {
        let api = format!("[api]\nauth = {text}\n{ITEM}");
        Profile::parse("p.toml", &with_api(&api)).map(|profile| profile.api().unwrap().auth.clone())
    };
    assert_eq!(auth("\"basic-user\"").unwrap(), Auth::BasicUser);
    assert!(matches!(
        auth("{ oauth = \"client-credentials\", path = \"/token\", credentials = \"body\" }").unwrap(),
        Auth::OAuth(_)
    ));
    let two = auth("{ headers = { x-key = \"api_user\", x-token = \"api_token\" } }").unwrap();
    assert!(two.needs_user());
    for wrong in [
        "{ oauth = \"password\", path = \"/token\" }",
        "{ oauth = \"client-credentials\", url = \"http://x/token\" }",
        "{ headers = { \"x key\" = \"api_user\" } }",
        "{ headers = { x-key = \"password\" } }",
    ] {
        assert!(auth(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn names_of_parameters_are_names() {
    for (key, text) in [("since_param", ""), ("until_param", "a b"), ("limit_param", " ")] {
        let list = format!(
            "[api]\nauth = \"bearer\"\n[api.list]\npath = \"/orders\"\nsince_param = \"from\"\nitems = \"data\"\n{key} = \"{text}\"\n\
             paging = {{ style = \"token\", param = \"t\", next = \"next\" }}\n{ITEM}"
        );
        let list = if key == "since_param" { list.replace("since_param = \"from\"\n", "") } else { list };
        let found = faults(&list);
        assert!(found[0].starts_with(&format!("api.list.{key}: is no name of a parameter")), "{found:?}");
    }
}
