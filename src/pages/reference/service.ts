import type { Json } from '../../kernel/samples'
import { bodyOf, pathOf } from './bodies'
import { lighter } from './console-page'
import { groupPage, samplesText } from './group-page'
import { type Document, type Group, groupsOf, type Resolve, resolver } from './operations'
import { ERROR_PAGES, type ErrorPage } from './schema'
import { fenced, sections, table } from './write'

/** The first page: how a call looks, and where everything is. */
const startPage = (
  { info }: Document,
  groups: readonly Group[],
  { base, playground }: { base: string; playground: boolean },
): string =>
  sections(
    '# Reference',
    info.description,
    '## The first call',
    'Create a key on [your account page](/home), or get one from the operator of this server (`svc-admin keys create`).',
    fenced(
      'sh',
      [
        'export SVC_API_KEY=svc_sk_…',
        `curl -sS '${base}/completions' \\`,
        '  -H "Authorization: Bearer $SVC_API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"prompt":"Count to five slowly"}'`,
      ].join('\n'),
    ),
    playground && 'Or try prompts in [the playground](/docs/playground).',
    '## Calls',
    table(
      ['Group', 'What it does', 'Routes'],
      groups.map(({ name, slug, description, operations }) => [
        `[${name}](/docs/${slug})`,
        description,
        String(operations.length),
      ]),
    ),
    '## Rules for every call',
    [
      `- The base URL is \`${base}\`, also for chat-completions clients.`,
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
      '- [OpenAPI 3.1 document](/openapi.json), and [the console](/docs/console), which sends calls from the browser',
      '- [llms.txt](/docs/llms.txt); add `.md` to the address of a page to get Markdown',
      '- [Clients](/docs/clients): the TypeScript client, the command line, and MCP',
    ].join('\n'),
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

/** One code: what it means, what to do, whether to try again. */
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

/** The list of all pages for language models, in the form of llmstxt.org. */
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

/** The page about the clients that come with the server (contract 23). */
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

/** What "Try it" knows of a route: the call of its samples (dx 5.5). */
type Call = {
  id: string
  method: string
  path: string
  body?: Json
  keyed: boolean
  streams: boolean
  uploads: boolean
  modes: readonly string[]
  /** The body may name skills of the caller. */
  skills: boolean
  /** Its form is there from the start. */
  opened?: true
}

/** The calls of one page, in its order. */
const callsOf = ({ operations }: Group, resolve: Resolve): Call[] =>
  operations.map((operation) => {
    const { id, method, credential, streams } = operation
    const body = bodyOf(operation, resolve)
    const mode = operation.body && resolve(operation.body.schema).properties?.mode
    const modes = ((mode && resolve(mode).enum) ?? []) as string[]
    return {
      id,
      method,
      path: pathOf(operation, resolve),
      ...(body === undefined ? {} : { body }),
      keyed: credential !== null,
      streams: streams && method === 'POST',
      uploads: operation.body?.type === 'multipart/form-data',
      modes,
      skills: streams && modes.length > 0,
    }
  })

/** The route that is tried. */
const TRIED = 'postCompletions'

const onlyTried = (groups: readonly Group[]): Group => {
  const found = groups.find(({ operations }) => operations.some(({ id }) => id === TRIED))!
  return { ...found, operations: found.operations.filter(({ id }) => id === TRIED) }
}

/** The page on which developers try prompts; its form is that of "Try it", there from the start (dx 5.5). */
const playgroundPage = (groups: readonly Group[], resolve: Resolve, base: string): string =>
  sections(
    '# Playground',
    'Try prompts with your key. Create one with `svc-admin keys create --name NAME`, or on [your account page](/home). Each run counts towards the limits of the key and is charged like any other call.',
    `## Try a prompt {#${TRIED}}`,
    `The form needs JavaScript. Below it is the same call as code. [The reference](/docs/completions#${TRIED}) lists all parameters.`,
    samplesText(onlyTried(groups).operations[0]!, resolve, base),
  )

export type Reference = ReturnType<typeof createReference>

type Link = Pick<Group, 'name' | 'slug'>

/** A page as Markdown; `links` are the list beside it, and `calls` can be tried on the page. */
export type Page = {
  title: string
  markdown: string
  links: readonly Link[]
  calls: readonly Call[]
}

/** Pages that are kept: readers come by few addresses, and a page takes some milliseconds to make. */
const MAX_KEPT = 500

type Deps = {
  /** Gives the OpenAPI document, once all routes are there. */
  read(): unknown
  /** Prompts can be tried in the browser. */
  playground: boolean
}

/** Makes the pages of the reference from the document. */
export function createReference({ read, playground }: Deps) {
  let known: { document: Document; groups: Group[] } | null = null
  const own: Link[] = playground ? [{ name: 'Playground', slug: 'playground' }] : []
  const stored = new Map<string, Page>()

  function source() {
    if (!known) {
      const document = read() as Document
      known = { document, groups: groupsOf(document) }
    }
    return known
  }

  function made(path: string, origin: string): string | null {
    const { document, groups } = source()
    const base = `${origin}/api/v1`
    if (path === '') return startPage(document, groups, { base, playground })
    if (path === 'errors') return errorsPage()
    if (path === 'clients') return clientsPage(origin)
    if (path === 'playground') return playground ? playgroundPage(groups, resolver(document), base) : null
    if (path.startsWith('errors/')) {
      const code = path.slice('errors/'.length)
      return Object.hasOwn(ERROR_PAGES, code) ? errorPage(code, ERROR_PAGES[code]!) : null
    }
    const group = groups.find(({ slug }) => slug === path)
    return group ? groupPage(group, resolver(document), base) : null
  }

  function calls(path: string): Call[] {
    const { document, groups } = source()
    // The call of the playground.
    if (path === 'playground')
      return callsOf(onlyTried(groups), resolver(document)).map((call) => ({ ...call, opened: true }))
    const group = groups.find(({ slug }) => slug === path)
    return group ? callsOf(group, resolver(document)) : []
  }

  const links = (): Link[] => [
    { name: 'Start', slug: '' },
    ...own,
    ...source().groups,
    { name: 'Clients', slug: 'clients' },
    { name: 'Errors', slug: 'errors' },
    { name: 'Console', slug: 'console' },
  ]

  return {
    /** The page at `/docs/{path}` for readers who came by `origin`; null when there is none. */
    page(path: string, origin: string): Page | null {
      const name = `${origin} ${path}`
      const found = stored.get(name)
      if (found) return found
      const markdown = made(path, origin)
      if (markdown === null) return null
      const title = /^# (.+)/.exec(markdown)?.[1] ?? 'Reference'
      const page = { title, markdown, links: links(), calls: calls(path) }
      if (stored.size >= MAX_KEPT) stored.clear()
      stored.set(name, page)
      return page
    },

    /** The document for the console, as JSON. */
    forConsole: (): string => JSON.stringify(lighter(source().document)),

    /** `llms.txt`. */
    llms(): string {
      const { document, groups } = source()
      return llmsText(document, groups)
    },

    /** Every path that `page` knows. */
    paths: (): string[] => [
      '',
      ...own.map(({ slug }) => slug),
      ...source().groups.map(({ slug }) => slug),
      'clients',
      'errors',
      ...Object.keys(ERROR_PAGES).map((code) => `errors/${code}`),
    ],
  }
}
