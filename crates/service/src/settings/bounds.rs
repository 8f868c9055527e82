//! Bounds: numbers and lengths of time that would stop the work or never end it are refused.

use crate::settings::{Settings, check::Check};

impl Check<'_> {
    pub(crate) fn bounds(&mut self, settings: &Settings) {
        let at_least_one = [
            ("database.connections_max", settings.database.connections_max),
            ("receiver.committers", settings.receiver.committers),
            ("receiver.batch_max", settings.receiver.batch_max),
            ("receiver.queue_max", settings.receiver.queue_max),
            ("receiver.body_bytes_max", settings.receiver.body_bytes_max),
            ("receiver.connections_max", settings.receiver.connections_max),
            ("applier.batch_bytes_max", settings.applier.batch_bytes_max),
            ("applier.workers", settings.applier.workers),
            ("applier.batch_max", settings.applier.batch_max),
            ("applier.attempts_max", settings.applier.attempts_max as usize),
            ("publisher.batch_max", settings.publisher.batch_max),
            ("publisher.concurrency", settings.publisher.concurrency),
            ("publisher.attempts_max", settings.publisher.attempts_max as usize),
            ("reconciler.pages_max", settings.reconciler.pages_max as usize),
            ("reconciler.lookup_concurrency", settings.reconciler.lookup_concurrency),
            ("reconciler.attempts_max", settings.reconciler.attempts_max as usize),
        ];
        for (key, value) in at_least_one {
            if value == 0 {
                self.add(key, "must be at least 1");
            }
        }
        if settings.receiver.bodies_bytes_max < settings.receiver.body_bytes_max {
            self.add(
                "receiver.bodies_bytes_max",
                "must be at least receiver.body_bytes_max, or the largest body never fits",
            );
        }
        if settings.receiver.workers > 1024 || settings.applier.workers > 1024 {
            self.add(
                "receiver.workers",
                "more than 1024 workers of receiver or applier are refused: run more processes",
            );
        }
        let publisher = &settings.publisher;
        let waits = [
            ("receiver.body_timeout", settings.receiver.body_timeout),
            ("receiver.store_timeout", settings.receiver.store_timeout),
            ("applier.poll", settings.applier.poll),
            ("publisher.poll", publisher.poll),
            ("publisher.lease", publisher.lease),
            ("publisher.request_timeout", publisher.request_timeout),
            ("publisher.connect_timeout", publisher.connect_timeout),
            ("publisher.backoff_base", publisher.backoff_base),
            ("publisher.backoff_cap", publisher.backoff_cap),
            ("applier.backoff_base", settings.applier.backoff_base),
            ("applier.backoff_cap", settings.applier.backoff_cap),
            ("applier.retention", settings.applier.retention),
            ("applier.keys_retention", settings.applier.keys_retention),
            ("reconciler.connect_timeout", settings.reconciler.connect_timeout),
            ("service.drain_timeout", settings.service.drain_timeout),
            ("reconciler.every", settings.reconciler.every),
            ("reconciler.request_timeout", settings.reconciler.request_timeout),
            ("database.acquire_timeout", settings.database.acquire_timeout),
            ("database.statement_timeout", settings.database.statement_timeout),
        ];
        for (key, span) in waits {
            if span.get().is_zero() {
                self.add(key, "must be longer than 0");
            }
        }
        let applier = &settings.applier;
        if !applier.keys_retention.get().is_zero() && applier.keys_retention < applier.retention {
            self.add(
                "applier.keys_retention",
                "must be at least applier.retention, or what is still there could be stored and done again",
            );
        }
        if settings.receiver.listen.port() != 0
            && settings.receiver.listen.port() == settings.receiver.admin.port()
        {
            self.add("receiver.admin", "has the port of receiver.listen: give each its own");
        }
        if tracing_subscriber::EnvFilter::try_new(&settings.telemetry.log_filter).is_err() {
            let filter = &settings.telemetry.log_filter;
            self.add(
                "telemetry.log_filter",
                format!("\"{filter}\" is no filter: write it like info or info,applier=debug"),
            );
        }
    }
}
