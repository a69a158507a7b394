//! Thousands of made-up cases, the same in every run: what Talos' library makes of them and what we make of them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kontinuum::domain::machine_configuration::{
    MachineConfiguration, ParseError, Patch, Problem, ProblemKind, SecretsBundle, generate, patch, validate,
};
use serde_json::{Value, json};

use super::cases::Case;
use super::corpus::{self, Corpus};
use super::deviations;
use super::judge::Judge;
use super::patches;
use super::random::Random;
use super::{CONTRACTS, inputs, secrets};

const GENERATED: usize = 3200;
const PATCHED: usize = 1200;
const JUDGED: usize = 600;

/// What came of a case: the text, or which patch was refused and why.
#[derive(Debug)]
pub(crate) enum Outcome {
    Made(String),
    /// None of the patches is `None`.
    Refused(Option<usize>, Reason),
    /// Made by us with a warning about this patch, whatever came of those after it.
    Warned(usize),
}

/// What was said of the refused.
#[derive(Debug)]
pub(crate) enum Reason {
    Theirs(String),
    Ours(ParseError),
}

fn ours(start: Result<MachineConfiguration, ParseError>, patches: &[String]) -> Outcome {
    let refused = |index, error| Outcome::Refused(index, Reason::Ours(error));
    let mut configuration = match start {
        Ok(configuration) => configuration,
        Err(error) => return refused(None, error),
    };
    for (index, text) in patches.iter().enumerate() {
        match Patch::parse(text) {
            Ok(read) => match patch(&configuration, &[read]) {
                Ok(patched) if !patched.warnings.is_empty() => return Outcome::Warned(index),
                Ok(patched) => configuration = patched.configuration,
                Err(error) => return refused(Some(index), error.source),
            },
            Err(error) => return refused(Some(index), error),
        }
    }
    Outcome::Made(configuration.to_yaml().expose().to_owned())
}

/// The judge's answer, without the patches that stand for options.
fn theirs(answer: &Value, own: usize) -> Outcome {
    let result = &answer["result"];
    let Some(refused) = result["refused"].as_str().filter(|refused| !refused.is_empty()) else {
        assert!(answer["refused"].is_null(), "the judge has an answer to every case: {answer}");
        return Outcome::Made(result["configuration"].as_str().unwrap().to_owned());
    };
    let index = usize::try_from(result["patch"].as_i64().unwrap()).ok().map(|index| {
        assert!(index >= own, "Talos refuses what stands for an option: {refused}");
        index - own
    });
    Outcome::Refused(index, Reason::Theirs(refused.to_owned()))
}

/// Compares all outcomes, and fails with the first that differ and that no deviation explains.
fn compare(
    cases: impl Iterator<Item = (String, Vec<String>, Outcome, Outcome)>,
) -> BTreeMap<&'static str, usize> {
    let mut met = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for (what, patches, theirs, ours) in cases {
        count += 1;
        let Some(difference) = difference(&patches, &theirs, &ours) else {
            *met.entry(if matches!(ours, Outcome::Made(_)) { "made" } else { "refused" }).or_default() += 1;
            continue;
        };
        match deviations::explaining(&patches, &theirs, &ours) {
            Some(id) => *met.entry(id).or_default() += 1,
            None => wrong.push(format!("{difference}\n--- {what}\n{}", patches.join("\n=====\n"))),
        }
    }
    let shown: Vec<&String> = wrong.iter().take(shown()).collect();
    assert!(
        wrong.is_empty(),
        "{} of {count} differ; {met:?}\n{}",
        wrong.len(),
        shown.iter().map(|it| it.as_str()).collect::<Vec<_>>().join("\n##########\n")
    );
    met
}

/// How many differences are printed.
fn shown() -> usize {
    given("KONTINUUM_SHOWN").unwrap_or(5) as usize
}

/// The seed of the cases; another one makes others.
fn seed(usual: u64) -> u64 {
    given("KONTINUUM_SEED").unwrap_or(usual)
}

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// In words, how two outcomes differ.
fn difference(patches: &[String], theirs: &Outcome, ours: &Outcome) -> Option<String> {
    match (theirs, ours) {
        (Outcome::Made(theirs), Outcome::Made(ours)) => (theirs != ours).then(|| {
            let differs = theirs.lines().zip(ours.lines()).find(|(theirs, ours)| theirs != ours);
            format!(
                "other bytes: (theirs, ours) {differs:?} of {} and {} lines",
                theirs.lines().count(),
                ours.lines().count()
            )
        }),
        (Outcome::Refused(theirs, Reason::Theirs(text)), Outcome::Refused(ours, Reason::Ours(error))) => {
            let patch = ours.and_then(|index| patches.get(index));
            let is_json = patch.is_some_and(|patch| patch.starts_with("- {op: "));
            // The lines of a text that a JSON patch made are nobody's.
            let same = theirs == ours && (is_json || is_same_place(text, error));
            (!same).then(|| format!("another place: theirs {theirs:?} {text}\nours {ours:?} {error}"))
        }
        (Outcome::Refused(index, Reason::Theirs(text)), _) => {
            Some(format!("only Talos refuses patch {index:?}: {text}"))
        }
        (_, Outcome::Refused(index, Reason::Ours(error))) => {
            Some(format!("only we refuse patch {index:?}: {error}"))
        }
        (theirs, Outcome::Warned(index)) => Some(format!("only we warn of patch {index}: {theirs:?}")),
        (_, Outcome::Made(_) | Outcome::Refused(..)) => None,
    }
}

/// Whether a text of Talos' and an error of ours mean the same place, as far as Talos names one.
fn is_same_place(theirs: &str, ours: &ParseError) -> bool {
    let problems = match ours {
        ParseError::Problems(problems) => problems.as_slice(),
        ParseError::Yaml(_) => {
            return theirs.contains("yaml") || theirs.contains("did not find") || theirs.contains("line");
        }
    };
    // Faults of a whole document, and directives that are none, which Talos takes for values.
    let is_wide = |problem: &Problem| problem.path.is_empty() || problem.to_string().contains("directive");
    if problems.iter().any(is_wide) {
        return true;
    }
    if theirs.contains("unknown keys found during decoding") {
        return problems.iter().any(|problem| {
            let leaf = problem.path.rsplit(['.', '[']).next().unwrap_or_default().trim_end_matches(']');
            matches!(problem.kind, ProblemKind::UnknownKey { .. }) && theirs.contains(leaf)
        });
    }
    // Of a certificate and its key, and of a flag's values, Talos names the line of the first.
    if theirs.contains("illegal base64") || theirs.contains("arg value must be") {
        let is_it =
            |problem: &Problem| problem.path.contains("xtraArgs") || problem.to_string().contains("base64");
        return problems.iter().any(is_it);
    }
    if let Some((_, rest)) = theirs.split_once("construct errors:") {
        let lines: Vec<usize> = rest
            .split("line ")
            .skip(1)
            .filter_map(|rest| rest.split(':').next().and_then(|number| number.parse().ok()))
            .collect();
        return lines.is_empty() || problems.iter().any(|problem| lines.contains(&problem.line));
    }
    if let Some((_, rest)) = theirs.split_once("patch delete: path '") {
        let path = rest.split('\'').next().unwrap_or_default();
        let keys = |path: &str| path.replace(['[', ']'], ".").replace("..", ".").trim_matches('.').to_owned();
        return problems
            .iter()
            .any(|problem| problem.line > 0 || keys(path).starts_with(&keys(&problem.path)));
    }
    true
}

#[test]
fn thousands_of_machines_are_generated_and_patched_as_talos_does() {
    let mut judge = Judge::start();
    let secrets = secrets(&mut judge);
    let bundle = SecretsBundle::from_yaml(&secrets).unwrap();
    let corpus = Corpus::new(&mut judge);
    let mut random = Random::new(seed(4));
    let cases: Vec<Case> = (0..GENERATED)
        .map(|_| {
            let mut case = Case::new(&mut random);
            case.patches = (0..random.below(3)).map(|_| corpus.patch(&mut random, 50)).collect();
            case
        })
        .collect();
    let (questions, own): (Vec<Value>, Vec<usize>) = cases.iter().map(|case| case.question(&secrets)).unzip();
    let (answers, outcomes) = judge.ask_all("case", &questions, || {
        let made = |case: &Case| {
            let start = generate(&case.inputs, &bundle, case.contract).unwrap();
            ours(Ok(start), &case.patches)
        };
        cases.iter().map(made).collect::<Vec<_>>()
    });
    let met = compare(cases.into_iter().zip(own).zip(answers.iter().zip(outcomes)).map(
        |((case, own), (answer, outcome))| {
            let what = format!("{:?} {}", case.inputs.role, case.contract);
            (what, case.patches, theirs(answer, own), outcome)
        },
    ));
    assert!(met["made"] > GENERATED / 2, "most cases should be taken: {met:?}");
}

#[test]
fn every_example_of_talos_documentation_is_read_and_written_as_talos_does() {
    let mut judge = Judge::start();
    let examples = corpus::examples(&mut judge);
    assert!(examples.len() > 200, "{}", examples.len());
    let questions: Vec<Value> =
        examples.iter().map(|text| json!({ "configuration": text, "patches": [] })).collect();
    let (answers, outcomes) = judge.ask_all("case", &questions, || {
        examples.iter().map(|text| ours(MachineConfiguration::parse(text), &[])).collect::<Vec<_>>()
    });
    let met = compare(
        examples
            .iter()
            .zip(answers.iter().zip(outcomes))
            .map(|(text, (answer, outcome))| (text.clone(), Vec::new(), theirs(answer, 0), outcome)),
    );
    assert!(met["made"] > 200, "{met:?}");
}

#[test]
fn a_thousand_patches_over_real_configurations_do_what_talos_does() {
    let mut judge = Judge::start();
    let secrets = secrets(&mut judge);
    let bundle = SecretsBundle::from_yaml(&secrets).unwrap();
    let corpus = Corpus::new(&mut judge);
    let mut random = Random::new(seed(6902));
    let cases: Vec<(String, Vec<String>)> = (0..PATCHED)
        .map(|_| {
            let is_json = random.chance(50);
            let mut case = Case::new(&mut random);
            if is_json && random.chance(90) {
                case.contract = *random.pick(&CONTRACTS[..2]);
            }
            let configuration = generate(&case.inputs, &bundle, case.contract).unwrap();
            let patches = (0..=random.below(4))
                .map(|_| {
                    if random.chance(40) {
                        corpus::json_patch(&mut random)
                    } else {
                        corpus.patch(&mut random, 25)
                    }
                })
                .collect();
            (configuration.to_yaml().expose().to_owned(), patches)
        })
        .collect();
    let questions: Vec<Value> = cases
        .iter()
        .map(|(configuration, patches)| json!({ "configuration": configuration, "patches": patches }))
        .collect();
    let (answers, outcomes) = judge.ask_all("case", &questions, || {
        let made = |(configuration, patches): &(String, Vec<String>)| {
            ours(MachineConfiguration::parse(configuration), patches)
        };
        cases.iter().map(made).collect::<Vec<_>>()
    });
    let met = compare(
        cases
            .into_iter()
            .zip(answers.iter().zip(outcomes))
            .map(|((_, patches), (answer, outcome))| (String::new(), patches, theirs(answer, 0), outcome)),
    );
    assert!(met["made"] > PATCHED / 4 && met["refused"] > PATCHED / 4, "{met:?}");
}

#[test]
fn hundreds_of_configurations_are_judged_as_talos_judges_them() {
    let mut judge = Judge::start();
    let bundle = SecretsBundle::from_yaml(&secrets(&mut judge)).unwrap();
    let corpus = Corpus::new(&mut judge);
    let mut random = Random::new(seed(400));
    let mut written = patches::JUDGED.iter().cycle();
    let mut cases: Vec<(String, String)> = Vec::new();
    while cases.len() < JUDGED {
        let case = Case::new(&mut random);
        let text = if random.chance(50) {
            (*written.next().unwrap()).to_owned()
        } else {
            corpus.patch(&mut random, 40)
        };
        // Most start from a configuration without a fault, so that the patch decides.
        let inputs = if random.chance(90) { inputs(case.inputs.role) } else { case.inputs };
        let start = generate(&inputs, &bundle, case.contract).unwrap();
        let Outcome::Made(configuration) = ours(Ok(start), std::slice::from_ref(&text)) else { continue };
        // Talos writes a protocol that is not set so that nobody reads it.
        if MachineConfiguration::parse(&configuration).is_ok() {
            cases.push((configuration, format!("{:?} {}\n{text}", inputs.role, case.contract)));
        }
    }
    let questions: Vec<Value> =
        cases.iter().map(|(text, _)| json!({ "configuration": STANDARD.encode(text) })).collect();
    let (answers, verdicts) = judge.ask_all("validate", &questions, || {
        let judged =
            |(text, _): &(String, String)| validate(&MachineConfiguration::parse(text).unwrap(), false);
        cases.iter().map(judged).collect::<Vec<_>>()
    });
    let (mut refused, mut warned, mut wrong) = (0, 0, Vec::new());
    for ((_, what), (answer, verdict)) in cases.iter().zip(answers.iter().zip(verdicts)) {
        let theirs = answer["refused"].as_str();
        let is_own = |problem: &&Problem| problem.to_string().contains("kontinuum");
        let errors: Vec<&Problem> = verdict.errors.iter().filter(|problem| !is_own(problem)).collect();
        let own_warnings = verdict.warnings.iter().filter(|problem| !is_own(problem)).count();
        let warnings = answer["result"]["warnings"].as_array().map_or(0, Vec::len);
        refused += usize::from(theirs.is_some());
        warned += usize::from(warnings > 0);
        if theirs.is_some() != errors.is_empty() && (theirs.is_some() || warnings == own_warnings) {
            continue;
        }
        if !theirs.is_some_and(deviations::is_expression) {
            wrong.push(format!(
                "theirs {theirs:?} {}\nours {errors:?} {:?}\n{what}",
                answer["result"]["warnings"], verdict.warnings
            ));
        }
    }
    let all: Vec<&str> = wrong.iter().take(shown()).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} differ, {refused} refused, {warned} warned of\n{}",
        wrong.len(),
        all.join("\n##########\n")
    );
    assert!(
        refused >= 250 && JUDGED - refused >= 100 && warned >= 3,
        "{refused} refused, {warned} warned of"
    );
}
