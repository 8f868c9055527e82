//! Plays the steps of a case and keeps what was seen.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::future::{join, join_all};
use serde_json::Value;
use testkit::Line;
use tokio::{task::JoinHandle, time::Instant};
use tokio_postgres::Client;
use uuid::Uuid;

use super::{
    case::{Case, Delivery, Step},
    receiver::Receiver,
    rows::Rows,
    stage::Stage,
    wire::{self, Answer},
};

/// Turns of five seconds that an event may wait.
const WAITS_MAX: u32 = 200;

/// Events that came together: by one step, or by one round of the reconciler.
pub(crate) struct Group {
    pub(crate) answers: Vec<Answer>,
    /// For each event that the case counts, the place of its delivery in `answers`.
    pub(crate) entries: Vec<usize>,
    /// The orders that the API told of; then there are no answers.
    pub(crate) told: Option<Vec<String>>,
    pub(crate) rows: Vec<(Uuid, String)>,
    /// Whether all its deliveries share one expectation.
    pub(crate) is_one_entry: bool,
}

/// All that was seen.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) groups: Vec<Group>,
    pub(crate) outcomes: HashMap<Uuid, String>,
    /// Why events ended so, where that is told.
    pub(crate) reasons: HashMap<Uuid, String>,
    pub(crate) peak_memory_mib: Option<u64>,
    /// The rows after each step, counted from one, where the case asks for them.
    pub(crate) after: HashMap<usize, Rows>,
    /// How long each order that has a limit took to appear.
    pub(crate) appeared: HashMap<String, Duration>,
}

pub(crate) struct Play<'a> {
    case: &'a Case,
    pub(crate) stage: Stage<'a>,
    pub(crate) seen: Seen,
    known: HashSet<Uuid>,
    /// A receiver of the case's own, where it needs one.
    receiver: Option<Receiver>,
    /// Receivers of other regions.
    regions: HashMap<String, Receiver>,
    pub(crate) line: Option<Line>,
    pub(crate) held: Option<Client>,
    pub(crate) transaction: Option<Client>,
    publishing: Vec<JoinHandle<()>>,
}

impl<'a> Play<'a> {
    pub(crate) async fn new(case: &'a Case, stage: Stage<'a>) -> Self {
        let mut play = Self {
            case,
            stage,
            seen: Seen::default(),
            known: HashSet::new(),
            receiver: None,
            regions: HashMap::new(),
            line: None,
            held: None,
            transaction: None,
            publishing: Vec::new(),
        };
        play.start_receiver().await;
        play
    }

    async fn start_receiver(&mut self) {
        let house = self.stage.house;
        let needs_line = self.case.has_fault("database_down") || self.case.has_fault("slow_database");
        if needs_line {
            let (line, url) = Line::to(&house.database.url()).await;
            let pool = [("ORDEM__DATABASE__CONNECTIONS_MAX", "2"), ("ORDEM__RECEIVER__WORKERS", "2")];
            let environment: &[_] = if self.case.has_fault("pool_size") { &pool } else { &[] };
            self.receiver = Some(house.another_receiver(&url, environment).await);
            self.line = Some(line);
        } else if self.measures_receiver() {
            self.receiver = Some(house.another_receiver(&house.database.url(), &[]).await);
        } else if self.case.clock.is_some() || !self.case.source.is_shared() {
            self.receiver = Some(self.stage.receiver().await);
        }
    }

    fn measures_receiver(&self) -> bool {
        self.case.expect.get("peak_memory_mib_under").is_some() && !self.case.has_destination()
    }

    /// Plays all steps.
    pub(crate) async fn run(mut self) -> (Stage<'a>, Seen) {
        let mut api_answers: Vec<&Value> = Vec::new();
        for (at, step) in self.case.steps.iter().enumerate() {
            match step {
                Step::Api(answer) => api_answers.push(answer),
                Step::Advance(seconds) => {
                    self.stage.clock.advance_seconds(*seconds);
                    // A pause between the pages of one reading belongs to it.
                    if api_answers.is_empty() {
                        self.settle().await;
                    }
                }
                other => {
                    if !matches!(other, Step::Resource(_)) {
                        self.read_lists().await;
                    }
                    self.reconcile(&std::mem::take(&mut api_answers)).await;
                    self.step(other).await;
                }
            }
            if self.case.expect.get("after_step").is_some() {
                let rows = Rows::read(&self.stage.house.client, self.stage.source).await;
                self.seen.after.insert(at + 1, rows);
            }
        }
        self.reconcile(&api_answers).await;
        self.read_lists().await;
        self.finish().await;
        (self.stage, self.seen)
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Deliver(delivery) => self.deliver(vec![delivery.clone()], false).await,
            Step::Parallel(deliveries) => self.deliver(deliveries.clone(), false).await,
            Step::ParallelSame { times, delivery } => {
                let source = &self.case.source;
                let all = (0..*times).map(|n| Delivery::numbered(delivery, n, source)).collect();
                self.deliver(all, true).await;
            }
            Step::Fault(fault) => self.fault(fault).await,
            Step::Resource(answer) => {
                self.stage.api.script_resource(answer, self.case.source.is_shared());
                self.settle().await;
            }
            Step::Advance(_) | Step::Api(_) | Step::Destination | Step::Unknown => {}
        }
    }

    async fn deliver(&mut self, deliveries: Vec<Delivery>, is_one_entry: bool) {
        self.start_regions(&deliveries).await;
        let sending = join_all(deliveries.iter().map(|delivery| {
            let (port, path) = self.address(delivery);
            async move { wire::send(port, &path, delivery).await }
        }));
        let answers = sending.await;
        let events = deliveries.iter().enumerate();
        let entries = events
            .flat_map(|(at, delivery)| std::iter::repeat_n(at, self.stage.events_in(delivery)))
            .collect();
        let rows = self.arrivals().await;
        self.seen.groups.push(Group { answers, entries, told: None, rows, is_one_entry });
        self.settle().await;
    }

    /// A prefix before `/webhooks` is another region's proxy; an account below a source is a source of its own.
    fn address(&self, delivery: &Delivery) -> (u16, String) {
        let home = self.receiver.as_ref().unwrap_or(&self.stage.house.receiver);
        let (region, path) = split_region(&delivery.path);
        let path = path.replace("/webhooks/loja/conta-", "/webhooks/conta-");
        (self.regions.get(region).unwrap_or(home).port, path)
    }

    async fn start_regions(&mut self, deliveries: &[Delivery]) {
        for delivery in deliveries {
            let (region, _) = split_region(&delivery.path);
            if !region.is_empty() && !self.regions.contains_key(region) {
                let house = self.stage.house;
                let receiver = house.another_receiver(&house.database.url(), &[]).await;
                self.regions.insert(region.to_owned(), receiver);
            }
        }
    }

    pub(crate) async fn arrivals(&mut self) -> Vec<(Uuid, String)> {
        let rows = self.stage.arrived(&self.known).await;
        self.known.extend(rows.iter().map(|(id, _)| *id));
        rows
    }

    /// Applies and publishes what is due, unless an order's lock is held by the case.
    pub(crate) async fn settle(&mut self) {
        if self.held.is_some() {
            return;
        }
        self.stage.apply().await;
        // What is not scripted yet is not asked for yet.
        while self.stage.api.has_resource() && self.stage.look_up().await > 0 {
            self.stage.apply().await;
        }
        if self.case.has_destination() && !self.publisher_is_a_process() {
            self.publishing.extend(self.stage.publish().await);
        }
    }

    fn publisher_is_a_process(&self) -> bool {
        self.case.expect.get("peak_memory_mib_under").is_some()
    }

    /// Reads the provider's lists where answers are left that no event waits for.
    async fn read_lists(&mut self) {
        let is_loja = self.case.source.is_shared();
        if is_loja || self.stage.waiting().await > 0 || !self.stage.has_lists() {
            return;
        }
        self.stage.api.reads_lists(true);
        for _ in 0..10 {
            if self.stage.api.never_asked().is_empty() && !self.stage.api.is_within_a_list() {
                break;
            }
            self.stage.reconcile().await;
            let told: Vec<String> =
                self.stage.api.items().iter().map(|item| self.stage.resource_of(item)).collect();
            self.note_told(told).await;
            self.stage.clock.advance_seconds(1);
        }
        self.stage.api.reads_lists(false);
    }

    async fn note_told(&mut self, told: Vec<String>) {
        let rows = self.arrivals().await;
        let entries = vec![0; told.len()];
        let group = Group { answers: Vec::new(), entries, told: Some(told), rows, is_one_entry: false };
        self.seen.groups.push(group);
        self.settle().await;
    }

    /// Rounds of the reconciler until the API has said all it had to say.
    async fn reconcile(&mut self, answers: &[&Value]) {
        self.stage.api.script(answers);
        for _ in 0..10 {
            if self.stage.api.is_done() {
                return;
            }
            self.stage.reconcile().await;
            let told = self.stage.api.served();
            self.note_told(told).await;
        }
        panic!("{}: the reconciler does not ask for all that is scripted", self.case.id);
    }

    async fn finish(&mut self) {
        if self.held.is_some() {
            self.wait_behind_the_lock().await;
        }
        self.held = None;
        self.settle().await;
        self.wait_for_all().await;
        if self.publisher_is_a_process() && self.case.has_destination() {
            self.publish_by_a_process().await;
        } else if self.measures_receiver() {
            let receiver = self.receiver.as_ref().unwrap();
            self.seen.peak_memory_mib = receiver.pid().and_then(peak_memory_mib);
        }
        self.stage.destination.release();
        for round in self.publishing.drain(..) {
            round.await.unwrap();
        }
        self.note_outcomes().await;
    }

    /// Events wait for the provider's answer, or for another worker, as long as they would: only the clock goes faster.
    async fn wait_for_all(&mut self) {
        for _ in 0..WAITS_MAX {
            if self.stage.waiting().await == 0 {
                return;
            }
            self.stage.clock.advance_seconds(5);
            self.settle().await;
            while self.stage.look_up().await > 0 {
                self.settle().await;
            }
        }
    }

    /// Workers run into the lock that the case holds; others' orders must not wait behind it. At the end the lock is
    /// released, and the workers finish what they began.
    async fn wait_behind_the_lock(&mut self) {
        let limits = self.case.expect["within_seconds"].as_object().cloned().unwrap_or_default();
        let house = self.stage.house;
        let is_over = AtomicBool::new(false);
        let (seen, held) = (&mut self.seen, &mut self.held);
        let looking = async {
            let began = Instant::now();
            for (order, seconds) in &limits {
                let limit = Duration::from_secs(seconds.as_u64().unwrap());
                let sql = format!("select count(*) from ordem.orders where id = '{order}'");
                while house.count(&sql).await == 0 && began.elapsed() <= limit {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                seen.appeared.insert(order.clone(), began.elapsed());
            }
            *held = None;
            is_over.store(true, Ordering::SeqCst);
        };
        let passing = join_all(self.stage.workers.iter_mut().map(|worker| async {
            while !is_over.load(Ordering::SeqCst) {
                worker.pass().await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }));
        join(looking, passing).await;
    }

    async fn publish_by_a_process(&mut self) {
        let stage = &self.stage;
        let environment = [("ORDEM_TEST_CONFIG", stage.config.path().display().to_string())];
        let daemon = testkit::Daemon::start("publisher", &stage.house.database.url(), &environment);
        let waiting = "select count(*) from ordem.effects where state = 'pending'";
        testkit::eventually("delivered by the process", 0, || stage.house.count(waiting)).await;
        self.seen.peak_memory_mib = peak_memory_mib(daemon.pid());
    }

    pub(crate) async fn note_outcomes(&mut self) {
        // A test is one kind of what the files call ignored: authentic, not for us.
        let sql =
            "select event_id, case outcome when 'test' then 'ignored' else coalesce(outcome, 'pending') end,
                          last_error
                     from ordem.events";
        for row in self.stage.house.client.query(sql, &[]).await.unwrap() {
            self.seen.outcomes.insert(row.get(0), row.get(1));
            self.seen.reasons.extend(row.get::<_, Option<String>>(2).map(|reason| (row.get(0), reason)));
        }
    }
}

fn split_region(path: &str) -> (&str, &str) {
    path.find("/webhooks").map_or(("", path), |at| path.split_at(at))
}

/// What the code of an optimised daemon takes in memory (14 MiB were measured, of 25 MiB in all, in the case of the gzip bomb), in KiB.
const OPTIMISED_CODE_KIB: u64 = 16 * 1024;

/// The most memory that a process ever had, in MiB; nothing where the system does not say. The code of an unoptimised
/// build is several times as large: what it takes counts as much as an optimised one's.
fn peak_memory_mib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = |key: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().trim_end_matches(" kB").trim().parse().ok()
    };
    let (peak, code) = (kib("VmHWM:")?, kib("RssFile:")?);
    let excess = if cfg!(debug_assertions) { code.saturating_sub(OPTIMISED_CODE_KIB) } else { 0 };
    Some((peak - excess).div_ceil(1024))
}
