//! `kontinuum-simulator`: simulated Talos machines, from a world file.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum};
use simulator::control::{self, Answer, PodFate, Request};
use simulator::fault::Fault;
use simulator::{Simulator, World};
use tracing_subscriber::EnvFilter;

/// Simulates machines booted into Talos Linux.
#[derive(Debug, Parser)]
#[command(version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the machines of a world file until it is interrupted.
    Run {
        /// The world file (YAML; see docs/simulator.md).
        world: PathBuf,
        /// Appends one JSON line for each request and each change of a machine to this file.
        #[arg(long)]
        events: Option<PathBuf>,
        /// Keeps the machines' disks and the control socket here, instead of where the world file says.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// Prints all machines and their stages as JSON.
    Status(Running),
    /// Gives a machine a fault.
    Fault {
        #[command(flatten)]
        running: Running,
        /// The machine's name.
        machine: String,
        #[command(subcommand)]
        fault: Fault,
    },
    /// Takes all faults from a machine.
    ClearFaults {
        #[command(flatten)]
        running: Running,
        /// The machine's name.
        machine: String,
    },
    /// Presses a machine's power button.
    Power {
        #[command(flatten)]
        running: Running,
        /// On or off.
        switch: Switch,
        /// The machine's name.
        machine: String,
    },
    /// Lets something happen to the pods of a workload.
    Fate {
        #[command(flatten)]
        running: Running,
        /// The workload, as NAMESPACE/NAME.
        workload: String,
        #[command(subcommand)]
        fate: PodFate,
    },
}

/// Which running simulator is meant.
#[derive(Debug, Args)]
struct Running {
    /// Its data folder.
    #[arg(long)]
    data: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    // What a simulated node's client fails at is in the event log; an API server that is down is no error here.
    let quiet = || EnvFilter::new("warn,kube_client=off");
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| quiet()))
        .with_writer(std::io::stderr)
        .init();
    let run = || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(execute(CommandLine::parse().command))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error.as_ref());
            ExitCode::FAILURE
        }
    }
}

async fn execute(command: Command) -> Result<(), Failure> {
    let (running, request) = match command {
        Command::Run { world, events, data } => return run(&world, events, data).await,
        Command::Status(running) => (running, Request::Status),
        Command::Fault { running, machine, fault } => (running, Request::Fault { machine, with: fault }),
        Command::ClearFaults { running, machine } => (running, Request::ClearFaults { machine }),
        Command::Power { running, switch, machine } => {
            (running, Request::Power { machine, on: switch == Switch::On })
        }
        Command::Fate { running, workload, fate } => {
            let (namespace, name) = workload
                .split_once('/')
                .ok_or_else(|| format!("expected the workload as NAMESPACE/NAME, but got {workload:?}"))?;
            (running, Request::Fate { namespace: namespace.to_owned(), name: name.to_owned(), fate })
        }
    };
    let data = match running.data {
        Some(data) => data,
        None => World::of(Vec::new()).data_folder()?,
    };
    match control::ask(&data, &request).await? {
        Answer::Done => Ok(()),
        Answer::Status(machines) => say(&serde_json::to_string_pretty(&machines)?),
        Answer::Refused(why) => Err(why.into()),
    }
}

/// Runs a world until SIGINT or SIGTERM.
async fn run(path: &std::path::Path, events: Option<PathBuf>, data: Option<PathBuf>) -> Result<(), Failure> {
    let mut world = World::read(path)?;
    if data.is_some() {
        world.data = data;
    }
    let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let server = control::Server::open(&world.data_folder()?).await?;
    let simulator = Arc::new(Simulator::start(world, events.as_deref())?);
    let machines = simulator.status().len();
    let running = async {
        simulator.started().await?;
        say(&format!("simulating {machines} machines; data in {}", simulator.data().display()))?;
        std::future::pending::<Result<(), Failure>>().await
    };
    tokio::select! {
        ended = running => ended?,
        () = server.serve(Arc::clone(&simulator)) => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminated.recv() => {}
    }
    drop(server);
    simulator.shut_down().await;
    Ok(())
}

/// Prints a line of output.
fn say(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

/// Prints an error with its causes, one line.
fn complain(error: &(dyn Error + Send + Sync + 'static)) {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    // Nobody is left to tell when standard error is gone.
    let _written = writeln!(std::io::stderr(), "kontinuum-simulator: {text}");
}
