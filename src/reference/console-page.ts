import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { MEND, READABLE } from './console-mends'
import type { Document } from './operations'

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
