import { ERROR_PAGES, type ErrorPage } from './error-pages'
import { groupPage } from './group-page'
import { type Document, type Group, groupsOf, type Resolve, resolver } from './operations'
import { viewerDocument } from './viewer'
import { fenced, sections, table } from './write'

/** The section about the first call, for readers of the server at `origin`. */
const firstCall = (origin: string): string =>
  sections(
    '## The first call',
    'Create a key on [the console](/console), or get one from the operator of this server (`svc-admin keys create`).',
    fenced(
      'sh',
      [
        'export SVC_API_KEY=svc_sk_…',
        `curl -sS '${origin}/api/v1/completions' \\`,
        '  -H "Authorization: Bearer $SVC_API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"prompt":"Count to five slowly"}'`,
      ].join('\n'),
    ),
    'Or try prompts in [the playground](/console/playground).',
  )

/** The section with rules for every call, and the documents for programs. */
const rules = (origin: string): string =>
  sections(
    '## Rules for every call',
    [
      `- The base URL is \`${origin}/api/v1\`, also for chat-completions clients.`,
      '- Send your key as `Authorization: Bearer`.',
      '- Requests and answers are JSON. Unknown members are ignored.',
      '- Errors are `{"error":{"message","type","code","request_id"}}`. [Each code](/docs/errors) has a page.',
      '- `X-Request-Id` identifies the request. Six `X-Ratelimit-…` headers show what is left of this minute.',
      '- `429` and `503` come with `Retry-After`, in seconds.',
      '- `Idempotency-Key` makes retries safe for 24 hours, on routes that accept it.',
      '- Lists take `limit` and `cursor`, and return `has_more` and `next_cursor`.',
    ].join('\n'),
    '## For programs',
    [
      '- [OpenAPI 3.1 document](/openapi.json)',
      '- [llms.txt](/docs/llms.txt) lists the reference as Markdown, one file for each group of calls',
      '- [Clients](/docs/clients.md): the TypeScript client, the command line, and MCP',
    ].join('\n'),
  )

/** The short reference, which needs no script. */
const startPage = ({ info }: Document, groups: readonly Group[], origin: string): string =>
  sections(
    '# Reference',
    info.description,
    firstCall(origin),
    '## Calls',
    table(
      ['Group', 'What it does', 'Routes'],
      groups.map(({ name, slug, description, operations }) => [
        `[${name}](/docs/${slug}.md)`,
        description,
        String(operations.length),
      ]),
    ),
    rules(origin),
  )

/** Every code with its status and meaning. */
const errorsPage = (): string =>
  sections(
    '# Errors',
    'Every error has the same form. Programs should check `code`; `message` says what to do.',
    fenced(
      'json',
      '{\n  "error": {\n    "message": "No key with this id.",\n    "type": "not_found_error",\n    "code": "not_found",\n    "request_id": "req_0123456789abcdefABCDEFGH"\n  }\n}',
    ),
    table(
      ['Status', 'Code', 'Means'],
      Object.entries(ERROR_PAGES).map(([code, { status, meaning }]) => [
        String(status),
        `[\`${code}\`](/docs/errors/${code})`,
        meaning,
      ]),
    ),
  )

/** The page of one code: meaning, remedy, and whether to retry. */
const errorPage = (code: string, { status, meaning, cure, operator, retry }: ErrorPage): string =>
  sections(
    `# ${code}`,
    `Status ${status}.`,
    '## What it means',
    meaning,
    '## What to do',
    cure,
    operator ? '## If you run the server' : null,
    operator ?? null,
    '## Retry',
    TRYING[retry],
    '[All errors](/docs/errors)',
  )

const TRYING: Record<ErrorPage['retry'], string> = {
  yes: 'Yes. Send the same request with the same `Idempotency-Key`, so that it cannot take effect twice.',
  no: 'No. The same request fails again until something changes.',
  'after Retry-After': 'Yes, after the number of seconds in the header `Retry-After`.',
}

/** The list of all pages for language models, in the format of llmstxt.org. */
const llmsText = ({ info }: Document, groups: readonly Group[]): string =>
  sections(
    `# ${info.title}`,
    `> ${info.description}`,
    '## Reference',
    [
      '- [Start](/docs.md): the first call, and the rules for every call',
      ...groups.map(({ name, slug, description }) => `- [${name}](/docs/${slug}.md): ${description}`),
      '- [Errors](/docs/errors.md): every error code',
      '- [Clients](/docs/clients.md): the TypeScript client, the command line, and MCP',
      '- [OpenAPI](/openapi.json): the document that these pages are generated from',
    ].join('\n'),
    '## Errors',
    Object.entries(ERROR_PAGES)
      .map(([code, { meaning }]) => `- [${code}](/docs/errors/${code}.md): ${meaning}`)
      .join('\n'),
  )

/** The page about the clients that come with the server (docs/api.md 23). */
const clientsPage = (origin: string): string =>
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

export type Reference = ReturnType<typeof createReference>

type Deps = {
  /** Returns the OpenAPI document, once all routes are registered. */
  read(): unknown
}

/** Builds the reference from the document. */
export function createReference({ read }: Deps) {
  let known: { document: Document; groups: Group[]; resolve: Resolve } | null = null

  function source() {
    if (known) return known
    const document = read() as Document
    const groups = groupsOf(document)
    known = { document, groups, resolve: resolver(document) }
    return known
  }

  return {
    /** The page at `/docs/{path}` as Markdown, for readers at `origin`. Null if it does not exist. */
    markdown(path: string, origin: string): string | null {
      const { document, groups, resolve } = source()
      const base = `${origin}/api/v1`
      if (path === '') return startPage(document, groups, origin)
      if (path === 'errors') return errorsPage()
      if (path === 'clients') return clientsPage(origin)
      const code = /^errors\/(.+)/.exec(path)?.[1]
      if (code) return Object.hasOwn(ERROR_PAGES, code) ? errorPage(code, ERROR_PAGES[code]!) : null
      const group = groups.find(({ slug }) => slug === path)
      return group ? groupPage(group, resolve, base) : null
    },

    /** The viewer's anchor for a path that used to be a page. Null for any other path. */
    anchor(path: string): string | null {
      if (path === 'clients') return '/docs#description/clients'
      return source().groups.some(({ slug }) => slug === path) ? `/docs#tag/${path}` : null
    },

    /** The viewer's document for readers at `origin`, as JSON. */
    viewer(origin: string): string {
      const { document } = source()
      const clients = clientsPage(origin).replace(/^#/gm, '##')
      const intro = sections(document.info.description, firstCall(origin), rules(origin), clients)
      return JSON.stringify(viewerDocument(document, intro, `${origin}/api/v1`))
    },

    /** `llms.txt`. */
    llms(): string {
      const { document, groups } = source()
      return llmsText(document, groups)
    },
  }
}
