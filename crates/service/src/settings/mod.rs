//! The configuration: layers, sections, and the check of the whole.

mod bounds;
mod check;
mod configured;
mod dated;
mod duration;
mod fault;
mod layers;
mod secret;
mod sections;
mod source_fit;
mod sources;
mod usable;

pub use configured::{Configured, Demand, Destination, Source};
pub use dated::DatedSecret;
pub use duration::Span;
pub use fault::Fault;
pub use secret::SecretRef;
pub use sections::{
    AddressList, ApplierSettings, Conflict, DatabaseSettings, DestinationKind, DestinationSettings,
    LogFormat, PublisherSettings, ReceiverSettings, ReconcilerSettings, Said, ServiceSettings, Settings,
    SourceSettings, SuccessRule, TelemetrySettings,
};

#[cfg(test)]
mod tests;
