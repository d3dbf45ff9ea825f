import { bodyOf, exampleOf, pathOf } from '../../src/pages/reference/examples'
import {
  type Document,
  groupsOf,
  type Operation,
  type Resolve,
  resolver,
  type Schema,
} from '../../src/pages/reference/operations'
import type { Json } from '../../src/pages/reference/samples'

/** A request with a text in one of its places. */
export type Request = { method: string; path: string; body?: Json }

/** A place for text in the requests of a route. */
export type Field = {
  operation: Operation
  /** `body.messages.0.content`, `query.q`, `path.id`. */
  name: string
  /** Most characters by its schema. */
  max: number
  with(text: string): Request
}

/** One step into a value, and an example of the value that is stepped into. */
type Step = { key: string | number; example: unknown }

const DEPTH = 6
const FREE: Schema = { type: 'string' }
/** A name that no schema knows, for objects whose members may have any. */
const ANY_NAME = 'anything'
/** Bodies that lead elsewhere than the usual one does, by operation. */
const OTHERWISE: Readonly<Record<string, readonly object[]>> = {
  postCompletions: [
    ...['fast', 'think', 'code', 'genui', 'roast', 'data_extraction', 'domain_analysis', 'research', 'image'].map(
      (mode) => ({ mode }),
    ),
    { conversation: { messages: [{ role: 'user', content: 'Hello' }] } },
  ],
  postChatCompletions: [
    { response_format: { type: 'json_object' } },
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } } },
  ],
  postDocuments: ['docx', 'pptx', 'xlsx', 'csv'].map((format) => ({ format })),
}

/** Every place for text in every route of the document. `idFor` gives an id in a path that leads to something. */
export function fieldsOf(document: Document, idFor: (path: string) => string | undefined): Field[] {
  const resolve = resolver(document)
  return groupsOf(document)
    .flatMap(({ operations }) => operations)
    .flatMap((operation) => fieldsOfOne(operation, resolve, idFor))
}

/** The request of the samples of a route, as it is. */
export const sampleOf = (operation: Operation, resolve: Resolve): Request => ({
  method: operation.method,
  path: pathOf(operation, resolve),
  ...withBody(nearby(bodyOf(operation, resolve))),
})

function fieldsOfOne(operation: Operation, resolve: Resolve, idFor: (path: string) => string | undefined): Field[] {
  const { method, parameters, body } = operation
  const sample = sampleOf(operation, resolve)
  const path = withIds(operation.path, sample.path, idFor)
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([place, name]) => ({
    operation,
    name: `path.${name}`,
    max: MAX_OF_URL,
    with: (text: string) => ({
      ...sample,
      path: operation.path.replace(place, encodeURIComponent(text)).replace(/\{\w+\}/g, 'x'),
    }),
  }))
  const inQuery = parameters
    .filter((one) => one.in === 'query')
    .map(({ name }) => ({
      operation,
      name: `query.${name}`,
      max: MAX_OF_URL,
      with: (text: string) => ({
        ...sample,
        path: `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(text)}`,
      }),
    }))
  if (body?.type !== 'application/json') return [...inPath, ...inQuery]
  const bodies = [{}, ...(OTHERWISE[operation.id] ?? [])]
  const inBody = placesIn(body.schema, resolve).flatMap(({ steps, schema }) =>
    bodies
      // What is said otherwise matters to what is said at length.
      .slice(0, (schema.maxLength ?? Number.POSITIVE_INFINITY) < MAX_SHORT ? 1 : undefined)
      .map((other) => ({
        operation,
        name: `body.${steps.map(({ key }) => key).join('.')}${Object.keys(other).length ? ` ${JSON.stringify(other)}` : ''}`,
        max: schema.maxLength ?? Number.POSITIVE_INFINITY,
        with: (text: string) => ({
          method,
          path,
          body: put({ ...(sample.body as object), ...other }, steps, text) as Json,
        }),
      })),
  )
  return [...inPath, ...inQuery, ...inBody]
}

/** Each character becomes three or more in an address, of which a server reads 16 KB. */
const MAX_OF_URL = 4_000
const MAX_SHORT = 10_000

/** Addresses at which nobody listens, on this machine: a name would be looked up, for as long as that takes. */
const nearby = (body: Json | undefined): Json | undefined =>
  body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace(/https:\/\/[a-z.]*example(\.com)?/g, NOBODY))
const NOBODY = 'http://127.0.0.1:9'

const withBody = (body: Json | undefined) => (body === undefined ? {} : { body })

function withIds(template: string, sample: string, idFor: (path: string) => string | undefined): string {
  const id = idFor(template.split('/{')[0]!)
  return id ? sample.replace(/^((?:\/[a-z-]+)+)\/[^/?]+/, (_, before: string) => `${before}/${id}`) : sample
}

/** Where a schema takes text, also as the name of a member. */
function placesIn(schema: Schema, resolve: Resolve, steps: Step[] = []): { steps: Step[]; schema: Schema }[] {
  const found = resolve(schema)
  if (steps.length > DEPTH || found.const !== undefined || found.enum) return []
  const choices = found.anyOf ?? found.oneOf ?? found.allOf
  if (choices) return choices.flatMap((one) => placesIn(one, resolve, steps))
  const example = nearby(exampleOf(found, resolve, { whole: false }) as Json)
  const into = (part: Schema, key: string | number) => placesIn(part, resolve, [...steps, { key, example }])
  switch (Array.isArray(found.type) ? found.type[0] : found.type) {
    case 'string':
      return [{ steps, schema: found }]
    case 'array':
      return into(found.items ?? FREE, 0)
    case 'object': {
      const others = Object.values(found.patternProperties ?? {}).concat(
        typeof found.additionalProperties === 'object' ? [found.additionalProperties] : [],
      )
      return [
        ...Object.entries(found.properties ?? {}).flatMap(([name, part]) => into(part, name)),
        ...others.flatMap((part) => into(part, ANY_NAME)),
      ]
    }
    case undefined:
      return [{ steps, schema: FREE }]
    default:
      return []
  }
}

function put(value: unknown, [step, ...rest]: Step[], text: string): unknown {
  if (!step) return text
  const base =
    typeof value === 'object' && value !== null && Array.isArray(value) === (step.key === 0) ? value : step.example
  if (step.key === 0) return [put((base as unknown[])[0], rest, text), ...(base as unknown[]).slice(1)]
  return { ...(base as object), [step.key]: put((base as Record<string, unknown>)[step.key], rest, text) }
}
