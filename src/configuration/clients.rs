//! Which clients may come: raw configuration → rules.

use std::fs;

use super::check::{Checker, list};
use super::raw::{Given, Key};
use crate::authorization_server::{ClientRules, Registration};

impl Checker<'_> {
    pub(super) fn clients(&mut self) -> ClientRules {
        ClientRules {
            documents: self.choice(Key::ClientDocuments, ["on", "off"]),
            registration: self.registration(),
            allowed: self.names(Key::AllowedClients, true),
            private_hosts: self.names(Key::PrivateClientHosts, false),
        }
    }

    /// Whether the first of two words was chosen, which is so by default.
    fn choice(&mut self, key: Key, [first, second]: [&str; 2]) -> bool {
        let Some(given) = self.given(key) else { return true };
        if given.value != first && given.value != second {
            self.faults.wrong(given, format!("write {first} or {second}"));
        }
        given.value != second
    }

    fn registration(&mut self) -> Registration {
        let is_open = self.choice(Key::Registration, ["open", "off"]);
        let Some(given) = self.given(Key::RegistrationTokenFile) else {
            return if is_open { Registration::Open } else { Registration::Off };
        };
        if !is_open {
            self.faults.wrong(given, "nobody can register while registration is off: remove one");
        }
        match self.secret_file(given, "token") {
            Some(token) => Registration::with_token(&token),
            None => Registration::Off,
        }
    }

    /// Names of hosts; of schemes, too, if `has_schemes`.
    fn names(&mut self, key: Key, has_schemes: bool) -> Vec<String> {
        let Some(given) = self.given(key) else { return Vec::new() };
        let mut names = Vec::new();
        for text in list(&given.value) {
            let name = text.to_ascii_lowercase();
            let is_scheme = has_schemes && name.ends_with(':');
            let body = name.strip_suffix(':').filter(|_| is_scheme).unwrap_or(&name);
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+".contains(&byte);
            if body.is_empty() || !body.bytes().all(is_plain) {
                let example = if has_schemes { "claude.ai or cursor:" } else { "chat.home.lan" };
                self.faults.wrong(given, format!("{text:?} is no name such as {example}"));
            }
            names.push(name);
        }
        names
    }

    /// The one line of a file that holds a secret, called `what`.
    #[expect(clippy::disallowed_methods, reason = "a secret's file is configuration, not a page")]
    pub(super) fn secret_file(&mut self, given: &Given, what: &str) -> Option<String> {
        match fs::read_to_string(&given.value) {
            Ok(text) => {
                let secret = text.strip_suffix('\n').unwrap_or(&text);
                let secret = secret.strip_suffix('\r').unwrap_or(secret);
                if secret.is_empty() || secret.contains(['\n', '\r']) {
                    let cure = format!("the file must hold the {what} on one line");
                    self.faults.wrong(given, cure);
                    return None;
                }
                Some(secret.to_owned())
            }
            Err(error) => {
                self.faults.wrong(given, format!("the file cannot be read: {error}"));
                None
            }
        }
    }
}
