//! TLS towards the database: on when the URL says `sslmode=require`, and then the certificate is verified.

use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Error, Result};

/// A connector that trusts the machine's certificate store.
pub(crate) fn connector() -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(Error::Settings(
            "sslmode=require needs trusted certificates, and this machine has none: install ca-certificates \
             or point SSL_CERT_FILE to a file that has your server's authority"
                .to_owned(),
        ));
    }
    let provider = rustls::crypto::aws_lc_rs::default_provider().into();
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Settings(format!("TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
