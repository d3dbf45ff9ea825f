// SQLite only: pages are made from the document, and no row is read.
import { describe, expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { createReference } from '../../../src/pages'
import { ERROR_PAGES } from '../../../src/pages/reference/error-pages'
import { answerExample, bodyOf, exampleOf } from '../../../src/pages/reference/examples'
import { type Document, groupsOf, resolver } from '../../../src/pages/reference/operations'
import { createWorld } from '../../support/world'

const world = await createWorld()
const document = (await world.send('GET', '/openapi.json')).body as Document
const resolve = resolver(document)
const operations = groupsOf(document).flatMap((group) => group.operations)
const reference = createReference({ read: () => document })
const slugs = groupsOf(document).map(({ slug }) => slug)
const pages = ['', '/errors', ...Object.keys(ERROR_PAGES).map((code) => `/errors/${code}`)].map((path) => [
  `/docs${path}`,
])

const MAX_BYTES = 60 * 1024

const open = (path: string, headers: Record<string, string> = {}) =>
  world.app.api.handle(new Request(`http://localhost${path}`, { headers }))

describe('the reference (docs/operating.md 5.5)', () => {
  test('gives the viewer every operation of the document, with samples, an answer and its errors', async () => {
    expect(operations.length).toBe(Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length)
    const shown = await (await open('/docs/scalar.json')).json()
    const grouped = shown['x-tagGroups'].flatMap(({ tags }: { tags: string[] }) => tags)
    expect(grouped.toSorted()).toEqual(shown.tags.map(({ name }: { name: string }) => name).toSorted())
    expect(shown.servers).toEqual([{ url: 'http://localhost/api/v1' }])
    expect(shown.info.description).toContain("curl -sS 'http://localhost/api/v1/completions'")
    for (const { id, path, method, success, errors } of operations) {
      const operation = shown.paths[path][method.toLowerCase()]
      const labels = operation['x-codeSamples'].map(({ label }: { label: string }) => label)
      expect(labels, id).toEqual(['curl', 'TypeScript', 'Python'])
      const shownAnswer = operation.responses[success.status]
      if (success.schema)
        expect(shownAnswer.content['application/json'].examples, id).toEqual({ answer: { value: expect.anything() } })
      else expect(shownAnswer, id).toBeDefined()
      // Some refusals are answers of their own.
      for (const status of errors.filter((one) => document.paths[path]![method.toLowerCase()]!.responses[one]!.$ref))
        expect(operation.responses[status].description, id).toContain('](/docs/errors/')
    }
  })

  test.each(pages)('%s is small, and is there as Markdown', async (path) => {
    const packed = await open(path!, { 'accept-encoding': 'gzip' })
    expect(packed.status).toBe(200)
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect((await packed.arrayBuffer()).byteLength).toBeLessThan(MAX_BYTES)
    const page = await open(path!)
    const text = await page.text()
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'; ")
    expect(text).not.toMatch(/src="(?!\/assets\/|\/docs\/scalar.js")|href="(?!\/|#|https?:)|undefined|\[object/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    const twin = await open(`${path}.md`)
    expect(twin.headers.get('content-type')).toContain('text/markdown')
    expect(await twin.text()).toStartWith('# ')
  })

  test('gives programs each group of calls as Markdown, which people read in the viewer', async () => {
    for (const group of groupsOf(document)) {
      const text = await (await open(`/docs/${group.slug}.md`)).text()
      for (const { id } of group.operations) expect(text).toContain(`{#${id}}`)
    }
    const moved = [...slugs.map((slug) => [slug, `/docs#tag/${slug}`]), ['clients', '/docs#description/clients']]
    for (const [path, location] of [...moved, ['console', '/docs'], ['playground', '/console/playground']]) {
      const answer = await open(`/docs/${path}`)
      expect(answer.status, path).toBe(308)
      expect(answer.headers.get('location')).toBe(location!)
    }
  })

  test('leads only to pages that are there', async () => {
    const texts = [...pages.map(([path]) => `${path}.md`), ...slugs.map((slug) => `/docs/${slug}.md`), '/docs/llms.txt']
    const links = new Set<string>()
    for (const path of texts) {
      for (const [, target] of (await (await open(path!)).text()).matchAll(/\]\((\/[^)#]*)/g)) links.add(target!)
    }
    expect(links.size).toBeGreaterThan(80)
    // The pages of a person ask others to sign in.
    for (const link of links)
      expect({ link, status: (await open(link)).status }).toEqual({ link, status: /^\/console/.test(link) ? 303 : 200 })
  })

  test('answers an address without a page like any other', async () => {
    for (const path of ['/docs/nothing', '/docs/errors/nothing', '/docs/constructor', '/docs/errors/toString'])
      expect({ path, status: (await open(path)).status }).toEqual({ path, status: 404 })
  })

  test('names the address that its reader came by, and repeats no other', async () => {
    expect(reference.markdown('', 'https://svc.example')).toContain("curl -sS 'https://svc.example/api/v1/")
    const forged = await world.app.api.handle(new Request(`http://localhost/docs`, { headers: { host: '"><b>' } }))
    expect(await forged.text()).not.toContain('"><b>')
  })
})

describe('examples', () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, unicodeRegExp: true })
  addFormats(ajv)
  ajv.addSchema({ components: document.components }, 'document')
  const problems = (schema: object, value: unknown) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')))
    return check(value) ? [] : check.errors
  }

  const bodies = operations.filter(({ body }) => body?.type === 'application/json')
  const answers = operations.filter(({ success }) => success.schema)

  test('of bodies fit the schemas of their routes', () => {
    expect(bodies.length).toBeGreaterThan(60)
    for (const one of bodies)
      expect({ id: one.id, problems: problems(one.body!.schema, bodyOf(one, resolve)) }).toEqual({
        id: one.id,
        problems: [],
      })
  })

  test('of answers fit the schemas of their routes', () => {
    expect(answers.length).toBeGreaterThan(100)
    for (const one of answers) {
      const { id, success } = one
      expect({ id, problems: problems(success.schema!, answerExample(one, resolve)) }).toEqual({ id, problems: [] })
      expect({ id, problems: problems(success.schema!, exampleOf(success.schema!, resolve, { whole: true })) }).toEqual(
        { id, problems: [] },
      )
    }
  })

  test('of answers were mostly given by a server, and hold no secret of one', async () => {
    const recorded = await Bun.file('src/pages/reference/recorded.json').text()
    const ids = Object.keys(JSON.parse(recorded))
    expect(ids.filter((id) => !answers.some((one) => one.id === id))).toEqual([])
    expect(ids.length).toBeGreaterThan(answers.length / 2)
    expect(recorded).not.toMatch(/svc_[a-z]{2}_(?:live_|test_)?[A-Za-z0-9]{20}|whsec_\w|127\.0\.0\.1/)
  })
})

test('errors: every code that the sources can throw has a page, with its status', async () => {
  const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan('.'))
  const found = new Set<string>()
  for (const file of files) {
    const text = await Bun.file(file).text()
    for (const [, code] of text.matchAll(/(?:new AppError|defineErrors?)\(\s*'(\w+)'/g)) found.add(code!)
  }
  // Named in the record and never sent.
  found.delete('client_closed')
  expect([...found].filter((code) => !ERROR_PAGES[code])).toEqual([])
  expect(found.size).toBeGreaterThan(35)
})
