import { createHash } from 'node:crypto'

/** Text that is already HTML. Every other value in a page is escaped. */
export type Markup = { readonly markup: string }

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const spelled = (value: unknown): string => {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(spelled).join('')
  if (typeof value === 'object' && 'markup' in value) return String(value.markup)
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** Template tag for a piece of a page. Escapes values, joins lists, and omits null, undefined and false. */
export const html = (parts: TemplateStringsArray, ...values: unknown[]): Markup => ({
  markup: parts.reduce((page, part, at) => page + part + (at < values.length ? spelled(values[at]) : ''), ''),
})

/** JSON that is safe inside a script element, because no text in it can end the element. */
export const dataOf = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** The colours of `src/pages/browser/shared/tokens.css`, for pages that load nothing. */
export const COLOURS = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --accent: #1d4ed8; --on-accent: #fff;
  --canvas: #f5f6f8; --ground: #fff; --raised: #eceff3; --ink: #14181f; --faint: #4d5766; --line: #7b8594; --soft-line: #dde2e9;
  --bad: #a3161f }
@media (prefers-color-scheme: dark) { :root { --accent: #8ab0ff; --on-accent: #06122b; --canvas: #0f1216; --ground: #171b21;
  --raised: #20252d; --ink: #eef1f6; --faint: #b0bac8; --line: #76818f; --soft-line: #2c333d; --bad: #ffa4a4 } }
`
const STYLE = `${COLOURS}body { margin: 0; display: grid; grid-template-columns: minmax(0, 1fr); min-height: 100vh; place-items: center; background: var(--canvas); color: var(--ink) }
main { box-sizing: border-box; width: min(26rem, 100%); min-width: 0; padding: 1.5rem; overflow-wrap: anywhere;
  background: var(--ground); border: 1px solid var(--soft-line); border-radius: 10px }
main:has(pre) { width: min(42rem, 100%) }
.mark { display: flex; align-items: center; gap: .5rem; margin: 0 0 1rem; font-weight: 650 }
.mark svg { fill: var(--accent) } .mark path { fill: none; stroke: var(--on-accent); stroke-width: 1.8; stroke-linecap: round }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1rem } .mark + h1 { margin-top: 0 }
pre { overflow-x: auto; padding: .75rem; border-radius: 6px; background: var(--raised) } pre code { overflow-wrap: normal }
h1 { font-size: 1.375rem; line-height: 1.3 } h2 { font-size: 1.125rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1.25rem 0 .5rem }
.sum { font-size: 2rem; font-weight: 600; margin: .25rem 0 }
a { color: var(--accent) } label { display: block }
input, select, textarea { font: inherit; color: inherit; background: var(--ground); width: 100%; box-sizing: border-box;
  min-height: 44px; padding: .5rem .75rem; margin: .25rem 0 1rem; border: 1px solid var(--line); border-radius: 6px }
button { font: inherit; min-height: 44px; padding: .5rem 1rem; border: 1px solid transparent; border-radius: 6px; font-weight: 500;
  background: var(--accent); color: var(--on-accent); cursor: pointer }
button.quiet { background: none; color: inherit; border-color: var(--line) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
table { border-collapse: collapse; width: 100% }
td, th { overflow-wrap: normal; text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--soft-line) }
td:last-child, th:last-child { text-align: right; padding-right: 0 }
dt { font-weight: 600; margin-top: .75rem } dd { margin: 0; overflow-wrap: anywhere }
code, .code { font: .875rem ui-monospace, monospace; overflow-wrap: anywhere }
.faint { color: var(--faint) }
.problem { border-left: .25rem solid; padding-left: .75rem; color: var(--bad) }
.notice { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; background: var(--raised) }
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

type PageKind = {
  /** The address of the one script that the page may load. */
  script?: string
}

/** Headers that forbid scripts, framing, foreign resources and forms to other servers (docs/operating.md 5.1). */
export const pageHeaders = ({ script }: PageKind = {}): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; ` +
    `${script ? "script-src 'self'; " : ''}frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-frame-options': 'DENY',
})

export const PAGE_HEADERS: Readonly<Record<string, string>> = pageHeaders()

/** A whole HTML document as text. `head` follows its title. */
export const documentOf = (title: string, head: Markup, body: Markup, viewport = ''): string =>
  html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1${viewport}">
<title>${title}</title>
${head}
</head>
<body>${body}</body>
</html>
`.markup

/** A whole page in the style of pages that load nothing, as text. */
export const page = (title: string, body: Markup, { script }: PageKind = {}): string =>
  documentOf(
    title,
    html`<style>${{ markup: STYLE }}</style>
${script && html`<script src="${script}" defer></script>`}`,
    html`
<main>
<p class="mark"><svg viewBox="0 0 16 16" width="24" height="24" aria-hidden="true"><rect width="16" height="16" rx="4"/><path d="M11 5.5C10 4 6 4 6 6s5 1.5 5 4-4.5 2-5.5.5"/></svg>svc</p>
${body}
</main>
`,
  )
