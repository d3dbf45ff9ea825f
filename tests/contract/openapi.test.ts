import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { validate } from '@readme/openapi-parser'
import Ajv2020 from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { type Document, responseOf } from '../support/conformance'
import { isLong } from '../support/long'
import { createWorld } from '../support/world'

const LINTER = join(import.meta.dir, '../../node_modules/@redocly/cli/bin/cli.js')
type Problem = { ruleId: string; severity: string; message: string; location: { pointer?: string }[] }

const world = await createWorld()

const { body: document } = await world.send('GET', '/openapi.json')

type Operation = Document['paths'][string][string] & {
  operationId: string
  summary: string
  security?: object[]
  requestBody?: object
  parameters?: { name: string; in: string }[]
}
const operations = Object.entries((document as Document).paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation: operation as Operation,
  })),
)

describe('the document (docs/api.md 1.1)', () => {
  test('is valid by the first parser', async () => {
    expect(await validate(structuredClone(document))).toMatchObject({ valid: true })
  })

  test('is valid by the second parser', async () => {
    expect(await SwaggerParser.validate(structuredClone(document))).toMatchObject({ openapi: '3.1.1' })
  })

  test('compiles whole as JSON Schema, with every schema where it first stands', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: true })
    addFormats(ajv)
    ajv.addSchema(document, 'document')
    const places = schemasIn(document, 'document#')
    expect(places.length).toBeGreaterThan(300)
    for (const place of places) expect(ajv.getSchema(place), place).toBeFunction()
  })

  // The linter is a program of its own, which takes longer than all else here.
  test.if(isLong)('has no error and no warning by the recommended rules of the linter', async () => {
    expect(await lint(document)).toEqual([])
  })

  test('is the same with a key under /api/v1 and without one at the origin', async () => {
    expect((await (await world.person()).send('GET', 'openapi.json')).body).toEqual(document)
    expect((await world.send('GET', 'openapi.json')).status).toBe(401)
  })

  test('has every route of the app but itself at the origin', () => {
    // Pages, and the operators' API of their browsers, are not for clients of the API.
    const routes = world.app.api.routes
      .map(({ method, path }) => `${method} ${path}`)
      .filter(
        (name) =>
          !/^\w+ \/(ops|billing|console|sign-in|sign-up|sign-out|home|operator|files|assets|embed|favicon|docs|llms|mcp|$)/.test(
            name,
          ),
      )
    const documented = operations.map(
      ({ method, path }) => `${method.toUpperCase()} /api/v1${path.replace(/\{(\w+)\}/g, ':$1')}`,
    )
    expect([...documented, 'GET /openapi.json'].sort()).toEqual(routes.sort())
  })
})

describe('every operation', () => {
  test('has its own id', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]+[A-Za-z0-9]+$/.test(id))).toEqual([])
  })

  test.each(operations)('$name says what it does in one sentence', ({ operation }) => {
    expect(operation.summary).toMatch(/^[A-Z].{9,}[^.]$/)
  })

  test.each(operations)('$name declares what its kind can answer', ({ path, operation }) => {
    const declared = Object.keys(operation.responses).map(Number)
    const isOpen = operation.security?.length === 0
    const expected = [
      413,
      500,
      503,
      ...(isOpen ? [] : [401, 403, 429]),
      ...(path.includes('{') ? [404] : []),
      ...(operation.requestBody ? [400, 415] : []),
      ...(operation.parameters?.some((parameter) => parameter.in === 'query') ? [400] : []),
    ]
    expect(expected.filter((status) => !declared.includes(status))).toEqual([])
    expect(declared.some((status) => status < 300)).toBe(true)
  })

  test.each(operations)('$name says what it answers with', ({ operation }) => {
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      if (!status.startsWith('2')) continue
      expect(Object.entries(content).filter(([, { schema }]) => Object.keys(schema).length === 0)).toEqual([])
    }
  })

  test('that makes something for another thing says that there is none', async () => {
    const ada = await world.person()
    // The answer is held against the document, as each is.
    expect((await ada.send('POST', 'iframes', { api_key_id: crypto.randomUUID() })).status).toBe(404)
  })

  test('that only streams is an event stream with its events', () => {
    const { responses } = operations.find(
      ({ name }) => name === 'GET /iframes/{id}/sessions/{sessionId}/events',
    )!.operation
    const { content } = responses['200'] as { content: Record<string, { schema: { $ref: string } }> }
    expect(content).toEqual({ 'text/event-stream': { schema: { $ref: '#/components/schemas/WidgetEvent' } } })
    const { anyOf } = document.components.schemas.WidgetEvent
    const events = anyOf.map(({ properties }: { properties: { event: { const: string } } }) => properties.event.const)
    expect(events).toEqual(['message', 'takeover', 'typing', 'closed'])
  })

  /** Health that is down, and canvases that cannot be built, are told in shapes of their own (docs/api.md 1.5). */
  const OWN_SHAPES = new Set(
    `
    Error MessageError Health CompileRefusalReply CanvasTestRefusalReply CanvasPublishRefusalReply
    SkillReviewRefusalReply SkillReviewRefusal
  `
      .trim()
      .split(/\s+/),
  )

  test.each(operations)('$name answers every error with the envelope', ({ operation }) => {
    const shapes = Object.keys(operation.responses)
      .filter((status) => Number(status) >= 400)
      .map((status) => responseOf(operation, status, document)?.content?.['application/json']?.schema.$ref)
    expect(shapes.filter((ref) => !OWN_SHAPES.has(String(ref).split('/').at(-1)!))).toEqual([])
  })

  test('shares what is refused everywhere: the document stays under 1 MB', () => {
    const own = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).filter(([status, { $ref }]) => status === '401' && !$ref),
    )
    expect(own).toEqual([])
    expect(JSON.stringify(document).length).toBeLessThan(1_000_000)
  })

  test('that streams says so', () => {
    const streams = operations.filter(({ operation }) => operation.responses[200]?.content?.['text/event-stream'])
    expect(streams.map(({ name }) => name).sort()).toEqual([
      'GET /iframes/{id}/sessions/{sessionId}/events',
      'GET /live',
      'GET /responses/{id}',
      'POST /audio/transcriptions',
      'POST /chat/completions',
      'POST /completions',
      'POST /iframes/{id}/sessions/{sessionId}/messages',
      'POST /images/edits',
      'POST /images/generations',
      'POST /messages',
      'POST /responses',
    ])
  })
})

/** Problems found by redocly's recommended rules, run as its own program. */
async function lint(source: unknown): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-openapi-'))
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(source))
    writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: "off"\n')
    const linter = Bun.spawn([process.execPath, LINTER, 'lint', 'openapi.json', '--format=json'], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'ignore',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    const { problems } = (await new Response(linter.stdout).json()) as { problems: Problem[] }
    // The contract has both; `submissions` is no id of a skill, and its slug is reserved.
    return problems
      .filter(({ message }) => !/ambiguous paths: `\/skills\/submissions\/\{id\}`/.test(message))
      .map(({ ruleId, severity, message, location }) => `${severity} ${ruleId}: ${message} ${location[0]?.pointer}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Where schemas of operations and components stand, without those that another place already says in the same words.
 */
function schemasIn(part: unknown, place: string, seen = new Set<string>()): string[] {
  if (part === null || typeof part !== 'object') return []
  return Object.entries(part).flatMap(([name, value]) => {
    const at = `${place}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`
    const isSchema = name === 'schema' || place.endsWith('/components/schemas')
    if (!isSchema) return schemasIn(value, at, seen)
    const text = JSON.stringify(value)
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew ? [at] : []
  })
}
