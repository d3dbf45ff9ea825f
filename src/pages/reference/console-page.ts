import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Document } from './operations'

/**
 * Scalar's lighter greys are too faint to read on its own backgrounds (WCAG 1.4.3); unseen words widen the page (1.4.10).
 * Links to the vendor are no part of the reference.
 */
const READABLE = `
.light-mode{--scalar-color-2:#4d4d4d;--scalar-color-3:#595959;--scalar-color-ghost:#595959;--scalar-sidebar-color-2:#4d4d4d;
--scalar-color-green:#04663b;--scalar-color-blue:#0a4f9e;--scalar-color-orange:#8a3b00;--scalar-color-red:#a3132a;--scalar-color-yellow:#6b5000;--scalar-color-purple:#5b2c98}
.screenreader-only{left:0!important}a[href*="scalar.com"]{display:none}@media(max-width:600px){body>*{overflow-x:clip}}
.dark-mode{--scalar-color-2:#c9c9c9;--scalar-color-3:#b8b8b8;--scalar-color-ghost:#b8b8b8;--scalar-sidebar-color-2:#c9c9c9}`

/**
 * What Scalar's elements lack for screen readers, mended in the page. It draws them anew while it is used, so whatever
 * changes is looked at again.
 */
const MEND = `(()=>{
const each=(where,mend)=>document.querySelectorAll(where).forEach(mend)
const mend=()=>{
each('button[aria-selected]:not([role])',(one)=>{if(one.getAttribute('aria-selected')==='true')one.setAttribute('aria-current','true');else one.removeAttribute('aria-current');one.removeAttribute('aria-selected')})
each('aside[role=navigation],button[role=search]',(one)=>one.removeAttribute('role'))
each('[role=tablist] button:not([role=tab])',(one)=>one.setAttribute('role','tab'))
each('button.show-more[aria-label]',(one)=>one.removeAttribute('aria-label'))
each('button.client-libraries__select:not([aria-label])',(one)=>one.setAttribute('aria-label','More clients'))
each('ul.endpoints:not([tabindex])',(one)=>{one.tabIndex=0})
each('button [tabindex="0"]',(one)=>one.removeAttribute('tabindex'))
}
let waits=0
new MutationObserver(()=>{waits||=setTimeout(()=>{waits=0;mend()},100)}).observe(document.documentElement,{childList:true,subtree:true,attributes:true,attributeFilter:['aria-selected','role','aria-label']})
})()`

const PATH = '/docs/console'
const SCRIPT = '/docs/scalar.js'

/** The page of the interactive console, and the headers that it needs. */
export type ConsolePage = { html: string; headers: Record<string, string> }

let made: Promise<ConsolePage> | null = null

/** The console: `@elysiajs/swagger` writes its page, over our own document and with its script from here (dx 5.5). */
export function consolePage(): Promise<ConsolePage> {
  made ??= make()
  return made
}

async function make(): Promise<ConsolePage> {
  // Loaded by the first who asks: no other page needs it.
  const { swagger } = await import('@elysiajs/swagger')
  // The developer tools offer the vendor's other products.
  const vendor = { telemetry: false, showDeveloperTools: 'never' }
  const config = { withDefaultFonts: false, hideClientButton: true, customCss: READABLE, ...vendor }
  const app = swagger({
    path: PATH,
    provider: 'scalar',
    scalarCDN: SCRIPT,
    scalarConfig: { ...config, spec: { url: '/docs/scalar.json' } },
    documentation: { info: { title: 'Console – svc', version: '', description: 'Send API calls' } },
  })
  const answer = await app.handle(new Request(`http://localhost${PATH}`))
  const html = (await answer.text())
    .replace('<html>', '<html lang="en">')
    // The plugin writes an older form, and leaves the element with the configuration to be run as a script.
    .replace('"spec":{"url":"/docs/scalar.json"}', '"url":"/docs/scalar.json"')
    .replace('id="api-reference"', 'id="api-reference" type="application/json"')
    .replace('</body>', () => `<script>${MEND}</script></body>`)
  const hash = createHash('sha256').update(MEND).digest('base64')
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      // Scalar puts its styles into the page while it runs; scripts and calls stay within this origin.
      'content-security-policy':
        `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; ` +
        "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  }
}

/**
 * The document as the console shows it: without the headers of the answers and the forms of errors, which are the same
 * everywhere. Scalar takes ten times as long with them.
 */
export function lighter(document: Document): object {
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        { ...operation, responses: few(operation, document) },
      ]),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

const few = ({ responses }: Document['paths'][string][string], { components }: Document) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { $ref, description, content }]) => [
      status,
      {
        description: $ref ? components.responses[$ref.split('/').at(-1)!]!.description : description,
        ...(status.startsWith('2') && content ? { content } : {}),
      },
    ]),
  )

/** The script, plain and packed. Packing three megabytes takes a moment, so it is done once. */
export type Script = { text: Uint8Array<ArrayBuffer>; gzip: Uint8Array<ArrayBuffer> }

let script: Promise<Script> | null = null

/** The console's script, from the package that carries it whole. */
export function consoleScript(): Promise<Script> {
  script ??= read()
  return script
}

async function read(): Promise<Script> {
  const package_ = dirname(Bun.resolveSync('@scalar/fastify-api-reference', import.meta.dir))
  const text = await Bun.file(join(package_, 'js/standalone.js')).bytes()
  return { text, gzip: Bun.gzipSync(text) }
}
