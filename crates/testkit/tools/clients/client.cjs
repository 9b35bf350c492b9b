// Drives the published TypeScript client as told; arguments, commands and replies are those of client.py.
'use strict';

const readline = require('node:readline');
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const [era, modes, content, ...target] = process.argv.slice(2);

const say = line => process.stdout.write(`${JSON.stringify(line)}\n`);

function transport() {
  if (!target[0].startsWith('http')) {
    return new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env });
  }
  const headers = { Authorization: `Bearer ${process.env.SWITCHBOARD_API_KEY}` };
  return new StreamableHTTPClientTransport(new URL(target[0]), { requestInit: { headers } });
}

async function perform(client, order, signal) {
  switch (order.do) {
    case 'tools':
      return (await client.listTools()).tools;
    case 'call': {
      const onprogress = order.progress ? ({ progress, total, message }) => say({ event: 'progress', progress, total, message }) : undefined;
      return client.callTool({ name: order.name, arguments: order.arguments ?? {} }, { signal, onprogress });
    }
    case 'prompts':
      return (await client.listPrompts()).prompts;
    case 'prompt':
      return client.getPrompt({ name: order.name, arguments: order.arguments ?? {} }, { signal });
    case 'resources':
      return (await client.listResources()).resources;
    case 'templates':
      return (await client.listResourceTemplates()).resourceTemplates;
    case 'resource':
      return client.readResource({ uri: order.uri }, { signal });
    case 'complete':
      return client.complete({ ref: { type: 'ref/prompt', name: order.prompt }, argument: order.argument });
    case 'listen':
      // The client listens by itself.
      return client.autoOpenedSubscription?.honoredFilter ?? {};
    default:
      throw new Error(`no such command: ${order.do}`);
  }
}

async function run(client, order, signal) {
  try {
    say({ id: order.id, result: await perform(client, order, signal) });
  } catch (error) {
    const reply = signal.aborted ? { cancelled: true } : { code: error.code, message: error.message, data: error.data };
    say({ id: order.id, error: reply });
  }
}

async function main() {
  const elicitation = modes ? Object.fromEntries(modes.split(',').map(mode => [mode, {}])) : undefined;
  const client = new Client(
    { name: 'client.cjs', version: '1' },
    {
      capabilities: { elicitation },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => say({ event: 'tools_changed' }) } },
    },
  );
  if (elicitation) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      say({ event: 'elicitation', params });
      return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: JSON.parse(content) };
    });
  }
  await client.connect(transport());
  say({ event: 'connected', protocol: client.getNegotiatedProtocolVersion(), server: client.getServerVersion() });
  const orders = new Map();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    if (order.do === 'cancel') {
      orders.get(order.id).abort();
      continue;
    }
    const aborting = new AbortController();
    orders.set(order.id, aborting);
    run(client, order, aborting.signal);
  }
  await client.close();
}

main().then(() => process.exit(0), error => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
