//! Whether a source says what its profile leaves to it.

use profile::{Profile, Setup};

use crate::settings::{SourceSettings, check::Check};

impl Check<'_> {
    /// What the source says of its own about its profile.
    pub(crate) fn setup(&mut self, name: &str, source: &SourceSettings) -> Option<Setup> {
        let zone = match &source.zone {
            None => None,
            Some(zone) => match jiff::tz::TimeZone::get(zone) {
                Ok(zone) => Some(zone),
                Err(_) => {
                    self.add(&format!("sources.{name}.zone"), format!("\"{zone}\" is no known time zone"));
                    return None;
                }
            },
        };
        Some(Setup { options: source.options.clone(), zone })
    }

    /// What the provider signs besides the request has to be known.
    pub(crate) fn source_has_what_is_signed(
        &mut self,
        name: &str,
        source: &SourceSettings,
        profile: &Profile,
    ) {
        let scheme = profile.scheme();
        if scheme.needs_url() && source.public_url.as_ref().is_none_or(|url| url.trim().is_empty()) {
            self.add(
                &format!("sources.{name}.public_url"),
                "is missing: the provider signs the address that was registered with it",
            );
        }
        for constant in scheme.constants() {
            if source.constants.get(constant).is_none_or(|value| value.trim().is_empty()) {
                self.add(
                    &format!("sources.{name}.constants.{constant}"),
                    "is missing: the provider signs it",
                );
            }
        }
        for group in scheme.groups() {
            if source.more_secrets.get(group).is_none_or(Vec::is_empty) {
                self.add(
                    &format!("sources.{name}.more_secrets.{group}"),
                    "is missing: a check of the profile names it",
                );
            }
        }
    }
}
