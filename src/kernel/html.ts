import { createHash } from 'node:crypto'

/** Text that is already HTML; every other value in a page is escaped. */
export type Markup = { readonly markup: string }

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

const spelled = (value: unknown): string => {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(spelled).join('')
  if (typeof value === 'object' && 'markup' in value) return String(value.markup)
  return escaped(String(value))
}

/** Template tag for a piece of a page: escapes values, joins lists, and omits null, undefined and false. */
export const html = (parts: TemplateStringsArray, ...values: unknown[]): Markup => ({
  markup: parts.reduce((page, part, at) => page + part + (at < values.length ? spelled(values[at]) : ''), ''),
})

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0; display: grid; min-height: 100vh; place-items: center }
main { box-sizing: border-box; width: min(26rem, 100%); padding: 1.5rem }
h1 { font-size: 1.25rem } .sum { font-size: 2rem; font-weight: 600; margin: .25rem 0 }
label { display: block } input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin: .25rem 0 1rem }
button { font: inherit; padding: .5rem 1rem } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .25rem 0 } td:last-child, th:last-child { text-align: right }
dt { font-weight: 600; margin-top: .75rem } dd { margin: 0; overflow-wrap: anywhere }
.problem { border-left: .25rem solid; padding-left: .75rem }
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Headers that forbid scripts, framing and foreign resources; a page may only submit its form to us (dx 5.1). */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; ` +
    "frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-frame-options': 'DENY',
}

/** A whole HTML page as text. */
export const page = (title: string, body: Markup): string =>
  html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.markup
