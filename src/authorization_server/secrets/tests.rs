//! Derived keys and sealed secrets.

use tempfile::TempDir;

use super::{MasterSecret, SealBroken};
use crate::authorization_server::data_directory::DataDirectory;
use crate::entropy::Entropy;

/// Design section 10: who can write the file cannot swap two secrets.
#[test]
fn a_sealed_secret_opens_under_its_name_only() {
    let directory = TempDir::new().unwrap();
    let home = DataDirectory::claim(directory.path()).unwrap();
    let entropy = Entropy::seeded(1);
    let master = MasterSecret::load(&home, &entropy).unwrap();
    let key = master.sealing_key("a purpose");
    let sealed = key.seal("name", b"secret", &entropy);
    assert_eq!(key.open("name", &sealed).unwrap().as_slice(), b"secret");
    assert_eq!(key.open("other", &sealed).err(), Some(SealBroken));
    assert_eq!(master.sealing_key("another").open("name", &sealed).err(), Some(SealBroken));
    for index in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[index] ^= 1;
        assert!(key.open("name", &changed).is_err());
        assert!(key.open("name", &sealed[..index]).is_err());
    }
    assert_ne!(key.seal("name", b"secret", &entropy), sealed, "each time another nonce");
}

#[test]
fn each_purpose_has_its_own_key_and_keeps_it() {
    let directory = TempDir::new().unwrap();
    let home = DataDirectory::claim(directory.path()).unwrap();
    let made = MasterSecret::load(&home, &Entropy::seeded(1)).unwrap();
    let loaded = MasterSecret::load(&home, &Entropy::seeded(2)).unwrap();
    let digest = |master: &MasterSecret, purpose| master.digest_key(purpose).digest(&[b"x"]);
    assert_eq!(digest(&made, "a"), digest(&loaded, "a"));
    assert_ne!(digest(&made, "a"), digest(&made, "b"));
}
