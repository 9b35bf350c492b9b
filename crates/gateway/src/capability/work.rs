//! What a capability does once it was decided, behind one erased type: act itself, or carry a call of a tool.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Context, Failure};
use crate::{ToolReply, ToolRequest, View};

/// The call that a capability carries: which tool, as whom. The kernel makes it, and it is decided and recorded on its own.
#[derive(Clone)]
pub struct Carried {
    /// What the agent sees that it is made as.
    pub view: Arc<View>,
    /// The call.
    pub request: ToolRequest,
}

type Answer = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;
type Act = Arc<dyn Fn(Context, Value) -> Answer + Send + Sync>;
type Find = Arc<dyn Fn(Context, Value) -> Result<Carried, Failure> + Send + Sync>;
type Tell = Arc<dyn Fn(ToolReply) -> Result<Value, Failure> + Send + Sync>;

/// The handler of a capability.
#[derive(Clone)]
pub(super) enum Work {
    /// It acts: the call of the capability is what is recorded.
    Acts(Act),
    /// It only finds the call that is meant, and tells what came of it: that call is what is recorded.
    Carries { find: Find, tell: Tell },
}

impl Work {
    pub(super) fn acts<I, O, F, R>(handler: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + 'static,
        F: Fn(Context, I) -> R + Send + Sync + Clone + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
    {
        Self::Acts(Arc::new(move |context, input| {
            let handler = handler.clone();
            Box::pin(async move { written(handler(context, read(input)?).await?) })
        }))
    }

    pub(super) fn carries<I, O>(
        find: impl Fn(Context, I) -> Result<Carried, Failure> + Send + Sync + 'static,
        tell: impl Fn(ToolReply) -> O + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned,
        O: Serialize,
    {
        Self::Carries {
            find: Arc::new(move |context, input| find(context, read(input)?)),
            tell: Arc::new(move |reply| written(tell(reply))),
        }
    }

    /// Acts. A handler that panics has failed, nothing more.
    pub(super) async fn act(&self, context: Context, input: Value) -> Result<Value, Failure> {
        let Self::Acts(handler) = self else {
            let why = "it carries a call and cannot be carried itself";
            return Err(Failure::internal("the operation cannot be done here", why));
        };
        let handler = handler.clone();
        let acting = AssertUnwindSafe(async move { handler(context, input).await }).catch_unwind();
        acting.await.unwrap_or_else(|panic| Err(fault(&*panic)))
    }

    /// Finds the call that is meant; none if it acts itself.
    pub(super) fn find(&self, context: Context, input: Value) -> Option<Result<Carried, Failure>> {
        let Self::Carries { find, .. } = self else {
            return None;
        };
        let found = catch_unwind(AssertUnwindSafe(|| find(context, input)));
        Some(found.unwrap_or_else(|panic| Err(fault(&*panic))))
    }

    /// Tells what came of the call that was carried.
    pub(super) fn tell(&self, reply: ToolReply) -> Result<Value, Failure> {
        match self {
            Self::Carries { tell, .. } => {
                let told = catch_unwind(AssertUnwindSafe(|| tell(reply)));
                told.unwrap_or_else(|panic| Err(fault(&*panic)))
            }
            Self::Acts(_) => Ok(Value::Null),
        }
    }
}

fn read<I: DeserializeOwned>(input: Value) -> Result<I, Failure> {
    serde_json::from_value(input).map_err(|error| Failure::invalid_input(&error))
}

fn written(output: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(output).map_err(|error| Failure::internal("the answer could not be written", error))
}

fn fault(panic: &(dyn Any + Send)) -> Failure {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Failure::internal("the operation ended in a fault of ours", said.unwrap_or_default())
}
