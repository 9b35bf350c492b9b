//! Tools by names their servers gave them before.

use connections::preset;
use domain::SnapshotTool;
use policy::NameLimits;
use policy::names::expose;

use super::View;

impl View {
    /// The tool that is there under another name by now, as its preset says.
    pub(crate) fn by_former_name(&self, name: &str, limits: NameLimits) -> Option<&SnapshotTool> {
        self.snapshot().tools.iter().find(|tool| {
            let connection = tool
                .tool
                .connection()
                .and_then(|id| self.workspace.connection(id));
            let Some((connection, preset)) =
                connection.and_then(|connection| Some((connection, connection.preset.as_ref()?)))
            else {
                return false;
            };
            let namespace = Some(&connection.namespace).filter(|_| self.connection.is_none());
            preset::names(preset, tool.tool.name())
                .into_iter()
                .any(|other| *expose(namespace, other, connection.id, limits) == *name)
        })
    }
}
