//! Published clients against a whole Switchboard, each in both eras and over each of its transports.

pub(crate) mod driver;
mod flow;
mod inspector;
mod outputs;
mod world;

use driver::{Era, Sdk};
use flow::Way;

async fn check(sdk: Sdk, era: Era, way: Way) {
    let Some(tools) = testkit::tools::Tools::find() else {
        return;
    };
    flow::check(&tools, sdk, era, way).await;
}

#[tokio::test]
async fn python_modern() {
    check(Sdk::Python, Era::Modern, Way::Http).await;
}

#[tokio::test]
async fn python_legacy() {
    check(Sdk::Python, Era::Legacy, Way::Http).await;
}

#[tokio::test]
async fn typescript_modern() {
    check(Sdk::TypeScript, Era::Modern, Way::Http).await;
}

#[tokio::test]
async fn typescript_legacy() {
    check(Sdk::TypeScript, Era::Legacy, Way::Http).await;
}

#[tokio::test]
async fn python_modern_through_the_bridge() {
    check(Sdk::Python, Era::Modern, Way::Bridge).await;
}

#[tokio::test]
async fn python_legacy_through_the_bridge() {
    check(Sdk::Python, Era::Legacy, Way::Bridge).await;
}

#[tokio::test]
async fn outputs_of_any_kind() {
    let Some(tools) = testkit::tools::Tools::find() else {
        return;
    };
    for era in [Era::Modern, Era::Legacy] {
        for sdk in [Sdk::Python, Sdk::TypeScript] {
            outputs::check(&tools, sdk, era).await;
        }
    }
}
