//! From the tables of a profile to its API: lists, paging, look-ups by id, rates.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::api::{Api, Get, Reread};
use crate::auth::{Auth, TokenEndpoint};
use crate::compile::{Builder, span};
use crate::list::{Bound, ItemOf, List};
use crate::page::PageShape;
use crate::paging::Paging;
use crate::rate::Rate;
use crate::shape::Shape;
use crate::spec::{ApiSpec, ListMethod, ListSpec, PagingSpec, RateSpec, RereadSpec};

/// No length of time here is shorter.
const LENGTH_MIN: Duration = Duration::from_secs(1);

impl Builder<'_> {
    pub(crate) fn api(&mut self, spec: &ApiSpec, kind: &str) -> Option<Api> {
        for name in spec.headers.keys().chain(spec.auth.header_names()) {
            self.header_name("api", name);
        }
        self.auth(&spec.auth);
        let get = spec.get.as_ref().map(|get| {
            if !get.path.contains("{id}") {
                self.faults.add("api.get.path", "has no {id}");
            }
            if get.item.is_some() && get.items.is_some() {
                self.faults.add("api.get", "has both item and items");
            }
            let place = get.items.as_ref().or(get.item.as_ref()).map_or("", String::as_str);
            Get {
                path: self.path("api.get.path", &get.path),
                item: self.page("api.get.item", place),
                is_list: get.items.is_some(),
            }
        });
        if spec.list.is_some() && !spec.lists.is_empty() {
            self.faults.add("api.list", "stands beside [[api.lists]]: write either");
        }
        let one = spec.list.iter().map(|list| ("api.list".to_owned(), list));
        let many = spec.lists.iter().enumerate().map(|(at, list)| (format!("api.lists[{at}]"), list));
        let lists: Vec<_> = one.chain(many).map(|(key, list)| self.list(&key, list, spec, kind)).collect();
        let mut names = BTreeSet::new();
        for (at, list) in lists.iter().enumerate().filter(|(_, list)| !names.insert(&list.name)) {
            self.faults
                .add(format!("api.lists[{at}].name"), format!("{:?} is the name of another list", list.name));
        }
        let item_kind = spec.item.as_ref().and_then(|item| item.kind.as_deref()).unwrap_or(kind);
        let item = match &spec.item {
            Some(item) => Some(self.item("api.item", item, kind)?),
            None => None,
        };
        Some(Api {
            auth: spec.auth.clone(),
            headers: spec.headers.clone().into_iter().collect(),
            lists,
            reread: spec.reread.as_ref().and_then(|reread| self.reread(reread, item_kind, spec)),
            get,
            rate: self.rate(&spec.rate),
            event_type: format!("api.{item_kind}"),
            item,
        })
    }

    fn header_name(&mut self, key: &str, name: &str) {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        {
            self.faults.add(key, format!("{name:?} is not a header name"));
        }
    }

    fn auth(&mut self, auth: &Auth) {
        match auth {
            Auth::OAuth(oauth) => match &oauth.endpoint {
                TokenEndpoint::Path(path) => _ = self.path("api.auth.path", path),
                TokenEndpoint::Url(url) if !url.starts_with("https://") => {
                    self.faults.add("api.auth.url", format!("{url:?} does not start with https://"));
                }
                TokenEndpoint::Url(_) => {}
            },
            Auth::Headers(headers) if headers.is_empty() => self.faults.add("api.auth.headers", "is empty"),
            Auth::Headers(_) | Auth::Bearer | Auth::Basic | Auth::BasicUser | Auth::Header { .. } => {}
        }
    }

    fn list(&mut self, key: &str, spec: &ListSpec, api: &ApiSpec, kind: &str) -> List {
        if spec.limit == 0 {
            self.faults.add(format!("{key}.limit"), "must be at least 1");
        }
        for (name, param) in [
            ("since_param", &spec.since_param),
            ("until_param", &spec.until_param),
            ("limit_param", &spec.limit_param),
        ] {
            let is_name = |text: &str| {
                !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
            };
            if param.as_deref().is_some_and(|text| !is_name(text)) {
                self.faults
                    .add(format!("{key}.{name}"), "is no name of a parameter: it is empty or has blanks");
            }
        }
        let (paging, mut page) = self.paging(key, spec);
        page.items = (!spec.items.is_empty())
            .then(|| self.path_in(&format!("{key}.items"), &spec.items, &mut page.shape))
            .flatten();
        if page.items.is_none() && [&page.next, &page.more, &page.total].iter().any(|place| place.is_some()) {
            self.faults
                .add(format!("{key}.items"), "is empty, so the answer is a list: it holds nothing besides");
        }
        let post = spec.method == ListMethod::Post;
        if spec.body.is_some() && !post {
            self.faults.add(format!("{key}.body"), "is of a POST: set method = \"POST\"");
        }
        let list = List {
            name: spec.name.clone().unwrap_or_else(|| spec.path.clone()),
            path: self.path(&format!("{key}.path"), &spec.path),
            body: post.then(|| spec.body.clone().unwrap_or_default()),
            query: spec.query.clone().into_iter().collect(),
            since: spec.since_param.clone().map(|param| Bound { param, format: spec.since_format }),
            until: spec
                .until_param
                .clone()
                .map(|param| Bound { param, format: spec.until_format.unwrap_or(spec.since_format) }),
            limit_param: spec.limit_param.clone(),
            limit: spec.limit,
            paging,
            sorted: spec.sorted,
            items: self.item_of(key, spec, api, kind),
            window_max: self.length(key, "window_max", spec.window_max.as_deref()),
            retention: self.length(key, "retention", spec.retention.as_deref()),
            sliding: self.length(key, "sliding", spec.sliding.as_deref()),
            every: self.length(key, "every", spec.every.as_deref()),
            overlap: span(&format!("{key}.overlap"), spec.overlap.as_deref(), self.faults),
            lag: span(&format!("{key}.lag"), spec.lag.as_deref(), self.faults),
            page,
        };
        if list.window_max.is_some() && list.until.is_none() {
            self.faults.add(format!("{key}.window_max"), "needs until_param: nothing else ends a stretch");
        }
        if list.since.is_none() && list.sliding.is_none() {
            self.faults.add(
                format!("{key}.since_param"),
                "is missing: without a lower bound the whole list would be read each time (sliding says that it may)",
            );
        }
        list
    }

    /// A length of time that is not nothing.
    fn length(&mut self, key: &str, name: &str, text: Option<&str>) -> Option<Duration> {
        let key = format!("{key}.{name}");
        let length = span(&key, text, self.faults)?;
        if length < LENGTH_MIN {
            self.faults.add(key, "is shorter than a second");
        }
        Some(length)
    }

    fn item_of(&mut self, key: &str, spec: &ListSpec, api: &ApiSpec, kind: &str) -> ItemOf {
        match spec.reader.as_deref() {
            None => {
                if api.item.is_none() {
                    self.faults.add(format!("{key}.reader"), "is missing, and there is no [api.item]");
                }
                ItemOf::Item
            }
            Some("event") => ItemOf::Event,
            Some(name) => {
                let kind = api.item.as_ref().and_then(|item| item.kind.as_deref()).unwrap_or(kind);
                if api.item.is_some() && name == kind {
                    self.faults.add(
                        format!("{key}.reader"),
                        "has the name of [api.item]'s kind, and both would be stored under it: choose another",
                    );
                }
                if !api.items.contains_key(name) {
                    self.faults.add(format!("{key}.reader"), format!("there is no [api.items.{name}]"));
                }
                ItemOf::Named(name.to_owned())
            }
        }
    }

    fn paging(&mut self, key: &str, spec: &ListSpec) -> (Paging, PageShape) {
        let mut page = PageShape::default();
        let key = format!("{key}.paging");
        let mut place = |name: &str, path: Option<&String>, page: &mut PageShape| {
            path.and_then(|path| self.path_in(&format!("{key}.{name}"), path, &mut page.shape))
        };
        let paging = match &spec.paging {
            PagingSpec::Token(token) => {
                page.next = place("next", Some(&token.next), &mut page);
                page.more = place("more", token.more.as_ref(), &mut page);
                Paging::Token { param: token.param.clone() }
            }
            PagingSpec::HeaderToken(token) => {
                self.header_name(&format!("{key}.header"), &token.header);
                Paging::HeaderToken { param: token.param.clone(), header: token.header.to_ascii_lowercase() }
            }
            PagingSpec::LastId(last) => {
                page.more = place("more", last.more.as_ref(), &mut page);
                let mut shape = Shape::new();
                let id = self.path_in(&format!("{key}.id"), &last.id, &mut shape);
                page.id = id.map(|id| (shape, id));
                Paging::LastId { param: last.param.clone() }
            }
            PagingSpec::Page(numbered) => {
                page.more = place("more", numbered.more.as_ref(), &mut page);
                page.total = place("total", numbered.total.as_ref(), &mut page);
                Paging::Page { param: numbered.param.clone(), first: numbered.first }
            }
            PagingSpec::Offset(offset) => {
                page.more = place("more", offset.more.as_ref(), &mut page);
                page.total = place("total", offset.total.as_ref(), &mut page);
                Paging::Offset { param: offset.param.clone() }
            }
            PagingSpec::NextUrl(next) => {
                page.next = place("next", Some(&next.next), &mut page);
                page.more = place("more", next.more.as_ref(), &mut page);
                Paging::NextUrl
            }
            PagingSpec::LinkHeader(_) => Paging::LinkHeader,
        };
        if paging.is_address() && spec.method == ListMethod::Post {
            self.faults.add(key, "names pages by their address: that is no POST");
        }
        (paging, page)
    }

    fn reread(&mut self, spec: &RereadSpec, kind: &str, api: &ApiSpec) -> Option<Reread> {
        if api.get.is_none() || api.item.is_none() {
            self.faults.add("api.reread", "needs [api.get] and [api.item]");
        }
        if spec.statuses.is_empty() {
            self.faults.add("api.reread.statuses", "is empty: nothing would be read again");
        }
        Some(Reread {
            kind: spec.kind.clone().unwrap_or_else(|| kind.to_owned()),
            statuses: spec.statuses.clone(),
            every: self.length("api.reread", "every", Some(&spec.every))?,
            max_age: self.length("api.reread", "max_age", Some(&spec.max_age))?,
        })
    }

    fn rate(&mut self, spec: &RateSpec) -> Rate {
        for (name, header) in
            [("bucket", &spec.bucket), ("remaining", &spec.remaining), ("reset", &spec.reset)]
        {
            if let Some(header) = header {
                self.header_name(&format!("api.rate.{name}"), header);
            }
        }
        Rate {
            bucket: spec.bucket.clone(),
            remaining: spec.remaining.clone(),
            reset: spec.reset.clone(),
            reset_unit: spec.reset_unit,
            pause: span("api.rate.pause", spec.pause.as_deref(), self.faults),
        }
    }

    pub(crate) fn page(&mut self, key: &str, items: &str) -> PageShape {
        let mut page = PageShape::default();
        page.items = (!items.is_empty()).then(|| self.path_in(key, items, &mut page.shape)).flatten();
        page
    }
}
