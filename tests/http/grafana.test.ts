// SQLite only: what a server counts of its own work.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { operatorSender } from '../operators/support'
import { eventually } from '../support/eventually'

type Panel = { title: string; targets: { expr: string; legendFormat?: string }[] }
const { panels } = (await Bun.file(new URL('../../docs/grafana.json', import.meta.url)).json()) as { panels: Panel[] }

const { world } = await createUpstreamWorld()
const ada = await world.person()
const prompt = freshPrompt()
await ada.send('POST', 'completions', { prompt, mode: 'fast', stream: true })
const again = { prompt: freshPrompt(), mode: 'fast' }
await ada.send('POST', 'completions', again)
await ada.send('POST', 'completions', again)
await ada.send('POST', 'completions', { prompt: freshPrompt('[[500]]'), mode: 'fast' })

type Series = { name: string; labels: Readonly<Record<string, string>> }

/** The series of a page of metrics. */
const seriesIn = (text: string): Series[] =>
  [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)].map(([, name, labels = '']) => ({
    name: name!,
    labels: Object.fromEntries([...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
  }))

/** What an expression asks for: its metrics, the labels it sorts by, and the values it names. */
const requestedBy = (expr: string) => ({
  names: [...expr.replace(/\{[^}]*\}|by \([^)]*\)/g, '').matchAll(/\b(?:svc|process|nodejs)_[a-z_]+/g)].map(
    ([name]) => name,
  ),
  labels: [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(/,\s*/)),
  values: [...expr.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, value]) => [label!, value!] as const),
})

/** What Prometheus adds to each series. */
const OF_THE_SCRAPE = ['instance', 'job']

const ops = operatorSender(world)
const metrics = async () => (await ops('GET', '/metrics')).text
// A request is counted when its answer is out, which is after its caller has it.
const text = await eventually(metrics, (page) => page.includes('route="/api/v1/completions",status="503"'))
const there = seriesIn(text)

describe('the Grafana dashboard', () => {
  const targets = panels.flatMap((panel) => panel.targets.map((target) => [panel.title, target] as const))

  test.each(targets)('"%s" asks for what a server that works exports', (_, { expr, legendFormat = '' }) => {
    const { names, labels, values } = requestedBy(expr)
    expect(names).not.toEqual([])
    for (const name of names) {
      const series = there.filter((one) => one.name === name)
      expect(series).not.toEqual([])
      for (const label of labels) expect(series.some((one) => label in one.labels)).toBe(true)
      for (const [label] of values) expect(series.some((one) => label in one.labels)).toBe(true)
    }
    const all = there.filter(({ name }) => names.includes(name))
    for (const [label, value] of values) expect(all.map((one) => one.labels[label])).toContain(value)
    for (const [, label] of legendFormat.matchAll(/\{\{([a-z_]+)\}\}/g))
      expect([...labels, ...OF_THE_SCRAPE]).toContain(label!)
  })

  test('shows each metric of our own', () => {
    const request = new Set(targets.flatMap(([, { expr }]) => requestedBy(expr).names.map(baseOf)))
    const own = new Set(there.map(({ name }) => baseOf(name)).filter((name) => name.startsWith('svc_')))
    expect([...own].filter((name) => !request.has(name) && name !== 'svc_store_batch_units')).toEqual([])
  })
})

const baseOf = (name: string): string => name.replace(/_(bucket|sum|count)$/, '')
