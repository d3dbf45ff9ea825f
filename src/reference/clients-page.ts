import { fenced, sections, table } from './write'

/** The page about the clients that come with the server (contract 23). */
export const clientsPage = (origin: string): string =>
  sections(
    '# Clients',
    '## Any client of chat completions',
    `Set its base URL to \`${origin}/api/v1\` and its key to a key of this server. Streams, tools, images and structured answers work.`,
    '## TypeScript',
    'For Node, Bun and bundlers. Run `bun run make client` in the folder of this server to build the package. Its types match the API.',
    fenced('sh', 'npm install /path/to/svc-client-0.1.0.tgz'),
    fenced(
      'ts',
      [
        "import { createSvc, SvcError } from 'svc/client'",
        '',
        `const svc = createSvc({ baseUrl: '${origin}' }) // the key comes from SVC_API_KEY`,
        '',
        "const { content } = await svc.complete({ prompt: 'Count to five slowly' })",
        '',
        "for await (const { event, data } of svc.stream({ prompt: 'Explain tides.' })) {",
        "  if (event === 'token') process.stdout.write((data as { token: string }).token)",
        '}',
      ].join('\n'),
    ),
    table(
      ['What', 'How'],
      [
        ['Answers', '`complete`, `stream`, `chat`, `streamChat`'],
        ['Create content', '`code`, `document`, `image`, `video`, `research`, `speak`, `transcribe`'],
        ['Jobs', '`jobs.list`, `get`, `cancel`, `wait`'],
        ['Read', '`models`, `model`, `tools`, `usage`, `settings`, `rateLimits`, `health`, `verify`'],
        [
          'Nouns',
          '`skills`, `workflows`, `conversations`, `webhooks`, `hooks`, `canvases`, `browser`, each with `list` and more',
        ],
        ['Every other route', "`request('GET', '/audit', { query: { limit: 10 } })`"],
      ],
    ),
    [
      '- A request times out after 30 s, or two minutes if it calls an engine. `timeoutMs` changes this.',
      '- After 429, 5xx or a lost connection it retries twice, after 1 and 2 s or as `Retry-After` says.',
      '- Each POST has an `Idempotency-Key`, the same in each retry, so nothing happens twice. `idempotencyKey` sets your own.',
      '- An error is an `SvcError` with `status`, `code`, `requestId`, `retryAfterS` and `details`.',
      '- Leaving the loop over a stream cancels the request.',
    ].join('\n'),
    '## Webhooks',
    'Verify a delivery against the raw bytes of its body, before you parse them:',
    fenced(
      'ts',
      [
        "import { verifyWebhook } from 'svc/client'",
        '',
        'const event = await verifyWebhook({',
        '  body: await request.text(),',
        '  headers: request.headers,',
        "  secret: 'whsec_…', // shown when you created the webhook",
        '})',
      ].join('\n'),
    ),
    '## Command line',
    table(
      ['Command', 'Does'],
      [
        ['`svc init`', 'project settings, editor entries, rules for agents'],
        ['`svc login`, `logout`, `status`, `verify`', 'store, remove and test the key'],
        ['`svc complete "PROMPT"`', 'answers, and shows the cost'],
        ['`svc skill init`, `validate`, `publish`', 'creates, checks and submits a skill'],
        ['`svc mcp install`', 'writes the entry for Cursor, Claude Code, Windsurf, Warp and VS Code'],
      ],
    ),
    'The key comes from `SVC_API_KEY` or `~/.svc/credentials`, the address from `SVC_BASE_URL`.',
    '## MCP',
    `Agents can use this server as MCP tools: over HTTP at \`${origin}/mcp\` with the key as \`Authorization: Bearer\`, or over stdio with \`svc mcp\`.`,
    fenced(
      'json',
      JSON.stringify(
        { mcpServers: { svc: { url: `${origin}/mcp`, headers: { Authorization: 'Bearer svc_sk_…' } } } },
        null,
        2,
      ),
    ),
    'Tools: `svc_complete`, `svc_code`, `svc_research`, `svc_image`, `svc_document`, `svc_skill_list`, `svc_skill_install`, `svc_status`. Resources: `svc://models`, `svc://skills/installed`, `svc://health`. Each tool calls the API with your key, with the same scopes, limits and credit.',
  )
