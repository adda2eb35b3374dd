//! The integration tests, as one binary: one link, one set of helpers.

#![expect(unreachable_pub, reason = "nobody outside links to a test")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

/// The commands about people, apps and keys, beside a server that runs and without one.
mod administration;
/// Whatever arrives at whatever route, the server answers for it.
mod any_input;
/// Page classes equal what git itself says.
mod attributes_against_git;
/// Malformed input at every route and tool.
mod bad_input;
/// The command `check`, before proxies and rules that are right and wrong.
mod check;
/// Which test shows which requirement of the authorization server.
mod checklist;
/// Rules come and go while clients ask.
mod class_changes;
/// The command `classify`, as the owner runs it.
mod classify;
/// What an unauthorized caller can reach: every route is called without a token.
mod closed_doors;
/// Connections outlive refusals.
mod connections;
/// The program is killed while it exchanges codes and refreshes.
mod crash;
/// Whole authorizations, from the challenge to a page, in one process.
mod dance;
/// A newcomer embeds the server in a program.
mod embedding;
/// The whole server with the keys of another issuer.
mod foreign_issuer;
/// What somebody finds who opens the origin in a browser.
mod front_page;
/// A vault with two keys of the real git-crypt: open, half locked, locked.
mod git_crypt;
/// The check of the public addresses, where something answers that means harm.
mod hostile_addresses;
/// Notes written into the inbox, and nothing else that is ever written.
mod inbox;
/// How often somebody may ask.
mod limits;
/// What the log tells of requests, and never tells.
mod logging;
/// What Prometheus reads, and who else cannot.
mod metrics;
/// Notes with odd names, in folders with odd names.
mod names;
/// A page that becomes sensitive is refused by the very next request.
mod next_request;
/// Answers over a vault equal answers over the same vault without its hidden pages.
mod non_interference;
/// The program itself, signed in to by passkeys.
mod passkeys;
/// Other people's notes, where they are at hand.
mod real_markdown;
/// Other people's vaults, where they are at hand.
mod real_vaults;
/// What deployed clients send, played back.
mod recorded_clients;
/// Bearer tokens and the guard, against embedded and foreign issuers.
mod resource_server;
/// The program itself, while the disk changes under it and other processes are about.
mod running;
/// Every tool, resource and prompt, over a vault with hidden pages.
mod surface;
/// The commands `search` and `stats`, as the owner runs them.
mod terminal;
/// House rules that a compiler does not check.
mod tidy;

mod support;
