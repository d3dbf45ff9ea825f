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
        ['Things that are made', '`code`, `document`, `image`, `video`, `research`, `speak`, `transcribe`'],
        ['Jobs', '`jobs.list`, `get`, `cancel`, `wait`'],
        ['What there is', '`models`, `model`, `tools`, `usage`, `settings`, `rateLimits`, `health`, `verify`'],
        [
          'Nouns',
          '`skills`, `workflows`, `conversations`, `webhooks`, `hooks`, `canvases`, `browser`, each with `list` and more',
        ],
        ['Every other route', "`request('GET', '/audit', { query: { limit: 10 } })`"],
      ],
    ),
    [
      '- A try takes at most 30 s, and engines two minutes; `timeoutMs` sets another time.',
      '- After 429, 5xx and a broken line it tries twice more, after 1 and 2 s or as long as `Retry-After` says.',
      '- Each POST has an `Idempotency-Key`, the same in each try, so that nothing happens twice. `idempotencyKey` sets your own.',
      '- A refusal is an `SvcError` with `status`, `code`, `requestId`, `retryAfterS` and `details`.',
      '- Leaving the loop over a stream ends the request.',
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
        "  secret: 'whsec_…', // as it was shown when the webhook was made",
        '})',
      ].join('\n'),
    ),
    '## Command line',
    table(
      ['Command', 'Does'],
      [
        ['`svc init`', 'settings of a project, entries of editors, rules for agents'],
        ['`svc login`, `logout`, `status`, `verify`', 'the key: where it goes, and whether it works'],
        ['`svc complete "PROMPT"`', 'answers, and says what it cost'],
        ['`svc skill init`, `validate`, `publish`', 'begins, checks and submits a skill'],
        ['`svc mcp install`', 'writes the entry for Cursor, Claude Code, Windsurf, Warp and VS Code'],
      ],
    ),
    'The key is `SVC_API_KEY`, else that of `~/.svc/credentials`; the address is `SVC_BASE_URL`.',
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
    'Tools: `svc_complete`, `svc_code`, `svc_research`, `svc_image`, `svc_document`, `svc_skill_list`, `svc_skill_install`, `svc_status`. Resources: `svc://models`, `svc://skills/installed`, `svc://health`. What a tool does is a call of the API with your key: scopes, limits and credit are the same.',
  )
