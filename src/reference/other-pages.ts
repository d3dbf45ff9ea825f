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
    'Keys are made by whoever runs this server (`svc-admin keys create`), or on the page of your account.',
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
      ['Group', 'What for', 'Routes'],
      groups.map(({ name, slug, description, operations }) => [
        `[${name}](/docs/${slug})`,
        description,
        String(operations.length),
      ]),
    ),
    '## What holds for every call',
    [
      `- The address is \`${base}\`. Clients of chat completions take it as their base URL.`,
      '- The key goes into the header `Authorization: Bearer`.',
      '- Bodies are JSON, and so are answers. Members that are not known are refused by name.',
      '- An error is `{"error":{"message","type","code","request_id"}}`; [each code](/docs/errors) has a page.',
      '- `X-Request-Id` names the request; six `X-Ratelimit-…` headers say what is left in this minute.',
      '- `429` and `503` come with `Retry-After`, in seconds.',
      '- `Idempotency-Key` makes a retry safe for 24 hours where a route takes it.',
      '- Lists have `limit` and `cursor`, and answer `has_more` and `next_cursor`.',
    ].join('\n'),
    '## For programs',
    [
      '- [OpenAPI 3.1 document](/openapi.json), and [the console](/docs/console), which sends calls from the browser',
      '- [llms.txt](/docs/llms.txt); each page is there as Markdown under its address with `.md`',
      '- [Clients](/docs/clients): the TypeScript client, the command line, and MCP',
    ].join('\n'),
  )

/** Every code with its status and meaning. */
export const errorsPage = (): string =>
  sections(
    '# Errors',
    'Every refusal and failure has the same form. `code` is what a program looks at; `message` says what to do.',
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
    '## Trying again',
    TRYING[retry],
    '[All errors](/docs/errors)',
  )

const TRYING: Record<ErrorPage['retry'], string> = {
  yes: 'The same request may work. Send it with the same `Idempotency-Key`, so that it cannot happen twice.',
  no: 'The same request is answered the same way until something changes.',
  'after Retry-After': 'Wait as many seconds as the header `Retry-After` says, then send the same request.',
}

/** The list of all pages for language models, in the form of llmstxt.org. */
export const llmsText = ({ info }: Document, groups: readonly Group[]): string =>
  sections(
    `# ${info.title}`,
    `> ${info.description}`,
    '## Reference',
    [
      '- [Start](/docs.md): the first call, and what holds for every call',
      ...groups.map(({ name, slug, description }) => `- [${name}](/docs/${slug}.md): ${description}`),
      '- [Errors](/docs/errors.md): every error code',
      '- [Clients](/docs/clients.md): the TypeScript client, the command line, and MCP',
      '- [OpenAPI](/openapi.json): the document that the pages are made from',
    ].join('\n'),
    '## Errors',
    Object.entries(ERROR_PAGES)
      .map(([code, { meaning }]) => `- [${code}](/docs/errors/${code}.md): ${meaning}`)
      .join('\n'),
  )
