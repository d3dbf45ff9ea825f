// SQLite only: what is told to a collector, which no row is read for.
import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'

type Attribute = { key: string; value: Record<string, unknown> }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: Attribute[]
  startTimeUnixNano: string
  endTimeUnixNano: string
}
type Sent = {
  resourceSpans?: { scopeSpans: { spans: Span[] }[] }[]
  resourceMetrics?: { resource: { attributes: Attribute[] }; scopeMetrics: { metrics: { name: string }[] }[] }[]
}

/** A collector on loopback: what came, by path. */
const received: { path: string; key: string | null; text: string }[] = []
const collector = Bun.serve({
  port: 0,
  async fetch(request) {
    received.push({
      path: new URL(request.url).pathname,
      key: request.headers.get('x-collector'),
      text: await request.text(),
    })
    return Response.json({})
  },
})
afterAll(() => collector.stop(true))
const bodies = (path: string): Sent[] => received.filter((one) => one.path === path).map(({ text }) => JSON.parse(text))

const world = await createWorld({
  config: { otelEndpoint: collector.url.href, otelHeaders: 'x-collector=canary', otelSeconds: 1 },
})
const spans = () =>
  bodies('/v1/traces').flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  )
const attributeOf = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

test('a collector gets a trace of each request and the metrics of each call, named as GenAI names them', async () => {
  const ada = await world.person()
  const reply = await ada.send('POST', 'completions', { prompt: 'canary prompt of telemetry', mode: 'fast' })
  const id = reply.headers.get('x-request-id')
  const root = await eventually(
    () => spans().find((span) => attributeOf(span, 'svc.request_id') === id),
    (span) => span !== undefined,
  )
  expect(root).toMatchObject({ name: 'POST /api/v1/completions' })
  expect(attributeOf(root!, 'gen_ai.operation.name')).toBe('chat')
  expect(attributeOf(root!, 'gen_ai.request.model')).toBe('svc-1-flash')
  expect(Number(attributeOf(root!, 'gen_ai.usage.output_tokens'))).toBe(reply.body.usage.completion_tokens)
  const children = spans().filter(
    ({ traceId, parentSpanId }) => traceId === root!.traceId && parentSpanId === root!.spanId,
  )
  for (const name of ['open', 'decide', 'admit', 'think', 'finish', 'chat svc-1-flash'])
    expect(children.map((child) => child.name)).toContain(name)
  const metrics = () =>
    bodies('/v1/metrics').flatMap(({ resourceMetrics = [] }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap((scope) => scope.metrics.map(({ name }) => name)),
      ),
    )
  for (const name of ['gen_ai.client.token.usage', 'gen_ai.client.operation.duration', 'http.server.request.duration'])
    await eventually(() => metrics().includes(name))
  expect(received.every(({ key }) => key === 'canary')).toBe(true)
  expect(received.map(({ text }) => text).join()).not.toContain('canary prompt')
})
