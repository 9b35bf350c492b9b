//! Secrets that are put into the vault beside a running server.

use std::fs;

use crate::house::{House, is_alive, until};

/// The ids of the processes that were started, and the secret the last one was given.
fn started(file: &str) -> Option<(Vec<u32>, String)> {
    let text = fs::read_to_string(file).ok()?;
    let processes: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    let environment = fs::read(format!("/proc/{}/environ", processes.last()?)).ok()?;
    let environment = String::from_utf8(environment).unwrap();
    let key = environment
        .split('\0')
        .find_map(|pair| pair.strip_prefix("API_KEY="))?;
    Some((processes, key.to_owned()))
}

#[test]
fn a_running_server_uses_what_was_put_there_last() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let program = testkit::program::program("scripted-child").unwrap();
    let command = [program.to_str().unwrap(), "--pid-file", &file("started")];
    let config = format!(
        "[[connections]]\nname = \"child\"\ncommand = {command:?}\nenv = {{ API_KEY = {{ vault = \"a key\" }} }}\n"
    );
    fs::write(file("config.toml"), config).unwrap();
    let config = file("config.toml");
    let mut house = House::start(&["--no-sample", "--config", &config]);
    let set = |house: &House, value: &str| {
        let line = [
            "vault",
            "set",
            "a key",
            "--data",
            &house.data(),
            "--config",
            &config,
        ];
        let said = house.run_with(&line, "", value);
        assert_eq!((said.code, said.out.trim()), (0, "stored"), "{said:?}");
        house.json(&["config", "reload"]);
    };
    let mut before = Vec::new();
    for secret in ["first", "second"] {
        set(&house, &format!("{secret}\n"));
        let (processes, given) = until("it is started with the new one", || {
            started(&file("started")).filter(|(_, given)| given == secret)
        });
        assert_eq!(given, secret);
        until("those with the old one are gone", || {
            (!before.iter().copied().any(is_alive)).then_some(())
        });
        before = processes;
    }
    house.json(&["config", "reload"]);
    assert!(is_alive(*before.last().unwrap()), "what did not change goes on");

    let data = house.data();
    let vault = |line: &[&str]| house.run_with(&[&["vault"], line, &["--data", &data]].concat(), "", "");
    let from_file = house.file("secret", "from a file\n");
    assert_eq!(vault(&["set", "another", "--file", &from_file]).code, 0);
    assert_eq!(vault(&["list"]).out, "a key\nanother\n");
    assert_eq!(
        (
            vault(&["remove", "another"]).code,
            vault(&["remove", "another"]).code
        ),
        (0, 1)
    );
    assert_eq!(
        vault(&["list", "--json"]).out,
        "{\n  \"items\": [\n    \"a key\"\n  ]\n}\n"
    );
    assert!(house.stop().success());
}
