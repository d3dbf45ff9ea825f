import { expect, test } from 'bun:test'
import { addReadings } from '../../src/http/call-metrics'
import { createMetrics } from '../../src/http/metrics'

type Panel = { title: string; targets: { expr: string }[] }
const { panels } = (await Bun.file(new URL('../../docs/grafana.json', import.meta.url)).json()) as { panels: Panel[] }

/** Words of the query language, and labels, which stand in brackets and braces. */
const namesIn = (expr: string): string[] =>
  [...expr.replace(/\{[^}]*\}|by \([^)]*\)/g, '').matchAll(/\b(?:svc|process|nodejs)_[a-z_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  )

test('the Grafana dashboard asks for metrics that there are, and for each of our own', () => {
  const { registry } = createMetrics()
  addReadings(registry, {
    breakers: () => [],
    jobs: async () => ({ queued: 0, active: 0, oldest: null }),
    deliveries: async () => ({ ok: 0, failed: 0, retrying: 0, off: [] }),
    now: () => 0,
  })
  const there = registry.getMetricsAsArray().map(({ name }) => name)
  const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)))
  expect(panels.filter(({ targets }) => targets.some(({ expr }) => !namesIn(expr).length))).toEqual([])
  expect(asked.filter((name) => !there.includes(name))).toEqual([])
  const own = there.filter((name) => name.startsWith('svc_') && name !== 'svc_store_batch_units')
  expect(own.filter((name) => !asked.includes(name))).toEqual([])
})
