//! Texts of refresh tokens.

use proptest::prelude::*;
use tempfile::TempDir;

use super::{RefreshToken, RefreshTokenKeys};
use crate::authorization_server::data_directory::DataDirectory;
use crate::authorization_server::grant::GrantId;
use crate::authorization_server::secrets::MasterSecret;
use crate::entropy::Entropy;

fn keys(seed: u64) -> RefreshTokenKeys {
    let directory = TempDir::new().unwrap();
    let home = DataDirectory::claim(directory.path()).unwrap();
    RefreshTokenKeys::derive(&MasterSecret::load(&home, &Entropy::seeded(seed)).unwrap())
}

fn first() -> RefreshToken {
    RefreshToken::first(GrantId::from_bytes([1; 16]), [2; 32])
}

#[test]
fn a_token_is_read_as_it_was_written() {
    let keys = keys(1);
    let text = keys.write(&keys.child(&first()));
    assert!(text.starts_with("bmr_"));
    let token = keys.read(&text).unwrap();
    assert_eq!((token.grant, token.generation), (GrantId::from_bytes([1; 16]), 1));
    assert_eq!(keys.write(&token), text);
}

/// Checklist 5.4: the child follows from the parent and nothing else.
#[test]
fn a_child_is_derived_and_differs() {
    let keys = keys(1);
    let (child, again) = (keys.child(&first()), keys.child(&first()));
    assert_eq!(keys.write(&child), keys.write(&again));
    assert_eq!(keys.present(&first()).child, keys.present(&child).digest);
    let grandchild = keys.child(&child);
    let other = RefreshToken::first(GrantId::from_bytes([3; 16]), [2; 32]);
    let texts = [&first(), &child, &grandchild, &keys.child(&other)].map(|token| keys.write(token));
    for (index, text) in texts.iter().enumerate() {
        assert!(!texts[..index].contains(text));
    }
}

/// Checklist 76, 81: another key makes other tags, whatever the text claims.
#[test]
fn a_token_of_another_server_is_none() {
    assert!(keys(2).read(&keys(1).write(&first())).is_err());
}

proptest! {
    /// Checklist 81
    #[test]
    fn no_other_text_is_a_token(position in 0_usize..95, letter in "[A-Za-z0-9_-]") {
        let keys = keys(1);
        let text = keys.write(&first());
        let position = position.min(text.len() - 1);
        let mut changed = text.clone();
        changed.replace_range(position..=position, &letter);
        prop_assert_eq!(keys.read(&changed).is_ok(), changed == text);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,120}") {
        let keys = keys(1);
        prop_assert!(keys.read(&text).is_err());
        let prefixed = format!("bmr_{text}");
        prop_assert!(keys.read(&prefixed).is_err());
    }
}
