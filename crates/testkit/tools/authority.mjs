// A real authorization server (npm oidc-provider) on 127.0.0.1. Arguments: the folder of packages, and JSON: `clients` that are
// registered beforehand, and `features` that replace these. It says its issuer on standard output. Whoever signs in is ada, who
// consents to everything, unless the request's `login_hint` is `deny`.
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// Nothing but the issuer goes to standard output, which is not read further.
console.info = console.warn = console.error;

const [packages, wishes] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(packages, "oidc-provider/lib/index.js")));
const { clients = [], features = {} } = JSON.parse(wishes ?? "{}");

const configuration = {
  clients,
  scopes: ["openid", "offline_access"],
  cookies: { keys: ["only for tests"] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: "tools:read tools:call",
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: "jwt",
      }),
    },
    ...features,
  },
};

async function interact(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const finish = (result, merge) => provider.interactionFinished(request, response, result, { mergeWithLastSubmission: merge });
  if (params.login_hint === "deny") {
    return finish({ error: "access_denied", error_description: "ada says no" }, false);
  }
  if (prompt.name === "login") {
    return finish({ login: { accountId: "ada" } }, false);
  }
  const known = grantId ? await provider.Grant.find(grantId) : undefined;
  const grant = known ?? new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  return finish({ consent: { grantId: await grant.save() } }, true);
}

let answer;
const server = createServer((request, response) => answer(request, response));
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration);
  provider.on("server_error", (_, error) => console.error(error));
  const others = provider.callback();
  answer = (request, response) => {
    if (!request.url.startsWith("/interaction/")) {
      return others(request, response);
    }
    interact(provider, request, response).catch((error) => {
      console.error(error);
      response.writeHead(500).end();
    });
  };
  console.log(JSON.stringify({ issuer }));
});
