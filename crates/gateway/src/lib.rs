//! The kernel: the one road every call takes, whoever asks and on whatever surface.
//!
//! It knows capabilities by their declarations, composes what an agent may use, checks arguments, decides, asks a person, records
//! before and after, and dispatches. It speaks no HTTP and no protocol, and reads neither environment nor files.

mod approval;
mod call;
pub mod capability;
mod change;
mod context;
mod explain;
mod facts;
mod gateway;
mod operate;
mod ports;
mod prompt;
mod record;
mod selected;
mod server_failure;
mod sign_in;
mod skill;
mod view;
mod wave;

pub use call::{
    ApprovalNotice, ContextRequest, Exchange, Notice, ProbeRequest, Probed, ReplyBody, ToolReply, ToolRequest,
};
pub use capability::{Capability, Carried, Context, Failure, FailureKind, Registry};
pub use change::{Change, Changed};
pub use explain::{Explained, ExplainedStep};
pub use facts::{KnownFacts, Workspace};
pub use gateway::{Gateway, Options};
pub use operate::{Operation, Reply};
pub use ports::{KeyTable, Later, Ports, Reload, ReloadReport};
pub use prompt::{PromptMessage, Role};
pub use selected::{ContextPart, Missing, PartContent, SelectedContext};
pub use skill::{LoadedSkill, SkillText};
pub use store::WriterCounts as RecordCounts;
pub use view::{AgentRef, Catalogued, Mirrored, OfferedSkill, Scope, View, ViewKey};
pub use wave::Rejections;
