//! What the binary says of itself, and how it takes wrong arguments.

use crate::world::ordem;

const SUBCOMMANDS: [&str; 16] = [
    "migrate", "check", "status", "explain", "events", "effects", "replay", "requeue", "discard", "pause",
    "resume", "refused", "backfill", "profile", "sign", "send",
];

#[test]
fn the_help_of_everything_is_as_documented() {
    let mut all = ordem(&[], &["--help"]).expect(0).out;
    for subcommand in SUBCOMMANDS {
        all += &format!("\n===== {subcommand}\n{}", ordem(&[], &[subcommand, "--help"]).expect(0).out);
    }
    for subcommand in ["list", "groups", "show", "retry", "discard"] {
        let help = ordem(&[], &["effects", subcommand, "--help"]).expect(0).out;
        all += &format!("\n===== effects {subcommand}\n{help}");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_version_is_the_package_s() {
    let said = ordem(&[], &["--version"]).expect(0);
    assert_eq!(said.out, format!("ordem {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_arguments_end_with_2_and_say_why() {
    let url = ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/x");
    let cases: [(&[&str], &str); 12] = [
        (&[], "Usage: ordem"),
        (&["aplicar"], "unrecognized subcommand 'aplicar'"),
        (&["explain", "loja", "order"], "<ID>"),
        (&["replay"], "--event <ID>..."),
        (&["replay", "--event", "x1"], "invalid value 'x1'"),
        (&["replay", "--source", "loja", "--outcome", "applied"], "invalid value 'applied'"),
        (&["replay", "--source", "loja", "--outcome", "ignored"], "--outcome ignored needs --since"),
        (&["requeue", "--out-of-order"], "--effect <ID>..."),
        (&["discard", "--effect", "0198f000-0000-7000-8000-000000000000"], "--reason <TEXT>"),
        (&["pause", "nowhere"], "no destination \"nowhere\" (there are: fulfillment)"),
        (&["events", "--since", "yesterday"], "neither a length of time"),
        (&["refused", "--dry-run"], "--reverify"),
    ];
    for (arguments, message) in cases {
        let said = ordem(&[url], arguments).expect(2);
        let all = said.out + &said.err;
        assert!(all.contains(message), "{arguments:?}: {all}");
    }
}

#[test]
fn bad_configuration_ends_with_2_and_names_file_key_and_reason() {
    let said = ordem(&[("ORDEM__APPLIER__WORKERS", "0")], &["status"]).expect(2);
    assert!(
        said.err.contains("environment ORDEM__APPLIER__WORKERS: applier.workers: must be at least 1"),
        "{}",
        said.err
    );
    let said = ordem(&[], &["status"]).expect(2);
    assert!(said.err.contains("database.url: env:DATABASE_URL is not set"), "{}", said.err);
}
