//! Kind `sql`: one call of a function in Ordem's own database, in the transaction that marks the effect as delivered. So
//! it takes effect exactly once, and the function needs no key.
//!
//! | What the function does | Meaning | Why |
//! |---|---|---|
//! | it returns | delivered | the mark is in the same commit |
//! | SQLSTATE class 22 (data) or 23 (constraint), also raised by itself | permanent | the message never changes, so it will be refused again |
//! | any other error: `raise exception` without an ERRCODE (P0001), a missing function or right, a deadlock, a time-out | transient | people, or the next attempt, may mend it |
//! | the lease was lost | nothing is called | another publisher has the effect |

use db::{
    Options, Pool,
    outbox::{FunctionName, HandOver, hand_over},
};
use futures_util::future::BoxFuture;
use service::settings::SqlSettings;

use crate::{
    answer::Answer,
    transport::{Delivery, Transport},
};

/// A destination that is a function.
pub(crate) struct Sql {
    function: FunctionName,
    pool: Pool,
}

impl Sql {
    /// With connections of its own, one for each call in flight: a slow function holds up no other destination.
    ///
    /// # Errors
    /// When the function's name or the database's address cannot be used.
    pub(crate) fn new(
        settings: &SqlSettings,
        database: &Options,
        concurrency: usize,
    ) -> anyhow::Result<Self> {
        let function = FunctionName::parse(&settings.function)
            .ok_or_else(|| anyhow::anyhow!("function: \"{}\" is no schema.name", settings.function))?;
        let options = Options { connections_max: concurrency, ..database.clone() };
        Ok(Self { function, pool: db::pool(&options, tokio::runtime::Handle::current())? })
    }

    async fn call(&self, delivery: Delivery<'_>) -> Answer {
        let handed = async {
            let mut client = self.pool.get().await?;
            let (function, effect) = (&self.function, delivery.effect);
            let call = HandOver { function, effect, started_at: delivery.now, time: delivery.time };
            hand_over(&mut client, call).await
        };
        match handed.await {
            Ok(true) => Answer { is_recorded: true, ..Answer::delivered() },
            Ok(false) => Answer::transient("the lease was lost before the call"),
            Err(error) if error.is_about_data() => Answer::permanent(&error.to_string()),
            Err(error) => Answer::transient(&error.to_string()),
        }
    }
}

impl Transport for Sql {
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(self.call(delivery))
    }
}
