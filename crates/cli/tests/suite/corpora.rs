//! The configurations that fuzzing kept, gone through as a test.

#[test]
fn corpora_are_replayed() {
    for (name, input) in testkit::cases::kept("config") {
        println!("config/{name}");
        switchboard::probe::check(&input);
    }
}
