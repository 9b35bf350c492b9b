//! The inputs that fuzzing kept, gone through as a test.

use testkit::cases::kept;
use testkit::fuzzed::TARGETS;

#[test]
fn corpora_are_replayed() {
    let mut inputs = 0;
    for (target, check) in TARGETS {
        for (name, input) in kept(target) {
            println!("{target}/{name}");
            check(&input);
            inputs += 1;
        }
    }
    println!("{inputs} inputs");
    assert!(inputs > TARGETS.len());
}
