import type { Live } from '../cluster'
import type { Clock } from '../kernel/clock'
import type { HeardRedis } from './redis-link'
import { SCRIPTS, type ScriptName } from './shared-scripts'
import type { WindowName } from './window-store'

/** What a node asks others to do for it in Redis; without a script only what they let in themselves. */
export type Question = {
  script: ScriptName | null
  subject: string
  names: readonly WindowName[]
  values: readonly (string | number)[]
  /** It knows what Redis does not. */
  isSure: boolean
  /** Null where it hears none. */
  redis: HeardRedis | null
}

export type Answer = {
  /** What Redis said; null where the node does not hear it either. */
  said: number[] | null
  /** It hears Redis, and there may be calls that Redis does not know: ask all nodes first. */
  isOpen: boolean
  /** What the node itself let in of each window, and how much of that Redis does not know. */
  own: number[]
  apart: number[]
}

export type FromNode = Answer & { node: string }

type Deps = {
  live: Pick<Live, 'hear' | 'tellOthers'>
  clock: Clock
  node: string
  count(): number
  answer(question: Question): Promise<Answer>
}

const ASK = 'rate.ask'
const ANSWER = 'rate.answer'
const PATIENCE_MS = 500
/** How long nobody waits for nodes that did not answer in time; they are told all the same. */
const PAUSE_MS = 1_000
const MAX_WAITING = 2_000

/** Asks the other nodes over the database, and answers them. */
export function createPeers({ live, clock, node, count, answer }: Deps) {
  const waiting = new Map<string, (from: FromNode) => void>()
  let requested = 0
  let waitAgainAt = 0

  live.hear(ASK, '*', (heard) => {
    if (!heard || heard.id === node || (heard.by !== '' && heard.by !== node)) return
    // Whoever may use the database may say anything on its channel.
    const read = parsed(heard.text) as Question | null
    const isOne =
      Array.isArray(read?.names) && Array.isArray(read.values) && (read.script === null || read.script in SCRIPTS)
    const question = isOne ? read : null
    if (question) void reply(String(heard.id), String(heard.ask), question)
  })
  live.hear(ANSWER, node, (heard) => {
    const notice = heard && answerIn(heard.text)
    if (notice) waiting.get(String(heard.ask))?.({ ...notice, node: String(heard.node) })
  })

  return { ask }

  async function reply(to: string, ask: string, question: Question): Promise<void> {
    live.tellOthers(ANSWER, to, { ask, node, text: JSON.stringify(await answer(question)) })
  }

  /** What all others answer, or the one named `by`; it does not wait for the rest once one has asked Redis. */
  async function ask(question: Question, by = ''): Promise<FromNode[]> {
    const others = by ? 1 : count() - 1
    if (others < 1 || waiting.size >= MAX_WAITING) return []
    const id = String(++requested)
    live.tellOthers(ASK, node, { ask: id, by, text: JSON.stringify(question) })
    if (!by && clock.monotonic() < waitAgainAt) return []
    const { promise, resolve } = Promise.withResolvers<void>()
    const answers = new Map<string, FromNode>()
    const stop = clock.after(PATIENCE_MS, () => {
      if (!by) waitAgainAt = clock.monotonic() + PAUSE_MS
      resolve()
    })
    waiting.set(id, (from) => {
      answers.set(from.node, from)
      if (answers.size >= others || from.said || from.isOpen) resolve()
    })
    await promise
    stop()
    waiting.delete(id)
    return [...answers.values()]
  }
}

function answerIn(text: unknown): Answer | null {
  const read = parsed(text) as Answer | null
  const isOne = isNumbers(read?.own) && isNumbers(read.apart) && (read.said === null || isNumbers(read.said))
  return isOne ? read : null
}

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isFinite)

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return null
  }
}
