//! Resources and data sources without their types, as the service holds them.
//!
//! In go values, out come values; in between stands the typed implementation, and around it the rules of
//! [`plan`](super::plan).

use std::sync::Arc;

use futures::future::BoxFuture;

use super::conform::{received, stored};
use super::model::{attributes_of, decode, encode};
use super::plan;
use super::resource::{Change, Failure};
use super::schema::{AttributeSchema, Schema};
use super::value::Value;
use super::{DataSource, Diagnostics, Model, Operation, Path, Resource};

type Answer<T, E = Diagnostics> = BoxFuture<'static, Result<T, E>>;

/// A planned object and what about it needs a new resource.
pub(crate) struct Planned {
    pub(crate) value: Value,
    pub(crate) replace: Vec<Path>,
}

pub(crate) trait ErasedResource<D>: Send + Sync {
    fn schema(&self) -> &Schema;
    fn validate(self: Arc<Self>, config: Value, operation: Operation<D>) -> Answer<()>;
    fn plan(self: Arc<Self>, config: Value, prior: Value, operation: Operation<D>) -> Answer<Planned>;
    fn plan_delete(self: Arc<Self>, prior: Value, operation: Operation<D>) -> Answer<()>;
    fn create(self: Arc<Self>, planned: Value, operation: Operation<D>) -> Answer<Value>;
    /// Null when it is gone.
    fn read(self: Arc<Self>, prior: Value, operation: Operation<D>) -> Answer<Value>;
    fn update(
        self: Arc<Self>,
        prior: Value,
        planned: Value,
        operation: Operation<D>,
    ) -> Answer<Value, Failure<Value>>;
    fn delete(self: Arc<Self>, prior: Value, operation: Operation<D>) -> Answer<()>;
    fn import(self: Arc<Self>, id: String, operation: Operation<D>) -> Answer<Value>;
    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<Value, Diagnostics>;
}

pub(crate) trait ErasedDataSource<D>: Send + Sync {
    fn schema(&self) -> &Schema;
    fn validate(self: Arc<Self>, config: Value, operation: Operation<D>) -> Answer<()>;
    fn read(self: Arc<Self>, config: Value, operation: Operation<D>) -> Answer<Value>;
}

/// An implementation with its schema, made once.
pub(crate) struct Typed<T> {
    implementation: T,
    schema: Schema,
}

impl<R: Resource> Typed<R> {
    pub(crate) fn resource(implementation: R) -> Self {
        Self { implementation, schema: schema_of::<R::Model>(R::VERSION, R::DESCRIPTION) }
    }
}

impl<S: DataSource> Typed<S> {
    pub(crate) fn data_source(implementation: S) -> Self {
        Self { implementation, schema: schema_of::<S::Model>(0, S::DESCRIPTION) }
    }
}

/// The schema of a model.
pub(crate) fn schema_of<M: Model>(version: i64, description: &str) -> Schema {
    Schema { version, description: description.to_owned(), attributes: attributes_of::<M>() }
}

/// A model of a whole object.
pub(crate) fn decode_root<M: Model>(value: Value) -> Result<M, Diagnostics> {
    decode(value, &Path::root())
}

impl<R: Resource> ErasedResource<R::Data> for Typed<R> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn validate(self: Arc<Self>, config: Value, operation: Operation<R::Data>) -> Answer<()> {
        Box::pin(async move {
            let config = received(&self.schema.attributes, config);
            self.implementation.validate(decode_root(config)?, &operation).await
        })
    }

    fn plan(self: Arc<Self>, config: Value, prior: Value, operation: Operation<R::Data>) -> Answer<Planned> {
        Box::pin(async move {
            let attributes = &self.schema.attributes;
            let [config, prior] = [config, prior].map(|value| received(attributes, value));
            let proposal = plan::propose(attributes, &config, &prior);
            let change = Change {
                config: decode_root(config.clone())?,
                prior: if prior.is_null() { None } else { Some(decode_root(prior.clone())?) },
                planned: decode_root(proposal.clone())?,
            };
            let mut value = encode(self.implementation.plan(change, &operation).await?);
            value.keep_numbers_of(&proposal);
            plan::planned(attributes, &config, &prior, &value).into_result(())?;
            let replace = plan::replacements(attributes, &prior, &value);
            Ok(Planned { value, replace })
        })
    }

    fn plan_delete(self: Arc<Self>, prior: Value, operation: Operation<R::Data>) -> Answer<()> {
        Box::pin(async move { self.implementation.plan_delete(decode_root(prior)?, &operation).await })
    }

    fn create(self: Arc<Self>, planned: Value, operation: Operation<R::Data>) -> Answer<Value> {
        Box::pin(async move {
            let planned = received(&self.schema.attributes, planned);
            let made = self.implementation.create(decode_root(planned.clone())?, &operation).await?;
            result(&planned, made)
        })
    }

    fn read(self: Arc<Self>, prior: Value, operation: Operation<R::Data>) -> Answer<Value> {
        Box::pin(async move {
            let prior = received(&self.schema.attributes, prior);
            let Some(found) = self.implementation.read(decode_root(prior.clone())?, &operation).await? else {
                return Ok(Value::Null);
            };
            let mut value = encode(found);
            value.keep_numbers_of(&prior);
            plan::no_unknown(&value).into_result(value)
        })
    }

    fn update(
        self: Arc<Self>,
        prior: Value,
        planned: Value,
        operation: Operation<R::Data>,
    ) -> Answer<Value, Failure<Value>> {
        Box::pin(async move {
            let [prior, planned] = [prior, planned].map(|value| received(&self.schema.attributes, value));
            let (before, after) = (decode_root(prior.clone())?, decode_root(planned.clone())?);
            match self.implementation.update(before, after, &operation).await {
                Ok(made) => result(&planned, made).map_err(Failure::from),
                Err(Failure { diagnostics, observed }) => {
                    Err(failure(&self.schema.attributes, &prior, diagnostics, observed.map(encode)))
                }
            }
        })
    }

    fn delete(self: Arc<Self>, prior: Value, operation: Operation<R::Data>) -> Answer<()> {
        Box::pin(async move { self.implementation.delete(decode_root(prior)?, &operation).await })
    }

    fn import(self: Arc<Self>, id: String, operation: Operation<R::Data>) -> Answer<Value> {
        Box::pin(async move {
            let value = encode(self.implementation.import(&id, &operation).await?);
            plan::no_unknown(&value).into_result(value)
        })
    }

    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<Value, Diagnostics> {
        let attributes = &self.schema.attributes;
        let present =
            if version == R::VERSION { state } else { self.implementation.upgrade(version, state)? };
        let value = received(attributes, stored(attributes, present.into()));
        // Decoded for its errors: what the model cannot read would fail at every later step.
        decode_root::<R::Model>(value.clone())?;
        Ok(value)
    }
}

impl<S: DataSource> ErasedDataSource<S::Data> for Typed<S> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn validate(self: Arc<Self>, config: Value, operation: Operation<S::Data>) -> Answer<()> {
        Box::pin(async move {
            let config = received(&self.schema.attributes, config);
            self.implementation.validate(decode_root(config)?, &operation).await
        })
    }

    fn read(self: Arc<Self>, config: Value, operation: Operation<S::Data>) -> Answer<Value> {
        Box::pin(async move {
            let config = received(&self.schema.attributes, config);
            let expected = plan::propose(&self.schema.attributes, &config, &Value::Null);
            let asked = plan::asked(&self.schema.attributes, &config);
            let found = self.implementation.read(decode_root(asked)?, &operation).await?;
            result(&expected, found)
        })
    }
}

/// A result as it is sent: checked against what was planned.
fn result<M: Model>(planned: &Value, made: M) -> Result<Value, Diagnostics> {
    let mut value = encode(made);
    value.keep_numbers_of(planned);
    plan::applied(planned, &value).into_result(value)
}

/// A failed update as it is sent: with what was observed, unless that breaks the rules.
fn failure(
    attributes: &[AttributeSchema],
    prior: &Value,
    mut diagnostics: Diagnostics,
    observed: Option<Value>,
) -> Failure<Value> {
    let observed = observed.and_then(|mut observed| {
        observed.keep_numbers_of(prior);
        let broken = plan::observed(attributes, prior, &observed);
        let keeps = broken.is_empty();
        diagnostics.extend(broken);
        keeps.then_some(observed)
    });
    Failure { diagnostics, observed }
}
