//! Signs where a case has a stub in place of an asymmetric signature.
//!
//! The case tells what the signature must be over (`expect.verify_input`): signed is exactly that, with a key made here,
//! so that a request is accepted only if Ordem puts the same bytes together from the request.

use std::fmt::Write as _;

use aws_lc_rs::{
    encoding::{AsDer as _, PublicKeyX509Der},
    rand::SystemRandom,
    rsa::{KeyPair, KeySize},
    signature::{KeyPair as _, RSA_PKCS1_SHA256},
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::case::Delivery;

/// What stands in place of a signature.
const STUB: &[u8] = b"stub";

pub(crate) struct Notary {
    key: KeyPair,
    over: Vec<u8>,
}

impl Notary {
    /// For a case that leaves its signatures to the runner.
    pub(crate) fn of(file: &Value) -> Option<Self> {
        let over = file["expect"]["verify_input"].as_str()?.as_bytes().to_vec();
        Some(Self { key: KeyPair::generate(KeySize::Rsa2048).unwrap(), over })
    }

    /// What the source is given to verify with.
    pub(crate) fn public_key(&self) -> String {
        let der: PublicKeyX509Der<'_> = self.key.public_key().as_der().unwrap();
        let text = STANDARD.encode(der.as_ref());
        let mut pem = String::from("-----BEGIN PUBLIC KEY-----\n");
        for line in text.as_bytes().chunks(64) {
            writeln!(pem, "{}", std::str::from_utf8(line).unwrap()).unwrap();
        }
        pem + "-----END PUBLIC KEY-----\n"
    }

    /// Puts the signature where the stub stands.
    pub(crate) fn sign(&self, delivery: &mut Delivery) {
        for (_, value) in delivery.headers.iter_mut().filter(|(_, value)| value == STUB) {
            let mut signature = vec![0; self.key.public_modulus_len()];
            self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), &self.over, &mut signature).unwrap();
            *value = STANDARD.encode(signature).into_bytes();
        }
    }
}
