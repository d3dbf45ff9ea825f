import { createHash } from 'node:crypto'
import MarkdownIt from 'markdown-it'
import { COLOURS, documentOf, html } from '../../kernel/html'

const LANGUAGES: Record<string, string> = { sh: 'curl', ts: 'TypeScript', python: 'Python', json: 'JSON' }

const markdown = new MarkdownIt({ html: false })

// Scrollable parts can be reached with the keyboard.
markdown.renderer.rules.fence = (tokens, at) => {
  const { info, content } = tokens[at]!
  const language = LANGUAGES[info] ?? info
  return html`<p class="lang">${language}</p>
<pre tabindex="0"><code>${content}</code></pre>
`.markup
}
markdown.renderer.rules.table_open = () => '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table>\n'
markdown.renderer.rules.table_close = () => '</table></div>\n'
markdown.renderer.rules.th_open = () => '<th scope="col">'

/** The style of the reference. Each page contains it, so that the first view needs no further request. */
const STYLE = `${COLOURS}body { margin: 0; background: var(--ground); color: var(--ink); display: grid; grid-template-columns: 15rem minmax(0, 1fr) }
a { color: var(--accent) } .skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; top: 1rem; background: var(--ground) }
nav { padding: 1.25rem; border-right: 1px solid var(--soft-line); font-size: .9375rem }
nav ul { list-style: none; margin: 0; padding: 0 } nav a { display: block; padding: .15rem 0; min-height: 1.5rem; text-decoration: none }
nav a[aria-current] { font-weight: 700; color: var(--ink) }
main { padding: 1.25rem 2rem 4rem; max-width: 62rem; min-width: 0; overflow-wrap: anywhere }
h1 { font-size: 1.625rem; line-height: 1.25 } h2 { font-size: 1.25rem; margin: 2.75rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--soft-line) }
code, pre { font: .875rem/1.5 ui-monospace, monospace } code { overflow-wrap: anywhere }
pre { background: var(--raised); border-radius: .5rem; padding: .75rem 1rem; overflow: auto; max-height: 28rem }
.scrolls { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9375rem }
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--soft-line); min-width: 5rem }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px } .lang { color: var(--faint); font-size: .8125rem; margin: 1rem 0 .25rem }
@media (max-width: 50rem) { body { display: block } nav { border: 0; border-bottom: 1px solid var(--soft-line) }
  nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem } main { padding: 1rem } }
details { margin: 1rem 0 } summary { cursor: pointer; padding: .25rem 0; min-height: 1.5rem }
button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; padding: .3rem .75rem; min-height: 2rem }
button { cursor: pointer } 
.copy { font-size: .8125rem }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0 }
@media print { nav, .skip { display: none } body { display: block } pre { max-height: none; white-space: pre-wrap } .copy { display: none } }
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const POLICY = `default-src 'none'; script-src 'self'; style-src 'sha256-${STYLE_HASH}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Scripts and calls stay within this origin. No frames, nothing from elsewhere (docs/operating.md 5.1). */
export const htmlHeaders = (policy = POLICY): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
})

/** The short reference for the viewer's page, with its own style. */
export const startHtml = (text: string): string =>
  html`<div id="start"><style>${{ markup: `${STYLE}body { display: block }` }}</style>
<main>
${{ markup: markdown.render(text) }}
</main></div>`.markup

/** One of our pages as HTML. It is complete without its script, which adds copying. */
export const htmlOf = (text: string, path: string, script: string): string =>
  documentOf(
    `${/^# (.+)/.exec(text)?.[1]} – svc`,
    html`<link rel="alternate" type="text/markdown" href="/docs/${path}.md">
<style>${{ markup: STYLE }}</style>
<script src="/assets/${script}" defer></script>`,
    html`
<nav aria-label="Pages">
<a class="skip" href="#main">Skip to the content</a>
<ul>
<li><a href="/docs">Reference</a></li>
<li><a href="/docs/errors"${path === 'errors' && { markup: ' aria-current="page"' }}>Errors</a></li>
</ul>
</nav>
<main id="main">
${{ markup: markdown.render(text) }}
</main>
`,
  )
