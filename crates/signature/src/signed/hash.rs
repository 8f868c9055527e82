//! Hashes without a key, and comparing without telling.

use sha2::{Digest as _, Sha256, Sha512};

/// A hash of a text that contains the secret, or of a message before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

impl Hash {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Hash::Sha1 => 20,
            Hash::Sha256 => 32,
            Hash::Sha512 => 64,
        }
    }

    pub(crate) fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        fn hash<D: sha2::Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut hash = D::new();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize().to_vec()
        }
        match self {
            Hash::Sha1 => hash::<sha1::Sha1>(parts),
            Hash::Sha256 => hash::<Sha256>(parts),
            Hash::Sha512 => hash::<Sha512>(parts),
        }
    }
}

/// Compares without telling where they differ; both are hashed first, so that not even the length is told.
pub(crate) fn same(secret: &[u8], given: &[u8]) -> bool {
    let (secret, given) = (Sha256::digest(secret), Sha256::digest(given));
    secret.iter().zip(given.iter()).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}
