import type { Document, Group } from './operations'
import { ERROR_PAGES, type ErrorPage } from './schema'
import { fenced, sections, table } from './write'

/** The first page: how a call looks, and where everything is. */
export const startPage = (
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
export const errorsPage = (): string =>
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
export const errorPage = (code: string, { status, meaning, cure, operator, retry }: ErrorPage): string =>
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
export const llmsText = ({ info }: Document, groups: readonly Group[]): string =>
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
