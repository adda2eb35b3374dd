//! The program: arguments, then a command.

use std::process::ExitCode;

use brain_mcp::admin::arguments::{Arguments, Command};
use brain_mcp::admin::terminal::fail;
use brain_mcp::admin::{classify, doctor, manage, search, stats};
use brain_mcp::app::serve;

fn main() -> ExitCode {
    let arguments = match Arguments::typed() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let wants_json = arguments.wants_json();
    let outcome = match arguments.command {
        Command::Serve(flags) => serve::run(&flags),
        Command::Classify(flags) => classify::run(&flags),
        Command::Search(flags) => search::run(&flags),
        Command::Stats(flags) => stats::run(&flags),
        Command::Check(flags) => doctor::run(&flags),
        Command::Manage(order) => manage::run(order),
    };
    outcome.unwrap_or_else(|error| fail(&format!("{error:#}"), wants_json, ExitCode::from(2)))
}
