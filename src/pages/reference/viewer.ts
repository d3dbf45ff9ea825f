import { dirname, join } from 'node:path'
import { answerExample, bodyOf, idIn } from './examples'
import { codesOf, factsOf, samplesFor } from './group-page'
import { type Document, groupsOf, type Operation, resolver } from './operations'
import { sections } from './write'

/** Maps the viewer's colour names to those of `src/pages/browser/shared/look.css`, darker where too faint. */
const LOOK = `
:root{--scalar-font:system-ui,sans-serif;--scalar-font-code:ui-monospace,monospace;--scalar-radius:.5rem}
.light-mode{color-scheme:light;--scalar-background-1:#fff;--scalar-background-2:#f3f5f8;--scalar-background-3:#dde2e9;--scalar-border-color:#dde2e9;
--scalar-color-1:#14181f;--scalar-color-2:#4d5766;--scalar-color-3:#4d5766;--scalar-color-ghost:#4d5766;--scalar-color-accent:#1d4ed8;--scalar-background-accent:#1d4ed814;
--scalar-link-color:#1d4ed8;--scalar-button-1:#1d4ed8;--scalar-button-1-hover:#1e40af;--scalar-button-1-color:#fff;--scalar-sidebar-color-2:#4d5766;
--scalar-color-green:#04663b;--scalar-color-blue:#0a4f9e;--scalar-color-orange:#8a3b00;--scalar-color-red:#a3161f;--scalar-color-yellow:#6b5000;--scalar-color-purple:#5b2c98}
.dark-mode{color-scheme:dark;--scalar-background-1:#14171c;--scalar-background-2:#20252d;--scalar-background-3:#333b46;--scalar-border-color:#333b46;
--scalar-color-1:#eef1f6;--scalar-color-2:#b0bac8;--scalar-color-3:#b0bac8;--scalar-color-ghost:#b0bac8;--scalar-color-accent:#8ab0ff;--scalar-background-accent:#8ab0ff1f;
--scalar-link-color:#8ab0ff;--scalar-button-1:#8ab0ff;--scalar-button-1-hover:#b3ccff;--scalar-button-1-color:#000;--scalar-sidebar-color-2:#b0bac8;
--scalar-color-green:#4ade80;--scalar-color-blue:#8ab0ff;--scalar-color-orange:#ffb37a;--scalar-color-red:#ffa4a4;--scalar-color-yellow:#ffd866;--scalar-color-purple:#c9b3ff}
.screenreader-only{left:0!important}a[href*="scalar.com"]{display:none}@media(max-width:600px){body>*{overflow-x:clip}}`

/**
 * `/docs`: `@elysiajs/swagger` writes the viewer's page, for our own document and with its script from here. `start` is
 * HTML that is visible at once, and the only content without JavaScript. `/assets/{script}` removes it.
 */
export async function viewerPage(start: string, script: string): Promise<string> {
  // Loaded by the first reader, because no other page needs it.
  const { swagger } = await import('@elysiajs/swagger')
  const app = swagger({
    path: '/docs',
    provider: 'scalar',
    scalarCDN: '/docs/scalar.js',
    scalarConfig: {
      spec: { url: '/docs/scalar.json' },
      theme: 'none',
      customCss: LOOK,
      withDefaultFonts: false,
      hiddenClients: true,
      // Disables links to the vendor's other products, and the download of the document made for the viewer.
      ...{ hideClientButton: true, telemetry: false, showDeveloperTools: 'never', documentDownloadType: 'none' },
    },
    documentation: { info: { title: 'API reference – svc', version: '', description: 'Every call of this API' } },
  })
  const answer = await app.handle(new Request('http://localhost/docs'))
  return (
    (await answer.text())
      .replace('<html>', '<html lang="en">')
      // The plugin writes an older format, and leaves the element with the configuration executable as a script.
      .replace('"spec":{"url":"/docs/scalar.json"}', '"url":"/docs/scalar.json"')
      .replace('id="api-reference"', 'id="api-reference" type="application/json"')
      .replace('<body>', () => `<body>${start}<script src="/assets/${script}"></script>`)
  )
}

/** Scripts and calls stay within this origin. The viewer writes its styles into the page while it runs. */
export const VIEWER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The OpenAPI document for the viewer: `intro` as its description, our samples and recorded answers, and the codes of
 * errors. Omits the headers of answers and the schemas of errors, which are the same everywhere, because the viewer
 * takes ten times as long with them.
 */
export function viewerDocument(document: Document, intro: string, base: string): object {
  const resolve = resolver(document)
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of groupsOf(document).flatMap(({ operations }) => operations)) {
    const { path, method, description, body, success, parameters } = operation
    const raw = document.paths[path]![method.toLowerCase()]!
    const { curl, typescript, python } = samplesFor(operation, resolve, base)
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      ...raw,
      description: sections(description, factsOf(operation)),
      parameters: parameters.map((one) =>
        one.in === 'path' ? { ...one, example: idIn(operation, one, resolve) } : one,
      ),
      ...(body && {
        requestBody: {
          ...raw.requestBody,
          content: {
            ...raw.requestBody!.content,
            [body.type]: { schema: body.schema, example: bodyOf(operation, resolve) },
          },
        },
      }),
      responses: Object.fromEntries(
        Object.entries(raw.responses).map(([status, { $ref, description: meaning, content }]) => {
          if ($ref)
            return [
              status,
              {
                description:
                  errors(operation, status) || document.components.responses[$ref.split('/').at(-1)!]!.description,
              },
            ]
          const json = content?.['application/json']
          const examples = json &&
            status === success.status && { examples: { answer: { value: answerExample(operation, resolve) } } }
          return [
            status,
            {
              description: meaning,
              content: json ? { ...content, 'application/json': { ...json, ...examples } } : content,
            },
          ]
        }),
      ),
      'x-codeSamples': [
        { lang: 'shell', label: 'curl', source: curl },
        { lang: 'typescript', label: 'TypeScript', source: typescript },
        { lang: 'python', label: 'Python', source: python },
      ],
    }
  }
  return {
    ...document,
    info: { ...document.info, description: intro },
    servers: [{ url: base }],
    paths,
    'x-tagGroups': tagGroups,
  }
}

/** The groups of the document by purpose, in the order of the page. */
const tagGroups = [
  {
    name: 'Ask',
    tags: [
      ...['Completions', 'Chat', 'Responses', 'Messages', 'Embeddings', 'Models', 'Tools'],
      ...['Conversations', 'Memory', 'Test cases', 'Batches'],
    ],
  },
  {
    name: 'Make',
    tags: ['Images', 'Videos', 'Code', 'Documents', 'Audio', 'Research', 'Jobs', 'Files', 'Artifacts'],
  },
  { name: 'Build', tags: ['Skills', 'Canvases', 'Workflows', 'Hooks', 'Events'] },
  {
    name: 'Control',
    tags: ['API keys', 'Routing preferences', 'Guardrails', 'Rate limits', 'Settings', 'Saved views'],
  },
  { name: 'Connect', tags: ['Webhooks', 'Widgets', 'Widget visitors', 'Browser', 'Channels'] },
  {
    name: 'Account',
    tags: ['Organizations', 'Usage', 'Billing', 'Audit', 'Accounts', 'Health', 'Document'],
  },
]

/** The codes of one status, each with a link to its page. */
const errors = (operation: Operation, status: string): string =>
  codesOf(operation)
    // Clients of the Messages API get 529 for an overloaded engine.
    .filter(([code, error]) => String(error.status) === status || (status === '529' && code === 'engine_unavailable'))
    .map(([code, { meaning }]) => `[${code}](/docs/errors/${code}): ${meaning}`)
    .join('\n\n')

/** The viewer's script, from the package that contains it complete. */
export const viewerScript = (): Promise<Uint8Array<ArrayBuffer>> =>
  Bun.file(join(dirname(Bun.resolveSync('@scalar/fastify-api-reference', import.meta.dir)), 'js/standalone.js')).bytes()
