import MarkdownIt from 'markdown-it'
import { dataOf, html } from '../../kernel/html'
import { ERROR_HEADS } from './group-page'
import { STYLE } from './look'
import type { Page } from './service'

const LANGUAGES: Record<string, string> = { sh: 'curl', ts: 'TypeScript', python: 'Python', json: 'JSON' }

const markdown = new MarkdownIt({ html: false })

/** Headings say their id at their end: `## Answer a prompt {#postCompletions}`. */
markdown.core.ruler.push('ids', ({ tokens }) => {
  for (const [at, token] of tokens.entries()) {
    const text = tokens[at + 1]?.children?.at(-1)
    const named = token.type === 'heading_open' && text && / \{#(\w+)\}$/.exec(text.content)
    if (!named) continue
    token.attrSet('id', named[1]!)
    text.content = text.content.slice(0, named.index)
  }
})

// What scrolls can be reached with the keyboard.
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

/** Each operation is a section, which a browser lays out when it comes into view: pages have up to a hundred. */
const inSections = (markup: string): string => {
  const [head = '', ...operations] = markup.split(/(?=<h2 id=")/)
  return head + operations.map((operation) => `<section>${operation.replace(ERRORS, FOLDED)}</section>`).join('')
}

/** The table of a route's errors, which would be longer than the rest. */
const ERRORS = new RegExp(
  `<div class="scrolls"[^>]*><table>\\s*<thead>\\s*<tr>\\s*${ERROR_HEADS.map((head) => `<th scope="col">${head}</th>\\s*`).join('')}</tr>[\\s\\S]*?</table></div>`,
)
const FOLDED = '<details><summary>Errors</summary>$&</details>'

/** A page of the reference as HTML. It reads without its script, which adds tabs, copying and "Try it". */
export const htmlOf = ({ title, markdown: text, links, calls }: Page, path: string, script: string): string =>
  html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – svc</title>
<link rel="alternate" type="text/markdown" href="/docs${path && `/${path}`}.md">
<style>${{ markup: STYLE }}</style>
<script type="application/json" id="calls">${{ markup: dataOf(calls) }}</script>
<script src="/assets/${script}" defer></script>
</head>
<body>
<nav aria-label="Pages">
<a class="skip" href="#main">Skip to the content</a>
<ul>
${links.map(
  ({ name, slug }) =>
    html`<li><a href="/docs${slug && `/${slug}`}"${slug === path && { markup: ' aria-current="page"' }}>${name}</a></li>
`,
)}
</ul>
</nav>
<main id="main">
${{ markup: inSections(markdown.render(text)) }}
</main>
</body>
</html>
`.markup
