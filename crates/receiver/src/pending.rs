//! Requests that wait for their commit, one bounded queue for each worker.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::sources::Source;

/// One event, ready to be stored.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) event_id: Uuid,
    pub(crate) dedup_key: Option<String>,
    pub(crate) body_hash: i64,
    pub(crate) event_type: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) resource_id: Option<String>,
    pub(crate) body: Bytes,
}

/// One verified request with its events.
pub(crate) struct Pending {
    pub(crate) source: Arc<Source>,
    pub(crate) received_at: Timestamp,
    pub(crate) headers: Option<String>,
    pub(crate) events: Vec<Event>,
    pub(crate) stored: oneshot::Sender<Stored>,
}

/// What the committer says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// All its events are committed, now or before.
    Committed,
    /// Nobody knows: the provider has to send it again.
    Unavailable,
}

/// The queue of one worker. Single-threaded on purpose: queue, committer and connection live on the worker's
/// thread, so that handing over costs no wake-up of another one.
#[derive(Clone)]
pub(crate) struct Queue {
    requests: Rc<RefCell<VecDeque<Pending>>>,
    arrived: Rc<Notify>,
    requests_max: usize,
}

impl Queue {
    pub(crate) fn new(requests_max: usize) -> Self {
        Self { requests: Rc::default(), arrived: Rc::default(), requests_max }
    }

    /// Adds a request; gives it back when the queue is full.
    pub(crate) fn push(&self, request: Pending) -> Result<(), Pending> {
        let mut requests = self.requests.borrow_mut();
        if requests.len() >= self.requests_max {
            return Err(request);
        }
        requests.push_back(request);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits for requests and takes as many as make up to `events_max` events, at least one request.
    pub(crate) async fn take(&self, events_max: usize) -> Vec<Pending> {
        loop {
            let taken = self.take_now(events_max);
            if !taken.is_empty() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }

    fn take_now(&self, events_max: usize) -> Vec<Pending> {
        let mut requests = self.requests.borrow_mut();
        let mut events = 0;
        let mut count = 0;
        for request in requests.iter() {
            events += request.events.len();
            if count > 0 && events > events_max {
                break;
            }
            count += 1;
        }
        let taken = requests.drain(..count).collect();
        if !requests.is_empty() {
            // Another committer of this worker may go on at once.
            self.arrived.notify_one();
        }
        taken
    }

    /// Requests waiting.
    pub(crate) fn len(&self) -> usize {
        self.requests.borrow().len()
    }
}
