import type { StreamEvent, TopicName } from '../../src/operators/schema'
import { asTyped } from '../draw/spell'
import { chatPath, chosenChat, readChat, suggestionOf } from '../screens/chats'
import { keyed, pasted } from './keys'
import type { Effect, Event } from './model'
import { type Model, type Row, SCREENS, type Screen, type TopicData, topicsOf } from './model'
import { lookedAt } from './rows'
import { NOT_SHOWN, notify, type Step, VIEWER } from './step'

/** Maximum number of rows to keep per topic. */
const MAX_ROWS = 2_000

const withTopic = (model: Model, topic: TopicName, data: TopicData): Model => ({
  ...model,
  topics: { ...model.topics, [topic]: data },
})

/** Maximum number of loaded row details to keep. */
const MAX_DETAILS = 100

/** The whole program as a function: an event in, the new model and effects out. Reads neither terminal nor clock. */
export function update(model: Model, event: Event): Step {
  const step = stepOf(model, event)
  const look = lookedAt(step.model)
  if (!look || step.model.link.state === 'offline' || lookedAt(model)?.row === look.row) return step
  return { model: step.model, effects: [...step.effects, { type: 'look', path: look.path }] }
}

function stepOf(model: Model, event: Event): Step {
  switch (event.type) {
    case 'key':
      return keyed(model, event.key, event.text)
    case 'pasted':
      return pasted(model, event.text)
    case 'ticked':
      return { model: { ...model, now: event.now }, effects: [] }
    case 'resized':
      return { model: { ...model, columns: event.columns, rows: event.rows }, effects: [] }
    case 'streamed':
      return hear(model, event)
    case 'polled':
      return { model: polled(model, event.topics), effects: [] }
    case 'linked': {
      const isBack = model.link.state === 'offline'
      const link = { ...model.link, state: event.state, since: model.now, heardAt: model.now, tries: 0, problem: '' }
      const linked = { ...model, link }
      return { model: isBack ? notify(linked, 'the server answers again') : linked, effects: [] }
    }
    case 'lost': {
      const { problem, tries, nextTryAt } = event
      const since = model.link.state === 'offline' ? model.link.since : model.now
      return {
        model: { ...model, link: { ...model.link, state: 'offline', since, problem, tries, nextTryAt } },
        effects: [],
      }
    }
    case 'read': {
      const { name, value, problem } = event
      const stored = problem ? (model.details[name]?.value ?? null) : value
      const { [name]: _before, ...others } = model.details
      const newest = Object.entries(others).slice(-MAX_DETAILS)
      const details = { ...Object.fromEntries(newest), [name]: { value: stored, problem, at: model.now } }
      return { model: { ...model, details }, effects: [] }
    }
    case 'ran':
      return ran(model, event)
    case 'said':
      return { model: notify(model, event.text), effects: [] }
    case 'went':
      return { model: { ...model, screen: event.screen }, effects: [{ type: 'reconnect' }] }
  }
}

function polled(model: Model, found: Extract<Event, { type: 'polled' }>['topics']): Model {
  const notices = found.map(({ topic, facts, rows, at }) => [
    topic,
    { rows: rows as Row[], facts, at, seq: 0, trouble: null },
  ])
  const topics = { ...model.topics, ...(Object.fromEntries(notices) as Model['topics']) }
  return { ...model, topics, link: { ...model.link, heardAt: model.now } }
}

/** Applies events that arrived together. A gap in their sequence restarts the stream. */
function hear(model: Model, { events }: Event & { type: 'streamed' }): Step {
  const before = model
  let gap = false
  let next: Model = { ...model, link: { ...model.link, heardAt: model.now } }
  const wanted = topicsOf(model)
  for (const event of events) {
    if (event.type === 'hello') {
      next = greeted(next, event)
      continue
    }
    if (!wanted.includes(event.topic)) continue
    const heard = streamed(next, event)
    next = heard.model
    gap ||= heard.gap
  }
  const effects: Effect[] = [...(gap ? [{ type: 'reconnect' } as const] : []), ...chatNews(before, next)]
  return { model: next, effects: [...effects, ...bell(before, next)] }
}

/** Applies the operator's identity and role as the server reports them. */
function greeted(model: Model, { operator, role, holder, version }: Extract<StreamEvent, { type: 'hello' }>): Model {
  const known = { ...model, where: { ...model.where, operator }, role, holder }
  const own = model.where.version
  if (lineOf(version) !== lineOf(own) && (model.canWrite || model.role === '')) {
    const words = `The server has version ${version}, this program ${own}. You can read but not change anything. Install svc ${version} here.`
    return notify({ ...known, canWrite: false }, words)
  }
  if (role === 'admin' || role === 'support' || model.role === role) return known
  return role === 'viewer' ? notify({ ...known, canWrite: false }, `${VIEWER} ${NOT_SHOWN}`) : notify(known, NOT_SHOWN)
}

/** Releases of one line are compatible. The line is the part before the second dot. */
const lineOf = (version: string): string => version.split('.').slice(0, 2).join('.')

/** Loads the open chat again when its row has changed. */
function chatNews(before: Model, next: Model): Effect[] {
  if (next.screen !== 'takeovers') return []
  const chat = chosenChat(next)
  if (!chat) return []
  const known = before.topics.takeovers?.rows.find(({ id }) => id === chat.id)
  const isNews = !known || JSON.stringify(known) !== JSON.stringify(chat) || !next.details[chatPath(chat)]
  return isNews ? [readChat(chat)] : []
}

function bell(before: Model, next: Model): Effect[] {
  const waiting = (model: Model) =>
    ((model.topics.overview?.facts.needs ?? []) as { kind: string; count: number }[]).find(
      ({ kind }) => kind === 'visitors',
    )?.count ?? 0
  return next.options.bell && waiting(next) > waiting(before) ? [{ type: 'bell' }] : []
}

/** Shows a command's result. A failure is never silent. */
function ran(model: Model, { argv, exitCode, out, err, as }: Event & { type: 'ran' }): Step {
  const line = asTyped(`svc-admin ${argv.join(' ')}`)
  const messages = (exitCode ? [out, err] : [out || err]).map((text) => text.trim())
  const words = messages.filter(Boolean).join('\n')
  const first = (messages.at(-1) || words).split('\n')[0]!
  if (as === 'draft' && exitCode === 0) return { model: drafted(model, argv, words), effects: [] }
  if (as === 'reply') return { model: replied(model, argv, exitCode ? first : null), effects: [] }
  if (as === 'secret' && exitCode === 0) return { model: withSecret(model, out), effects: [] }
  if (as === 'told' && exitCode === 0) {
    const chat = argv[0] === 'takeovers' ? chosenChat(model) : null
    // Who takes a chat writes in it next.
    const isTaken = argv[1] === 'take' && chat?.id === argv[2]
    const ready = isTaken
      ? ({ ...model, mode: { type: 'write', sending: false, failed: null } } as const)
      : browsing(model)
    const done = notify(ready, `${argv.slice(0, 2).join(' ')}: done`)
    // A note changes the chat, but no row of the list.
    return { model: done, effects: chat ? [readChat(chat)] : [] }
  }
  const lines = [words, exitCode ? `exit ${exitCode}` : ''].join('\n').split('\n')
  const mode = { type: 'output', title: line.slice(0, 200), lines, top: 0 } as const
  return {
    model: { ...notify(model, exitCode ? `failed: ${first}` : `${argv.slice(0, 2).join(' ')}: done`), mode },
    effects: [],
  }
}

const browsing = (model: Model): Model => ({ ...model, mode: { type: 'browse' } })

/** Removes the sent text from the field, and keeps text typed since then. */
function replied(model: Model, argv: readonly string[], problem: string | null): Model {
  const isWriting = model.mode.type === 'write'
  const mode = isWriting ? ({ type: 'write', sending: false, failed: problem } as const) : model.mode
  if (problem !== null) return isWriting ? { ...model, mode } : notify(model, `not sent: ${problem}`)
  const [chat = '', sent = ''] = argv.slice(-2)
  const draft = model.drafts[chat] ?? ''
  const rest = draft.startsWith(sent) ? draft.slice(sent.length) : draft
  return { ...model, drafts: { ...model.drafts, [chat]: rest }, mode }
}

/** Puts the AI's draft into the field of the chat that requested it, for a person to edit and send. */
function drafted(model: Model, argv: readonly string[], words: string): Model {
  const chat = argv[2] ?? ''
  const drafts = { ...model.drafts, [chat]: words }
  const details = { ...model.details, [suggestionOf(chat)]: { value: words, problem: null, at: model.now } }
  const isOpen = chosenChat(model)?.id === chat && model.mode.type === 'browse'
  const mode = isOpen ? ({ type: 'write', sending: false, failed: null } as const) : model.mode
  return notify({ ...model, drafts, details, mode }, 'the AI has written a draft; nothing was sent')
}

function withSecret(model: Model, out: string): Model {
  const made = parsed(out)
  const secret = String(made.key ?? '')
  if (!secret) return notify(browsing(model), 'done')
  const about = [`tier ${made.tier}    scopes ${(made.scopes as string[] | undefined)?.join(' ') ?? ''}`]
  return {
    ...model,
    mode: { type: 'secret', title: `New key "${made.name}"`, secret, about, saved: false, asking: false },
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Applies one event of the stream to the model. `gap` is true if an event was missed and a snapshot is needed. */
function streamed(model: Model, event: Exclude<StreamEvent, { type: 'hello' }>): { model: Model; gap: boolean } {
  const before = model.topics[event.topic]
  if (event.type === 'failed') {
    const stored = before ?? { rows: [], facts: {}, at: event.at, seq: 0, trouble: null }
    return { model: withTopic(model, event.topic, { ...stored, seq: event.seq, trouble: event.message }), gap: false }
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

function changedRows(before: readonly Row[], changed: readonly Row[], order: readonly string[] | undefined): Row[] {
  const known = new Map(before.map((row) => [row.id, row]))
  for (const row of changed) known.set(row.id, row)
  if (!order) return before.map(({ id }) => known.get(id)!)
  return order.slice(0, MAX_ROWS).flatMap((id) => known.get(id) ?? [])
}

/** New rows above the chosen one only raise a counter (docs/operating.md 3.1). */
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
