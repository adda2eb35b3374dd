use std::net::SocketAddr;
use std::path::PathBuf;

use super::limits::Rate;
use super::raw::Key;
use super::{Configuration, Faults, LogFormat, People, RawConfiguration, TokenSource, check, file};
use crate::authorization_server::{ClientRules, Registration};
use crate::mcp::toolset::Toolset;
use crate::vault::Language;

fn from(
    flags: &[(Key, &str)],
    environment: &[(&str, &str)],
    text: &str,
) -> Result<Configuration, Faults> {
    let mut faults = Faults::default();
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let environment =
        RawConfiguration::from_environment(environment.iter().map(owned), &mut faults);
    let flags = flags.iter().map(|(key, value)| (*key, (*value).to_owned()));
    let raw = RawConfiguration::from_flags(flags, []).or(environment).or(file::parse(
        std::path::Path::new("test.toml"),
        text,
        &mut faults,
    ));
    check(&raw, Some(PathBuf::from("data")), faults)
}

#[track_caller]
fn faults(environment: &[(&str, &str)], text: &str) -> Vec<String> {
    let faults = from(&[], environment, text).expect_err("a fault");
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_vault_is_enough() {
    let configuration = from(&[(Key::Vault, "src")], &[], "").expect("a configuration");
    assert_eq!(configuration.listen.to_string(), "127.0.0.1:8090");
    assert!(configuration.resource.is_none());
    assert!(matches!(configuration.people, People::SingleOwner { .. }));
    assert!(matches!(configuration.tokens, TokenSource::Embedded { issuer: None, .. }));
    assert!(configuration.trusted_proxies.is_empty());
    assert_eq!(configuration.lifetimes.access_token.as_secs(), 600);
}

/// Design section 4: the figures are for this machine, and off unless asked for.
#[test]
fn metrics_are_for_this_machine_only() {
    let listen = |text: &str| from(&[(Key::Vault, "src"), (Key::MetricsListen, text)], &[], "");
    assert_eq!(from(&[(Key::Vault, "src")], &[], "").unwrap().metrics_listen, None);
    for own in ["127.0.0.1:9464", "127.1.2.3:0", "[::1]:9464"] {
        let address = listen(own).expect("a configuration").metrics_listen.map(SocketAddr::from);
        assert_eq!(address, own.parse().ok());
    }
    for foreign in ["0.0.0.0:9464", "[::]:9464", "192.168.1.2:9464", "8.8.8.8:9464"] {
        let faults = listen(foreign).expect_err("a fault").to_string();
        assert!(faults.contains("--metrics-listen") && faults.contains("this machine"), "{faults}");
    }
    assert!(listen("localhost").expect_err("a fault").to_string().contains("127.0.0.1:9464"));
}

/// Design section 3: flags, then environment, then file, then defaults.
#[test]
fn the_strongest_source_wins() {
    let text = "vault = 'src'\nlisten = '127.0.0.1:1'\nlog_format = 'json'";
    let listen = |flags: &[(Key, &str)], environment: &[(&str, &str)]| {
        from(flags, environment, text).expect("a configuration").listen.port()
    };
    let environment = [("BRAIN_MCP_LISTEN", "127.0.0.1:2")];
    assert_eq!(listen(&[(Key::Listen, "127.0.0.1:3")], &environment), 3);
    assert_eq!(listen(&[], &environment), 2);
    assert_eq!(listen(&[], &[("BRAIN_MCP_LISTEN", "")]), 1);
    let configuration = from(&[], &[], text).expect("a configuration");
    assert_eq!(configuration.log.format, LogFormat::Json);
}

#[test]
fn every_fault_is_told_at_once_with_key_value_and_cure() {
    let found = faults(
        &[
            ("BRAIN_MCP_RESOURCE", "http://notes.example.org/mcp"),
            ("BRAIN_MCP_ISSUR", "https://notes.example.org"),
            ("BRAIN_MCP_LIMIT_CODE_SECONDS", "9999"),
        ],
        "listne = '127.0.0.1:1'\nlog_format = 'xml'\nlog = ['a b=']\ntrusted_proxies = ['10.0.0.1', 'lan']\n\
         [limits]\nacces_token_seconds = 5",
    );
    let expected = [
        "BRAIN_MCP_ISSUR = \"https://notes.example.org\": no such variable; did you mean BRAIN_MCP_ISSUER?",
        "listne: no such key; did you mean listen?",
        "BRAIN_MCP_RESOURCE = \"http://notes.example.org/mcp\": it must be https (plain http is for loopback addresses only); write the public URL of the endpoint, such as https://notes.example.org/mcp",
        "vault: no folder of notes was given: use --vault DIR, or [[user]] in the file",
        "trusted_proxies (in the file) = \"10.0.0.1,lan\": \"lan\" is not an IP address",
        "log_format (in the file) = \"xml\": write text or json",
        "limits.acces_token_seconds (in the file) = \"5\": no such limit; did you mean access_token_seconds?",
        "BRAIN_MCP_LIMIT_CODE_SECONDS = \"9999\": it must be a whole number of seconds from 1 to 600",
    ];
    for text in expected {
        assert!(found.iter().any(|fault| fault == text), "{text}\nis not among {found:#?}");
    }
}

#[test]
fn a_public_listener_needs_a_public_name() {
    let found = faults(&[("BRAIN_MCP_VAULT", "src"), ("BRAIN_MCP_LISTEN", "0.0.0.0:8090")], "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("resource: 0.0.0.0:8090 is not loopback"), "{found:?}");
}

/// Design section 4, rule 3; complaint B14: issuers are compared byte for byte.
#[test]
fn the_embedded_issuer_is_a_bare_origin() {
    for issuer in [
        "https://notes.example.org/",
        "https://notes.example.org/auth",
        "https://Notes.example.org",
        "https://notes.example.org:443",
    ] {
        let environment = [
            ("BRAIN_MCP_VAULT", "src"),
            ("BRAIN_MCP_RESOURCE", "https://notes.example.org/mcp"),
            ("BRAIN_MCP_ISSUER", issuer),
        ];
        assert_eq!(faults(&environment, "").len(), 1, "{issuer}");
    }
}

#[test]
fn a_key_url_makes_the_issuer_foreign_and_any_https_url_may_be_its_name() {
    let environment = [
        ("BRAIN_MCP_VAULT", "src"),
        ("BRAIN_MCP_JWKS_URL", "https://id.example.org/keys"),
        ("BRAIN_MCP_ISSUER", "https://id.example.org/realms/home/"),
    ];
    let configuration = from(&[], &environment, "").expect("a configuration");
    let TokenSource::Foreign { issuer, jwks_url } = configuration.tokens else {
        panic!("not foreign");
    };
    assert_eq!(issuer.as_str(), "https://id.example.org/realms/home/");
    assert_eq!(jwks_url.as_str(), "https://id.example.org/keys");
    assert_eq!(faults(&environment[..2], "").len(), 1, "without an issuer");
    let plain =
        [environment[0], ("BRAIN_MCP_JWKS_URL", "http://id.example.org/keys"), environment[2]];
    assert_eq!(faults(&plain, "").len(), 1, "plain http");
}

#[test]
fn users_have_names_subjects_and_vaults_of_which_the_first_is_the_default() {
    let text = "[[user]]\nname = 'alice'\nsub = ['oidc|1']\nvaults = { work = 'tests', home = 'src' }\n\
                [[user]]\nname = 'bob'\nvaults = { notes = 'src' }";
    let People::Named(users) = from(&[], &[], text).expect("a configuration").people else {
        panic!("not users");
    };
    assert_eq!(users[0].vaults[0].0, "work");
    assert_eq!(users[0].subjects, ["oidc|1"]);
    assert_eq!(users[1].name, "bob");
}

/// One subject that is two people would read the wrong person's notes.
#[test]
fn a_subject_belongs_to_one_user() {
    let text = "[[user]]\nname = 'alice'\nsub = ['bob']\nvaults = { a = 'src' }\n\
                [[user]]\nname = 'bob'\nvaults = { a = 'src' }\n\
                [[user]]\nname = 'bob'\nvaults = { a = 'src' }\n\
                [[user]]\nnam = 'carl'\n";
    let found = faults(&[], text);
    for expected in [
        "user[1].name (in the file) = \"bob\": another user already has this subject",
        "user[2].name (in the file) = \"bob\": two users have this name",
        "user[3].nam: no such key; did you mean name?",
        "user[3].name: every user needs a name",
    ] {
        assert!(found.iter().any(|fault| fault == expected), "{expected}\nis not among {found:#?}");
    }
}

/// B19: a proxy on this machine is believed only where there must be one.
#[test]
fn loopback_is_a_trusted_proxy_only_behind_a_public_name() {
    let public =
        [("BRAIN_MCP_VAULT", "src"), ("BRAIN_MCP_RESOURCE", "https://notes.example.org/mcp")];
    assert_eq!(from(&[], &public, "").expect("a configuration").trusted_proxies.len(), 2);
    assert!(from(&[], &public[..1], "").expect("a configuration").trusted_proxies.is_empty());
}

#[test]
fn a_password_file_holds_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("password");
    let environment = |path: &str| {
        from(&[], &[("BRAIN_MCP_VAULT", "src"), ("BRAIN_MCP_OWNER_PASSWORD_FILE", path)], "")
    };
    let path_text = path.to_str().expect("a text");
    std::fs::write(&path, "correct horse battery\n").expect("written");
    let configuration = environment(path_text).expect("a configuration");
    let TokenSource::Embedded { owner_password: Some(password), .. } = configuration.tokens else {
        panic!("no password");
    };
    assert_eq!(password.expose(), "correct horse battery");
    assert!(!format!("{password:?}").contains("horse"));
    for text in ["", "\n", "two\nlines\n"] {
        std::fs::write(&path, text).expect("written");
        assert!(environment(path_text).is_err(), "{text:?}");
    }
    assert!(environment("no/such/file").is_err());
}

/// How many clients are known at a time, in any of the three forms.
#[test]
fn the_number_of_clients_has_all_three_forms() {
    let vault = ("BRAIN_MCP_VAULT", "src");
    let limit = |configured: Result<Configuration, Faults>| Some(configured.ok()?.client_limit);
    assert_eq!(limit(from(&[], &[vault], "")), Some(1_000));
    let flags = RawConfiguration::from_flags(
        [(Key::Vault, "src".to_owned())],
        [("clients".to_owned(), "7".to_owned())],
    );
    assert_eq!(limit(check(&flags, Some("data".into()), Faults::default())), Some(7));
    let in_file = "vault = 'src'\n[limits]\nclients = 20000";
    assert_eq!(limit(from(&[], &[], in_file)), Some(20_000));
    let variable = |value| limit(from(&[], &[vault, ("BRAIN_MCP_LIMIT_CLIENTS", value)], ""));
    assert_eq!(variable("1"), Some(1));
    for wrong in ["0", "-1", "1.5", "many", "100001"] {
        assert_eq!(variable(wrong), None, "{wrong}");
    }
}

/// Design section 9: how often things may be asked for, in any of the three forms, and 0
/// for no limit.
#[test]
fn request_limits_have_all_three_forms() {
    let vault = [("BRAIN_MCP_VAULT", "src")];
    let defaults = from(&[], &vault, "").expect("a configuration");
    assert_eq!(defaults.mcp_limit.times(), 60);
    assert_eq!(defaults.request_limits.sign_in.times(), 10);
    assert!(defaults.request_limits.token.times() >= 60, "B19");
    assert!(defaults.request_limits.register.times() >= 20, "B19");

    let flags = RawConfiguration::from_flags(
        [(Key::Vault, "src".to_owned())],
        [("mcp_per_minute".to_owned(), "7".to_owned())],
    );
    let by_flag = check(&flags, Some("data".into()), Faults::default()).expect("a configuration");
    assert_eq!(by_flag.mcp_limit.times(), 7);
    for name in Rate::ALL.map(Rate::name) {
        let text = format!("vault = 'src'\n[limits]\n{name} = 5");
        let in_file = from(&[], &[], &text).expect("a configuration");
        assert_ne!(
            in_file.request_limits == defaults.request_limits,
            !["mcp_per_minute", "bad_token_per_minute"].contains(&name)
        );
        let variable = format!("BRAIN_MCP_LIMIT_{}", name.to_uppercase());
        let with = |value| from(&[], &[vault[0], (&*variable, value)], "");
        assert!(with("0").is_ok());
        for wrong in ["-1", "1.5", "many", "60001"] {
            assert!(with(wrong).is_err(), "{variable}={wrong}");
        }
    }
}

/// Writing is off until the owner names a folder for it, in any of the three forms.
#[test]
fn an_inbox_is_named_or_there_is_none() {
    let vault = (Key::Vault, "src");
    let inbox = |flags: &[(Key, &str)], environment: &[(&str, &str)], text: &str| match from(
        flags,
        environment,
        text,
    )
    .expect("a configuration")
    .people
    {
        People::SingleOwner { inbox, .. } => inbox,
        People::Named(users) => users[0].inbox.clone(),
    };
    assert_eq!(inbox(&[vault], &[], ""), None);
    assert_eq!(inbox(&[vault], &[("BRAIN_MCP_INBOX", "")], ""), None);
    assert_eq!(inbox(&[vault, (Key::Inbox, "new")], &[], "").as_deref(), Some("new"));
    assert_eq!(inbox(&[vault], &[("BRAIN_MCP_INBOX", "a/b")], "").as_deref(), Some("a/b"));
    assert_eq!(inbox(&[vault], &[], "inbox = 'new'").as_deref(), Some("new"));
    let user = "[[user]]\nname = 'ann'\nvaults = { a = 'src' }\ninbox = 'new'";
    assert_eq!(inbox(&[], &[], user).as_deref(), Some("new"));
    for value in ["..", "/srv/inbox", "a//b", ".obsidian", "x.private"] {
        assert_eq!(faults(&[("BRAIN_MCP_VAULT", "src"), ("BRAIN_MCP_INBOX", value)], "").len(), 1);
    }
    let found = faults(&[("BRAIN_MCP_INBOX", "new")], user);
    assert_eq!(
        found,
        ["BRAIN_MCP_INBOX = \"new\": the file has [[user]]: give their inbox there instead"]
    );
}

/// Issue, Build 2: the languages of the vault are named in all three forms, by code or
/// name, and what is no language is told.
#[test]
fn languages_are_chosen_by_name_or_code() {
    let names = |flags: &[(Key, &str)], environment: &[(&str, &str)], text: &str| {
        let text = format!("vault = 'src'\n{text}");
        let configuration = from(flags, environment, &text).expect("a configuration");
        configuration.languages.iter().map(Language::name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[], &[], ""), ["english"]);
    let file = "[search]\nlanguages = ['en', 'German']";
    assert_eq!(names(&[], &[], file), ["english", "german"]);
    let environment = [("BRAIN_MCP_LANGUAGES", "de-AT, fr")];
    assert_eq!(names(&[], &environment, file), ["german", "french"]);
    assert_eq!(names(&[(Key::Languages, "nb")], &environment, file), ["norwegian"]);
    let text = "vault = 'src'\n[search]\nlanguages = ['Germn']\nlanguage = 'en'";
    let found = faults(&[], text);
    let [key, misspelt] = &*found else { panic!("{found:#?}") };
    assert!(misspelt.starts_with("search.languages (in the file) = \"Germn\""), "{misspelt}");
    assert!(misspelt.ends_with("; did you mean german?"), "{misspelt}");
    assert_eq!(key, "search.language: no such key; did you mean languages?");
    assert_eq!(faults(&[], "vault = 'src'\n[search]\nlanguages = []").len(), 1);
    assert_eq!(faults(&[], "vault = 'src'\nsearch = 'en'").len(), 1);
}

/// Checklist 101: which clients may come is chosen in all three forms, and contradictions are told.
#[test]
fn clients_are_let_in_as_chosen() {
    let rules = |environment: &[(&str, &str)], text: &str| {
        let text = format!("vault = 'src'\n{text}");
        from(&[], environment, &text).expect("a configuration").clients
    };
    assert_eq!(rules(&[], ""), ClientRules::default());
    let file = "client_documents = 'off'\nallowed_clients = ['Claude.ai', 'cursor:']\n\
                private_client_hosts = ['chat.home.lan']";
    let chosen = rules(&[("BRAIN_MCP_REGISTRATION", "off")], file);
    let expected = ClientRules {
        documents: false,
        registration: Registration::Off,
        allowed: vec!["claude.ai".to_owned(), "cursor:".to_owned()],
        private_hosts: vec!["chat.home.lan".to_owned()],
    };
    assert_eq!(chosen, expected);
    let directory = tempfile::TempDir::new().expect("a folder");
    let file = directory.path().join("token");
    std::fs::write(&file, "secret-token\n").expect("a file");
    let file = file.to_str().expect("UTF-8");
    let with_token = rules(&[("BRAIN_MCP_REGISTRATION_TOKEN_FILE", file)], "");
    assert_eq!(with_token.registration, Registration::with_token("secret-token"));
    let text = format!(
        "vault = 'src'\nregistration = 'off'\nregistration_token_file = '{file}'\n\
         client_documents = 'yes'\nallowed_clients = ['https://claude.ai']\n\
         private_client_hosts = ['cursor:']"
    );
    let found = faults(&[], &text);
    assert_eq!(found.len(), 4, "{found:#?}");
}

/// Issue 4 "Keys": how long a key signs is chosen in all three forms, and 0 is never.
#[test]
fn keys_are_rotated_as_chosen() {
    let days = |flags: &[(Key, &str)], environment: &[(&str, &str)], text: &str| {
        let text = format!("vault = 'src'\n{text}");
        let rotation = from(flags, environment, &text).expect("a configuration").key_rotation;
        rotation.map(|span| span.as_secs() / 86_400)
    };
    assert_eq!(days(&[], &[], ""), Some(90));
    let file = "key_rotation_days = 30";
    assert_eq!(days(&[], &[], file), Some(30));
    let environment = [("BRAIN_MCP_KEY_ROTATION_DAYS", "7")];
    assert_eq!(days(&[], &environment, file), Some(7));
    assert_eq!(days(&[(Key::KeyRotationDays, "0")], &environment, file), None);
    for wrong in ["-1", "'often'", "3651", "''"] {
        assert_eq!(faults(&[], &format!("vault = 'src'\nkey_rotation_days = {wrong}")).len(), 1);
    }
}

/// Design section 6: which tools are listed is chosen in all three forms.
#[test]
fn toolsets_are_chosen_by_name() {
    let sets = |flags: &[(Key, &str)], environment: &[(&str, &str)], text: &str| {
        let text = format!("vault = 'src'\n{text}");
        let configuration = from(flags, environment, &text).expect("a configuration");
        Toolset::ALL.map(|set| configuration.toolsets.contains(set))
    };
    assert_eq!(sets(&[], &[], ""), [true, true, false], "pages and notes");
    let file = "[mcp]\ntoolsets = ['openai']";
    assert_eq!(sets(&[], &[], file), [false, false, true]);
    let environment = [("BRAIN_MCP_TOOLSETS", "notes, openai")];
    assert_eq!(sets(&[], &environment, file), [false, true, true]);
    assert_eq!(sets(&[(Key::Toolsets, "pages")], &environment, file), [true, false, false]);
    assert_eq!(Key::Toolsets.flag(), "--toolsets");
    let text = "vault = 'src'\ntoolsets = ['pages']\n[mcp]\ntoolsets = ['page']\ntoolset = 1";
    let found = faults(&[], text);
    for expected in [
        "mcp.toolsets (in the file) = \"page\": \"page\" is none of pages, notes, openai",
        "mcp.toolset: no such key; did you mean toolsets?",
    ] {
        assert!(found.iter().any(|fault| fault == expected), "{expected}\nnot in {found:#?}");
    }
    assert!(found.iter().any(|fault| fault.starts_with("toolsets: no such key")), "{found:#?}");
    assert_eq!(faults(&[], "vault = 'src'\n[mcp]\ntoolsets = []").len(), 1);
    assert_eq!(faults(&[], "vault = 'src'\nmcp = 'pages'").len(), 1);
}
