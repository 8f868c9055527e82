//! The configuration: layers, sections, and the check of the whole.

mod bounds;
mod check;
mod configured;
mod dated;
mod destination;
mod destinations;
mod duration;
mod fault;
mod http;
mod layers;
mod ledger;
mod letters;
mod rate;
mod reach;
mod secret;
mod sections;
mod source_fit;
mod sources;
mod usable;

pub use configured::{Configured, Demand, Destination, Source};
pub use dated::DatedSecret;
pub use destination::{AfterDead, Care, DestinationSettings};
pub use duration::Span;
pub use fault::Fault;
pub use http::{
    Conflict, HeaderSource, HttpMethod, HttpSettings, JSON, Said, Signing, StatusRange, SuccessRule,
};
pub use ledger::LedgerSettings;
pub use rate::Rate;
pub use reach::{
    FileSettings, NatsSettings, Reach, SmtpSettings, SqlSettings, StdoutSettings, template_file,
};
pub use secret::SecretRef;
pub use sections::{
    AddressList, ApplierSettings, DatabaseSettings, LogFormat, NameList, PublisherSettings, ReceiverSettings,
    ReconcilerSettings, ServiceSettings, Settings, SourceSettings, TelemetrySettings,
};

#[cfg(test)]
mod tests;
