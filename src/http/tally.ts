import type { Metric, Registry } from 'prom-client'

type Options = { name: string; help: string; labels?: readonly string[]; buckets?: readonly number[] }
/** What was counted for one set of labels; of a histogram, `counts` holds how many values each bucket got. */
type Row = { labels: Record<string, string>; sum: number; counts: number[] }

type Value = { metricName?: string; labels: Record<string, string | number>; value: number }

/**
 * A counter or, with `buckets`, a histogram. It is on the way of every request: unlike those of the package it hashes no
 * label objects, but makes them when somebody reads the metrics.
 */
export function createTally(registry: Registry, { name, help, labels = [], buckets }: Options) {
  const rows = new Map<string, Row>()
  const type = buckets ? 'histogram' : 'counter'
  // Without labels there is one row, which is shown from the beginning.
  if (!labels.length) rowOf()
  registry.registerMetric({
    name,
    get: () => Promise.resolve({ name, help, type, values: [...rows.values()].flatMap(shown) }),
  } as never as Metric)

  return {
    /** Adds to the row of these label values, which come in the order of `labels`. */
    add(value: number, ...values: string[]): void {
      const row = rowOf(...values)
      row.sum += value
      if (!buckets) return
      const place = buckets.findIndex((upTo) => value <= upTo)
      row.counts[place < 0 ? buckets.length : place]! += 1
    },
  }

  function rowOf(...values: string[]): Row {
    const key = values.length === 1 ? values[0]! : values.join('\n')
    let row = rows.get(key)
    if (!row) {
      const named = Object.fromEntries(labels.map((label, place) => [label, values[place] ?? '']))
      row = { labels: named, sum: 0, counts: Array.from({ length: (buckets?.length ?? -1) + 1 }, () => 0) }
      rows.set(key, row)
    }
    return row
  }

  function shown({ labels: own, sum, counts }: Row): Value[] {
    if (!buckets) return [{ labels: own, value: sum }]
    let total = 0
    const upTo = counts.map((count, place) => {
      total += count
      return { metricName: `${name}_bucket`, labels: { le: buckets[place] ?? '+Inf', ...own }, value: total }
    })
    return [
      ...upTo,
      { metricName: `${name}_sum`, labels: own, value: sum },
      { metricName: `${name}_count`, labels: own, value: total },
    ]
  }
}
