//! THE LOOP: look, decide, act, pause, until done, blocked or out of time. It knows neither Terraform nor Talos.

mod pace;
mod world;

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::domain::cluster::step::{Action, Blocker, Step, Waiting};
use pace::Pace;
pub use world::{ActError, Turn, World};

/// How long a shortcoming that is no failure is waited for at most: a worker that did not join within this time
/// after everything else was ready needs somebody to look at it.
const SOFT_LIMIT: Duration = Duration::from_secs(10 * 60);

/// How the loop came to a good end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// All gates are passed.
    Done,
    /// All but soft ones; what is still missing.
    Short(Waiting),
}

/// Why the loop ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stalled {
    /// No waiting helps.
    Blocked(Blocker),
    /// An act was refused for good.
    Failed(ActError),
    /// Time is up.
    TimedOut {
        /// What was waited for.
        waiting: Option<Waiting>,
        /// The last act that failed, if none succeeded since.
        failure: Option<ActError>,
        /// The last act, when nothing was waited for after it.
        acted: Option<Box<Action>>,
    },
    /// It was asked to end.
    Stopped,
}

/// Drives a world until all gates are passed.
///
/// # Errors
///
/// [`Stalled`], in the order of its variants' urgency.
pub async fn converge<W: World>(
    world: &mut W,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Ended, Stalled> {
    let deadline = Instant::now() + limit;
    let mut pace = Pace::new();
    let mut waiting: Option<Waiting> = None;
    let mut failure: Option<ActError> = None;
    let mut acted: Vec<Action> = Vec::new();
    let mut soft_since: Option<Instant> = None;
    loop {
        let turn = tokio::select! {
            () = stop.cancelled() => return Err(Stalled::Stopped),
            turn = tokio::time::timeout_at(deadline, world.look()) => turn,
        };
        let Ok(Turn { step, soft }) = turn else {
            return out_of_time(waiting, failure, &acted, soft_since.is_some());
        };
        match step {
            Step::Done => return Ok(Ended::Done),
            Step::Blocked(blocker) => return Err(Stalled::Blocked(blocker)),
            Step::Act(actions) => {
                // The same acts once more: they had no effect yet, and doing them faster gives them none.
                let again = acted == actions;
                if again {
                    pace.stalled();
                } else {
                    pace.progressed();
                }
                acted.clone_from(&actions);
                waiting = None;
                for action in actions {
                    tracing::info!("Going to {action}");
                    // An act that has begun is carried to its end: only between acts is a stop heard.
                    match tokio::time::timeout_at(deadline, world.act(action)).await {
                        Ok(Ok(())) => failure = None,
                        Ok(Err(error)) if error.is_final => return Err(Stalled::Failed(error)),
                        Ok(Err(error)) => {
                            tracing::warn!(error = error.text, "Failed to act; looking again");
                            failure = Some(error);
                        }
                        Err(_) => return out_of_time(waiting, failure, &acted, false),
                    }
                    if stop.is_cancelled() {
                        return Err(Stalled::Stopped);
                    }
                }
                if failure.is_none() && !again {
                    continue;
                }
            }
            Step::Wait(now) => {
                acted.clear();
                if waiting.as_ref() != Some(&now) {
                    tracing::info!("Waiting for {now}");
                    waiting = Some(now.clone());
                }
                let since = *soft_since.get_or_insert_with(Instant::now);
                if !soft {
                    soft_since = None;
                } else if since.elapsed() >= SOFT_LIMIT {
                    return Ok(Ended::Short(now));
                }
            }
        }
        let pause = (Instant::now() + pace.pause()).min(deadline);
        tokio::select! {
            () = stop.cancelled() => return Err(Stalled::Stopped),
            () = world.changed() => {}
            () = tokio::time::sleep_until(pause) => {}
        }
        if Instant::now() >= deadline {
            return out_of_time(waiting, failure, &acted, soft_since.is_some());
        }
    }
}

fn out_of_time(
    waiting: Option<Waiting>,
    failure: Option<ActError>,
    acted: &[Action],
    soft: bool,
) -> Result<Ended, Stalled> {
    match waiting {
        Some(waiting) if soft => Ok(Ended::Short(waiting)),
        waiting => {
            let acted = if waiting.is_none() { acted.last().cloned().map(Box::new) } else { None };
            Err(Stalled::TimedOut { waiting, failure, acted })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::names::{Label, Uid};

    /// A world that answers from a list, and says `last` for ever after.
    struct Scripted {
        steps: Vec<Turn>,
        last: Turn,
        acted: usize,
        refuse: Option<ActError>,
    }

    impl World for Scripted {
        async fn look(&mut self) -> Turn {
            if self.steps.is_empty() { self.last.clone() } else { self.steps.remove(0) }
        }

        async fn act(&mut self, _: Action) -> Result<(), ActError> {
            self.acted += 1;
            self.refuse.clone().map_or(Ok(()), Err)
        }

        async fn changed(&mut self) {
            std::future::pending().await
        }
    }

    fn waiting() -> Waiting {
        Waiting::ApiServer { why: "connection refused".into() }
    }

    fn turn(step: Step, soft: bool) -> Turn {
        Turn { step, soft }
    }

    fn world(steps: Vec<Turn>, last: Turn) -> Scripted {
        Scripted { steps, last, acted: 0, refuse: None }
    }

    fn bootstrap() -> Step {
        Step::Act(vec![Action::BootstrapEtcd(Uid::new("a"))])
    }

    #[tokio::test(start_paused = true)]
    async fn acts_and_waits_until_all_gates_are_passed() {
        let steps = vec![turn(bootstrap(), false), turn(Step::Wait(waiting()), false)];
        let mut world = world(steps, turn(Step::Done, false));
        let ended = converge(&mut world, Duration::from_secs(60), &CancellationToken::new()).await;
        assert_eq!((ended, world.acted), (Ok(Ended::Done), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn ends_on_the_deadline_and_says_what_was_waited_for() {
        let start = Instant::now();
        let mut world = world(vec![], turn(Step::Wait(waiting()), false));
        let ended = converge(&mut world, Duration::from_secs(600), &CancellationToken::new()).await;
        assert_eq!(ended, Err(Stalled::TimedOut { waiting: Some(waiting()), failure: None, acted: None }));
        assert_eq!(start.elapsed(), Duration::from_secs(600));
    }

    #[tokio::test(start_paused = true)]
    async fn a_soft_shortcoming_ends_well_within_its_own_limit() {
        let start = Instant::now();
        let node = Waiting::Node { hostname: label("w"), why: "silent".into() };
        let mut world = world(vec![], turn(Step::Wait(node.clone()), true));
        let ended = converge(&mut world, Duration::from_secs(3600), &CancellationToken::new()).await;
        assert_eq!(ended, Ok(Ended::Short(node)));
        assert!(start.elapsed() < SOFT_LIMIT + Duration::from_secs(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_transient_failure_is_another_look_and_a_final_one_the_end() {
        let error = |is_final| ActError { text: "refused".into(), remedy: String::new(), is_final };
        let mut world = world(vec![turn(bootstrap(), false)], turn(Step::Done, false));
        world.refuse = Some(error(false));
        let stop = CancellationToken::new();
        assert_eq!(converge(&mut world, Duration::from_secs(60), &stop).await, Ok(Ended::Done));
        world.steps = vec![turn(bootstrap(), false)];
        world.refuse = Some(error(true));
        let ended = converge(&mut world, Duration::from_secs(60), &stop).await;
        assert_eq!(ended, Err(Stalled::Failed(error(true))));
    }

    #[tokio::test(start_paused = true)]
    async fn an_act_without_effect_is_not_repeated_without_a_pause() {
        let mut world = world(vec![turn(Step::Wait(waiting()), false)], turn(bootstrap(), false));
        let ended = converge(&mut world, Duration::from_secs(60), &CancellationToken::new()).await;
        let acted = Some(Box::new(Action::BootstrapEtcd(Uid::new("a"))));
        assert_eq!(ended, Err(Stalled::TimedOut { waiting: None, failure: None, acted }));
        assert!(world.acted < 100, "it acted {} times in a minute", world.acted);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_is_heard_while_waiting() {
        let stop = CancellationToken::new();
        stop.cancel();
        let mut world = world(vec![], turn(Step::Wait(waiting()), false));
        assert_eq!(converge(&mut world, Duration::from_secs(60), &stop).await, Err(Stalled::Stopped));
    }

    #[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    fn label(text: &str) -> Label {
        Label::parse(text).unwrap()
    }
}
