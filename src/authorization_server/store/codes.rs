//! Authorization codes at rest: digests, and tombstones of those that were used.

use std::sync::MutexGuard;

use sled::Transactional as _;
use sled::transaction::{ConflictableTransactionError, TransactionError, TransactionResult};

use super::{Store, StoreError, decode, encode};
use crate::authorization_server::code::{CodeDigest, IssuedCode, Redemption, Refusal, Verdict};
use crate::authorization_server::family::Digest;
use crate::authorization_server::grant::{EndReason, Grant, GrantId, Terms};
use crate::authorization_server::pkce::PkceMismatch;
use crate::clock::UnixTime;

/// The grant that a code will become. Drawn before the transaction, which may run
/// twice and must then make the same grant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantDraft {
    pub(crate) id: GrantId,
    /// Digest of the first refresh token.
    pub(crate) first: Digest,
    pub(crate) now: UnixTime,
}

enum Outcome {
    Redeemed(Box<Grant>),
    Refused(Refusal),
    Replayed(GrantId),
}

impl Store {
    pub(crate) fn keep_code(
        &self,
        digest: CodeDigest,
        code: &IssuedCode,
    ) -> Result<(), StoreError> {
        self.0.trees.codes.insert(digest.as_bytes(), encode(code)?)?;
        Ok(())
    }

    /// What a code stands for, without spending it.
    pub(crate) fn code(&self, digest: CodeDigest) -> Result<Option<IssuedCode>, StoreError> {
        self.0.trees.codes.get(digest.as_bytes())?.map(|bytes| decode(&bytes)).transpose()
    }

    /// Spends a code and makes its grant, both or neither. At most one caller ever
    /// gets `Ok`.
    pub(crate) fn redeem_code(
        &self,
        redemption: &Redemption,
        draft: GrantDraft,
    ) -> Result<Result<Grant, Refusal>, StoreError> {
        // Held over the revocation too: a replay that overtakes the exchange must
        // find its grant in memory.
        let order = self.begin();
        let trees = (&self.0.trees.codes, &self.0.trees.grants);
        let key = redemption.code.as_bytes();
        let outcome: TransactionResult<Outcome, StoreError> =
            trees.transaction(|(codes, grants)| {
                let abort = ConflictableTransactionError::Abort;
                let Some(bytes) = codes.get(key)? else {
                    return Ok(Outcome::Refused(Refusal::Unknown));
                };
                let code: IssuedCode = decode(&bytes).map_err(abort)?;
                match code.judge(redemption, draft.now, draft.id) {
                    Verdict::Redeem(tombstone) => {
                        let terms = code.terms;
                        let grant = Grant::new(draft.id, terms, draft.first, draft.now);
                        codes.insert(key, encode(&tombstone).map_err(abort)?)?;
                        grants.insert(draft.id.as_bytes(), encode(&grant).map_err(abort)?)?;
                        Ok(Outcome::Redeemed(Box::new(grant)))
                    }
                    Verdict::Count(counted) => {
                        codes.insert(key, encode(&counted).map_err(abort)?)?;
                        Ok(Outcome::Refused(Refusal::from(PkceMismatch)))
                    }
                    Verdict::Refuse(refusal) => Ok(Outcome::Refused(refusal)),
                    Verdict::Replay(grant) => Ok(Outcome::Replayed(grant)),
                }
            });
        match outcome {
            Ok(Outcome::Redeemed(grant)) => {
                self.0.live_grants.replace(Grant::clone(&grant));
                Ok(Ok(*grant))
            }
            Ok(Outcome::Refused(refusal)) => Ok(Err(refusal)),
            Ok(Outcome::Replayed(id)) => {
                let end = |grant: &mut Grant| grant.end(draft.now, EndReason::CodeReplayed);
                self.change_grant_in(&order, id, end)?;
                Ok(Err(Refusal::Replayed))
            }
            Err(TransactionError::Abort(error)) => Err(error),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }

    /// Removes the codes that are still good and whose terms `is_meant` picks.
    pub(crate) fn withdraw_codes(
        &self,
        is_meant: impl Fn(&Terms) -> bool,
    ) -> Result<(), StoreError> {
        let order = self.begin();
        self.withdraw_codes_in(&order, is_meant)
    }

    /// The same for whoever has begun a change already.
    pub(super) fn withdraw_codes_in(
        &self,
        _order: &MutexGuard<'_, ()>,
        is_meant: impl Fn(&Terms) -> bool,
    ) -> Result<(), StoreError> {
        for entry in &self.0.trees.codes {
            let (key, bytes) = entry?;
            let code: IssuedCode = decode(&bytes)?;
            // Of one that was spent the tombstone stays, so that a replay is known.
            if code.is_fresh() && is_meant(&code.terms) {
                self.0.trees.codes.remove(key)?;
            }
        }
        Ok(())
    }

    /// Removes codes that can neither be used nor replayed any more.
    pub(crate) fn forget_codes(&self, now: UnixTime) -> Result<(), StoreError> {
        for entry in &self.0.trees.codes {
            let (key, bytes) = entry?;
            let code: IssuedCode = decode(&bytes)?;
            if code.expires_at <= now {
                self.0.trees.codes.remove(key)?;
            }
        }
        Ok(())
    }
}
