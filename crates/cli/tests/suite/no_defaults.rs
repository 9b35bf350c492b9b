//! No secret is known before the first start: every key was printed by it, once, and is nowhere on the disk.

use std::path::Path;

use crate::house::House;

#[test]
fn a_fresh_start_has_no_key_that_was_not_printed() {
    let (one, other) = (House::start(&[]), House::start(&[]));
    let keys = one.json(&["keys", "list"]);
    let items = keys["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{keys}");
    for key in items {
        let id = key["id"].as_str().unwrap().replace('-', "");
        assert!(one.told.contains(&format!("_{id}_")), "{id} was not printed");
    }
    // What one start made is worth nothing elsewhere.
    for key in [&other.admin, &other.agent] {
        let said = one.run_with(&["agents", "list"], key, "");
        assert_ne!(said.code, 0, "{said:?}");
    }
    for folder in [&one, &other] {
        let mut read = 0;
        for key in [&folder.admin, &folder.agent] {
            let secret = key.splitn(4, '_').nth(3).unwrap();
            assert!(secret.len() > 20, "{key}");
            read += search(Path::new(&folder.data()), secret.as_bytes());
        }
        assert!(read > 0, "nothing was searched");
    }
    let root = |house: &House| std::fs::read(Path::new(&house.data()).join("vault.key")).unwrap();
    assert_ne!(root(&one), root(&other));
}

/// Looks for text in every file of a folder; how many there are.
fn search(folder: &Path, wanted: &[u8]) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += search(&path, wanted);
        } else if let Ok(bytes) = std::fs::read(&path) {
            files += 1;
            let found = bytes.windows(wanted.len()).any(|window| window == wanted);
            assert!(!found, "{} holds a key", path.display());
        }
    }
    files
}
