//! Tests of the parts together, each module one subject.

mod attributes_against_git;
mod classify;
