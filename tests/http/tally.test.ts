import { expect, test } from 'bun:test'
import { Counter, Histogram, Registry } from 'prom-client'
import { createTally } from '../../src/http/metrics'

const VALUES = [0.0004, 0.001, 0.3, 0.5, 7, 121]

test('counters and histograms read as those of the package do', async () => {
  const [theirs, ours] = [new Registry(), new Registry()]
  const labels = ['route', 'status']
  const buckets = [0.001, 0.5, 120]
  const counter = new Counter({ name: 'a_total', help: 'Calls "by" route', labelNames: labels, registers: [theirs] })
  const bare = new Counter({ name: 'b_total', help: 'Bare', registers: [theirs] })
  const histogram = new Histogram({ name: 'c', help: 'Times', labelNames: ['route'], buckets, registers: [theirs] })
  const counts = createTally(ours, { name: 'a_total', help: 'Calls "by" route', labels })
  createTally(ours, { name: 'b_total', help: 'Bare' })
  const times = createTally(ours, { name: 'c', help: 'Times', labels: ['route'], buckets })

  for (const value of VALUES)
    for (const route of ['/a', '/b "quoted"\\']) {
      counter.inc({ route, status: '200' }, value)
      counts.add(value, route, '200')
      histogram.observe({ route }, value)
      times.add(value, route)
    }
  bare.inc(0)

  expect(await ours.metrics()).toBe(await theirs.metrics())
})
