//! `{{range}}`: over lists, maps (by key) and whole numbers.

use std::rc::Rc;

use super::ast::Branch;
use super::execute::{Executor, Flow, Outcome};
use super::failure::Failure;
use crate::value::{IntegerType, Value, format};

impl Executor<'_> {
    pub(super) fn range(&mut self, dot: &Value, branch: &Branch) -> Outcome<Flow> {
        let known = self.variables.len();
        let value = self.pipeline(dot, &branch.pipeline)?;
        let went = self.rounds(branch, &value)?;
        let flow = match (&branch.otherwise, went) {
            (Some(otherwise), false) => self.walk(dot, otherwise)?,
            (_, true) | (None, false) => Flow::Next,
        };
        self.variables.truncate(known);
        Ok(flow)
    }

    /// Whether it went round at all.
    fn rounds(&mut self, branch: &Branch, value: &Value) -> Outcome<bool> {
        match value {
            Value::Absent | Value::Nil => Ok(false),
            Value::List(_, items) => {
                for (index, item) in (0..).zip(items.iter()) {
                    if self.round(branch, Value::int(index), item)? == Flow::Break {
                        break;
                    }
                }
                Ok(!items.is_empty())
            }
            Value::Bytes(bytes) => {
                for (index, byte) in (0..).zip(bytes.iter()) {
                    let item = Value::Integer(IntegerType::Uint8, i64::from(*byte));
                    if self.round(branch, Value::int(index), &item)? == Flow::Break {
                        break;
                    }
                }
                Ok(!bytes.is_empty())
            }
            Value::Map(_, map) => {
                // What the body sets is not seen by this range.
                let entries: Vec<_> =
                    map.borrow().iter().map(|(key, value)| (Rc::clone(key), value.clone())).collect();
                for (key, item) in &entries {
                    if self.round(branch, Value::string(key.as_bytes()), item)? == Flow::Break {
                        break;
                    }
                }
                Ok(!entries.is_empty())
            }
            Value::Integer(kind, count) => {
                if branch.pipeline.variables.len() > 1 {
                    let message = format!("can't use {count} to iterate over more than one variable");
                    return Err(self.range_failure(branch, message));
                }
                for number in 0..*count {
                    if self.round(branch, Value::Absent, &Value::Integer(*kind, number))? == Flow::Break {
                        break;
                    }
                }
                Ok(*count > 0)
            }
            Value::Bool(_)
            | Value::Float(_)
            | Value::String(_)
            | Value::Time(_)
            | Value::Duration(_)
            | Value::Object(_) => {
                let shown = format::shown(value);
                Err(self.range_failure(branch, format!("range can't iterate over {shown}")))
            }
        }
    }

    fn round(&mut self, branch: &Branch, index: Value, item: &Value) -> Outcome<Flow> {
        self.iterate()?;
        let item = item.clone();
        let pipeline = &branch.pipeline;
        let top = self.variables.len();
        if pipeline.assigns {
            match pipeline.variables.as_slice() {
                [first, second] => {
                    self.assign(pipeline, first, index)?;
                    self.assign(pipeline, second, item.clone())?;
                }
                [only] => self.assign(pipeline, only, item.clone())?,
                _ => {}
            }
        } else {
            // The pipeline has pushed them; with two, the first is the index.
            let count = pipeline.variables.len();
            if let Some(slot) = (count > 0).then(|| self.variables.get_mut(top - 1)).flatten() {
                slot.1 = item.clone();
            }
            if let Some(slot) = (count > 1).then(|| self.variables.get_mut(top - 2)).flatten() {
                slot.1 = index;
            }
        }
        let flow = self.walk(&item, &branch.body)?;
        self.variables.truncate(top);
        Ok(flow)
    }

    fn range_failure(&self, branch: &Branch, message: String) -> Failure {
        match branch.pipeline.last_evaluated() {
            Some(operand) => self.failure(operand, message),
            None => Failure::new(&self.template, branch.position, branch.pipeline.to_string(), message),
        }
    }
}
