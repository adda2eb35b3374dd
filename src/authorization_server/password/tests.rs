use super::{HashingCost, MAX_QUEUED, NewPassword, NotVerified, Password, PasswordHasher, Queue};
use crate::entropy::Entropy;

const TYPED: &str = "correct horse battery";

fn hasher() -> PasswordHasher {
    PasswordHasher::new(HashingCost::LEAST, Entropy::seeded(1))
}

fn new(text: &str) -> NewPassword {
    NewPassword::check(Password::typed(text)).unwrap()
}

#[tokio::test]
async fn only_the_right_password_fits() {
    let hasher = hasher();
    let kept = hasher.hash(new(TYPED)).await.unwrap();
    let verify =
        |text: &'static str| hasher.verify(Password::typed(text), Some(&kept), Queue::Strangers);
    assert_eq!(verify(TYPED).await, Ok(()));
    for wrong in ["", "correct horse batter", "Correct horse battery", "correct horse battery "] {
        assert_eq!(verify(wrong).await, Err(NotVerified::Wrong), "{wrong}");
    }
    let nobody = hasher.verify(Password::typed(TYPED), None, Queue::Strangers).await;
    assert_eq!(nobody, Err(NotVerified::Wrong));
    assert_ne!(hasher.hash(new(TYPED)).await.unwrap(), kept, "another salt");
}

/// A hash keeps what it cost, so a stronger setting locks nobody out.
#[tokio::test]
async fn old_hashes_fit_after_a_change_of_cost() {
    let cheap = HashingCost { memory_kib: 64, passes: 1 };
    let kept = PasswordHasher::new(cheap, Entropy::seeded(1)).hash(new(TYPED)).await.unwrap();
    assert_eq!(
        hasher().verify(Password::typed(TYPED), Some(&kept), Queue::Strangers).await,
        Ok(())
    );
}

/// Checklist section 2.6: a flood is turned away instead of taking the memory, and
/// leaves no trace.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_turned_away() {
    let hasher = hasher();
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..MAX_QUEUED * 3 {
        let hasher = hasher.clone();
        flood.spawn(
            async move { hasher.verify(Password::typed(TYPED), None, Queue::Strangers).await },
        );
    }
    let answers = flood.join_all().await;
    let busy = answers.iter().filter(|answer| **answer == Err(NotVerified::Busy)).count();
    assert!((1..=MAX_QUEUED * 2).contains(&busy), "{busy}");
    for _ in 0..MAX_QUEUED * 2 {
        let later = hasher.verify(Password::typed(TYPED), None, Queue::Strangers).await;
        assert_eq!(later, Err(NotVerified::Wrong));
    }
}

/// Checklist 149: strangers who fill the queue do not keep those out who have signed in
/// from their browser before.
#[tokio::test(flavor = "multi_thread")]
async fn a_known_browser_does_not_queue_with_strangers() {
    let hasher = hasher();
    let kept = hasher.hash(new(TYPED)).await.unwrap();
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..MAX_QUEUED {
        let hasher = hasher.clone();
        flood.spawn(async move {
            hasher.verify(Password::typed("a guess"), None, Queue::Strangers).await
        });
    }
    while hasher.strangers.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let stranger = hasher.verify(Password::typed(TYPED), Some(&kept), Queue::Strangers).await;
    assert_eq!(stranger, Err(NotVerified::Busy));
    assert_eq!(hasher.verify(Password::typed(TYPED), Some(&kept), Queue::Known).await, Ok(()));
    flood.join_all().await;
}

#[test]
fn a_password_is_never_printed() {
    let printed = format!("{:?} {:?}", Password::typed(TYPED), new(TYPED));
    assert!(!printed.contains("horse"), "{printed}");
}
