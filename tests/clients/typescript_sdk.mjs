#!/usr/bin/env node
// The official TypeScript SDKs, unchanged: authorization, tools, refresh. Run it beside a server:
//   server.py --access-token-seconds 3 node typescript_sdk.mjs sdk              @modelcontextprotocol/sdk 1.x
//   server.py --access-token-seconds 3 node typescript_sdk.mjs client [MODE]    @modelcontextprotocol/client 2.x;
//                                                    MODE: auto, legacy or a protocol revision to pin

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const [generation, mode = 'legacy'] = process.argv.slice(2);
const mcpUrl = new URL('/mcp', process.env.BRAIN_TEST_URL);
const callback = 'http://127.0.0.1:53702/callback';
const accessTokenSeconds = 3;
const packages = createRequire(path.join(process.env.BRAIN_TEST_NODE_MODULES, 'x.js'));

/** Both generations under the names that the newer one uses. */
function sdk() {
  if (generation === 'client') return packages('@modelcontextprotocol/client');
  return {
    ...packages('@modelcontextprotocol/sdk/client/index.js'),
    ...packages('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ...packages('@modelcontextprotocol/sdk/client/auth.js'),
  };
}
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = sdk();

/** The owner's browser: browser.py walks the pages and prints where it is sent back to. */
async function approve(url) {
  const script = path.join(import.meta.dirname, 'browser.py');
  const { stdout } = await promisify(execFile)('python3', [script, '--print', url.href]);
  return new URL(stdout.trim()).searchParams;
}

/** What the SDK asks a host to keep. */
class Memory {
  redirectUrl = callback;
  clientMetadata = {
    client_name: 'TypeScript SDK',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  state() { return (this.expectedState = randomUUID()); }
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  codeVerifier() { return this.verifier; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  discoveryState() { return this.discovery; }
  saveDiscoveryState(state) { this.discovery = state; }
  async redirectToAuthorization(url) { this.answer = await approve(url); }
}

let passed = 0;
async function step(name, action) {
  try {
    const result = await action();
    passed += 1;
    console.log(`ok   ${name}`);
    return result;
  } catch (error) {
    console.log(`FAIL ${name}: ${error.stack ?? error}`);
    console.log(`${passed} passed, 1 failed`);
    process.exit(1);
  }
}
function expect(holds, complaint) { if (!holds) throw new Error(complaint); }

async function connect(memory) {
  const pin = ['auto', 'legacy'].includes(mode) ? mode : { pin: mode };
  const client = new Client({ name: 'brain-mcp tests', version: '1' }, { versionNegotiation: { mode: pin } });
  const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: memory });
  await client.connect(transport);
  return { client, transport };
}

/** As the SDKs want it: the first try ends in UnauthorizedError, then the host redeems the code and tries again. */
async function authorizeAndConnect(memory) {
  try {
    return await connect(memory);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  expect(memory.answer.get('state') === memory.expectedState, 'state came back changed');
  const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: memory });
  await transport.finishAuth(generation === 'client' ? memory.answer : memory.answer.get('code'));
  return connect(memory);
}

/** The first page that a search result names. */
function firstPath(value) {
  if (value === null || typeof value !== 'object') return undefined;
  if (typeof value.path === 'string') return value.path;
  return Object.values(value).map(firstPath).find((found) => found !== undefined);
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  expect(!result.isError, `${name} failed: ${JSON.stringify(result.content)}`);
  return result;
}

console.log(`== TypeScript ${generation}, ${mode}`);
const memory = new Memory();
const { client, transport } = await step('discover, register, sign in, allow, connect', () => authorizeAndConnect(memory));
const wanted = { legacy: '2025-11-25', auto: '2026-07-28' }[mode] ?? mode;
await step(`the protocol revision is ${wanted}`, () => {
  const revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
  expect(revision === wanted, revision);
});
await step('tools/list has search and read_page', async () => {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  expect(names.includes('search') && names.includes('read_page'), names.join());
});
const page = await step('search finds a page', async () => {
  const found = firstPath((await call(client, 'search', { query: 'sourdough' })).structuredContent);
  expect(found, 'no page was found');
  return found;
});
const before = await step(`read_page ${page}`, () => call(client, 'read_page', { path: page }));
await step('search_notes links what it finds, and the link can be read', async () => {
  const found = await call(client, 'search_notes', { query: 'sourdough', limit: 3 });
  const link = found.content.find((block) => block.type === 'resource_link');
  expect(link?.uri.startsWith('vault://notes/'), JSON.stringify(found.content));
  const { contents } = await client.readResource({ uri: link.uri });
  expect(contents[0].text.length > 0 && contents[0].mimeType === 'text/markdown', JSON.stringify(contents));
});
await step('resources are listed, with a template', async () => {
  const uris = (await client.listResources()).resources.map((resource) => resource.uri);
  expect(uris.includes('vault://tags') && uris.includes('vault://recent'), uris.join());
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates[0].uriTemplate === 'vault://notes/{path}', JSON.stringify(resourceTemplates));
});
await step('prompts are listed and filled in', async () => {
  const names = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  expect(names.includes('summarize_topic'), names.join());
  const { messages } = await client.getPrompt({ name: 'summarize_topic', arguments: { topic: 'sourdough' } });
  expect(messages[0].content.text.includes('sourdough'), JSON.stringify(messages));
});
await step('a path is completed', async () => {
  const ref = { type: 'ref/resource', uri: 'vault://notes/{path}' };
  const { completion } = await client.complete({ ref, argument: { name: 'path', value: 'kitchen/' } });
  expect(completion.values.some((path) => path.startsWith('kitchen/')), JSON.stringify(completion));
});
const firstToken = memory.kept.access_token;
await sleep((accessTokenSeconds + 1) * 1000);
await step('search again after the token has expired', () => call(client, 'search', { query: 'sourdough' }));
await step('the token was refreshed', () => expect(memory.kept.access_token !== firstToken, 'it is the same token'));
await step('read the page again', async () => {
  const after = await call(client, 'read_page', { path: page });
  expect(JSON.stringify(after.structuredContent) === JSON.stringify(before.structuredContent), 'the page has changed');
});
await step('close', async () => {
  await transport.terminateSession?.();
  await client.close();
});
console.log(`${passed} passed, 0 failed`);
process.exit(0);
