import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { Model, Row, TopicData } from './model'
import { SCREENS, type Screen } from './model'

/** Most rows that are kept of a topic. */
const MOST_ROWS = 2_000

/** Puts one event of the stream into the model; `gap` says that something was missed and a snapshot is needed. */
export function streamed(model: Model, event: Exclude<StreamEvent, { type: 'hello' }>): { model: Model; gap: boolean } {
  const before = model.topics[event.topic]
  if (event.type === 'failed') {
    const kept = before ?? { rows: [], facts: {}, at: event.at, seq: 0, trouble: null }
    return { model: withTopic(model, event.topic, { ...kept, seq: event.seq, trouble: event.message }), gap: false }
  }
  if (event.type === 'snapshot') {
    const { rows, facts, at, seq } = event
    return { model: withTopic(model, event.topic, { rows: rows as Row[], facts, at, seq, trouble: null }), gap: false }
  }
  if (!before || event.seq !== before.seq + 1) return { model, gap: true }
  const rows = changedRows(before.rows, event.changed as Row[], event.order)
  const data = { rows, facts: event.facts ?? before.facts, at: event.at, seq: event.seq, trouble: null }
  return { model: withTopic(countArrived(model, event.topic, before, rows), event.topic, data), gap: false }
}

const withTopic = (model: Model, topic: TopicName, data: TopicData): Model => ({
  ...model,
  topics: { ...model.topics, [topic]: data },
})

function changedRows(before: readonly Row[], changed: readonly Row[], order: readonly string[] | undefined): Row[] {
  const known = new Map(before.map((row) => [row.id, row]))
  for (const row of changed) known.set(row.id, row)
  if (!order) return before.map(({ id }) => known.get(id)!)
  return order.slice(0, MOST_ROWS).flatMap((id) => known.get(id) ?? [])
}

/** New rows above the chosen one only raise a counter (dx 3.1). */
function countArrived(model: Model, topic: TopicName, before: TopicData, rows: readonly Row[]): Model {
  const screen = topic as Screen
  const list = model.lists[screen]
  if (!SCREENS.includes(screen) || list.chosen === null) return model
  const known = new Set(before.rows.map(({ id }) => id))
  const at = rows.findIndex(({ id }) => id === list.chosen)
  const arrived = rows.slice(0, Math.max(0, at)).filter(({ id }) => !known.has(id)).length
  return arrived
    ? { ...model, lists: { ...model.lists, [screen]: { ...list, arrived: list.arrived + arrived } } }
    : model
}
