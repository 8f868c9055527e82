//! The HTTP server: workers, each with its queue and its committers.

use std::sync::Arc;

use actix_web::{
    App, HttpServer,
    web::{self, Data},
};
use anyhow::Context as _;
use metrics::histogram;
use service::{Context, metrics as names};

use crate::{
    budget::Budget,
    committer::Committer,
    hint::Hint,
    ingest::{self, Ingest},
    pending::Queue,
    refused::Sampler,
    sources::{self, Sources},
};

/// What all workers share.
#[derive(Clone)]
struct Shared {
    context: Arc<Context>,
    sources: Arc<Sources>,
    sampler: Sampler,
    budget: Budget,
    hint: Hint,
}

/// Serves until the stop; requests in flight are finished.
///
/// # Errors
/// When the address cannot be listened on, or the server fails.
pub(crate) async fn serve(context: Context) -> anyhow::Result<()> {
    let settings = context.configured.settings.receiver.clone();
    let drain = context.configured.settings.service.drain_timeout.get();
    let shared = Shared {
        sources: Arc::new(sources::sources(&context.configured)?),
        budget: Budget::new(settings.bodies_bytes_max),
        sampler: Sampler::start(context.pool.clone(), settings.refused_keep),
        hint: Hint::start(context.pool.clone(), context.shutdown.clone()),
        context: Arc::new(context),
    };
    let context = shared.context.clone();
    let workers = workers(settings.workers);
    let server = HttpServer::new(move || App::new().app_data(Data::new(worker(&shared))).configure(routes))
        .workers(workers)
        .max_connections(settings.connections_max.div_ceil(workers))
        .client_request_timeout(settings.body_timeout.get())
        .shutdown_timeout(drain.as_secs().max(1))
        .disable_signals()
        .bind(settings.listen)
        .with_context(|| format!("cannot listen on receiver.listen = {}", settings.listen))?;
    let addresses = server.addrs();
    let server = server.run();
    let handle = server.handle();
    tracing::info!(?addresses, workers, sources = ?context.configured.sources.keys(), "receiving");
    context.health.started();
    let shutdown = context.shutdown.clone();
    tokio::spawn(async move {
        shutdown.triggered().await;
        handle.stop(true).await;
    });
    server.await.context("the HTTP server failed")
}

fn workers(configured: usize) -> usize {
    match configured {
        0 => std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1)),
        some => some,
    }
}

/// Runs on the worker's own thread: queue, committers and their connections stay there.
fn worker(shared: &Shared) -> Ingest {
    let settings = &shared.context.configured.settings.receiver;
    let queue = Queue::new(settings.queue_max);
    for _ in 0..settings.committers {
        let options = shared.context.database.clone();
        let committer = Committer::new(queue.clone(), options, shared.hint.clone(), settings.batch_max);
        actix_web::rt::spawn(committer.run());
    }
    Ingest {
        sources: shared.sources.clone(),
        queue,
        sampler: shared.sampler.clone(),
        budget: shared.budget.clone(),
        clock: shared.context.clock.clone(),
        settings: Arc::new(settings.clone()),
        request_seconds: histogram!(names::RECEIVER_SECONDS),
    }
}

/// Both spellings of the path answer directly: a redirect counts as a failure with most providers.
fn routes(config: &mut web::ServiceConfig) {
    for path in ["/webhooks/{source}", "/webhooks/{source}/"] {
        config.service(
            web::resource(path)
                .route(web::post().to(ingest::post))
                .route(web::head().to(ingest::head))
                .default_service(web::to(ingest::other)),
        );
    }
}
