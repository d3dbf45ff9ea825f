import { type EngineService, originOf } from '../engines'
import type { Call } from '../kernel/caller'
import type { Memory } from './collect-sources'
import { type Disagreement, disagreementsIn } from './differences'
import type { Note } from './notes'
import { type Plan, planFor, withWords } from './plan'
import type { Draft } from './report'
import type { Depth } from './schema'
import { type Dropped, messagesFor, planningFor, readPlan, readWritten } from './write-engine'
import { writeExtract } from './write-extract'

/** One engine call, as charged. */
export type Turn = { engineId: string; free: boolean; promptTokens: number; completionTokens: number }

/** By depth: maximum notes in total and per source, and maximum tokens that an engine reads and writes. */
export const EFFORT: Record<Depth, { notes: number; ofSource: number; promptTokens: number; outputTokens: number }> = {
  basic: { notes: 16, ofSource: 4, promptTokens: 6_000, outputTokens: 1_500 },
  advanced: { notes: 48, ofSource: 6, promptTokens: 16_000, outputTokens: 4_000 },
}
const PLAN_TOKENS = 400
const MODE = 'research'

type Deps = {
  engines: Pick<EngineService, 'answer' | 'isFree' | 'isConnected' | 'forMode' | 'countTokens' | 'window'>
}
type Request = { prompt: string; depth: Depth; call: Call; signal: AbortSignal; memory: Memory }
type Writing = { plan: Plan; notes: readonly Note[]; titles: readonly string[]; question: Request; turns: Turn[] }
type Written = {
  draft: Draft
  dropped: Dropped[]
  disagreements: Disagreement[]
  extractive: boolean
  warnings: string[]
}

/** Plans and writes reports: with an engine, or by rules when no language model is connected. */
export function createWriteReport({ engines }: Deps) {
  return { hasModel, planned, write }

  /** Whether an engine writes the reports. */
  function hasModel(): boolean {
    const id = engines.forMode(MODE)
    return engines.isConnected(id) && !engines.isFree(id)
  }

  /** An engine names the parts of the question. The rest of the plan comes from the prompt itself. */
  async function planned({ prompt, depth, call, signal, memory }: Request, turns: Turn[]): Promise<Plan> {
    const plan = planFor(prompt, depth)
    if (!hasModel() || depth === 'basic' || !plan.queries.length) return plan
    const known = (await memory.recall('plan')) as { title: string; aspects: string[]; turn: Turn } | null
    if (known) {
      turns.push(known.turn)
      return withWords(plan, known, depth)
    }
    const { text, turn } = await request(planningFor(plan.question.slice(0, 4_000)), PLAN_TOKENS, {
      call,
      signal,
      json: true,
    })
    turns.push(turn)
    const words = readPlan(text) ?? { title: plan.title, aspects: [] }
    await memory.keep('plan', { ...words, turn })
    return withWords(plan, words, depth)
  }

  async function write({ plan, notes, titles, question, turns }: Writing): Promise<Written> {
    const disagreements = disagreementsIn(notes)
    const read = new Set(notes.map(({ source }) => source)).size
    const extract = {
      draft: writeExtract({ plan, notes, disagreements, read }),
      dropped: [],
      disagreements,
      extractive: true,
    }
    if (!hasModel()) return { ...extract, warnings: [] }
    const { depth, call, signal } = question
    const shown = fitting(notes, EFFORT[depth].promptTokens)
    const messages = messagesFor(plan, shown, titles)
    const { text, turn } = await request(messages, EFFORT[depth].outputTokens, { call, signal })
    turns.push(turn)
    const { draft, dropped } = readWritten({ plan, written: text, notes: shown, disagreements, read })
    const holds = draft.summary.length + draft.sections.length > (disagreements.length ? 1 : 0)
    if (holds) return { draft, dropped, disagreements, extractive: false, warnings: [] }
    return {
      ...extract,
      dropped,
      warnings: ['No sentence of the language model could be verified, so the report quotes its sources instead.'],
    }
  }

  /** The best notes, as many as an engine may read. */
  function fitting(notes: readonly Note[], maxTokens: number): readonly Note[] {
    const max = Math.min(maxTokens, Math.floor(engines.window(engines.forMode(MODE)) / 2))
    let room = max - PLAN_TOKENS
    return notes.filter(({ text }) => {
      room -= engines.countTokens(text) + 12
      return room > 0
    })
  }

  type Question = { call: Call; signal: AbortSignal; json?: true }

  async function request(messages: ReturnType<typeof planningFor>, max: number, { call, signal, json }: Question) {
    const engineId = engines.forMode(MODE)
    const answer = await engines.answer(engineId, {
      messages,
      mode: MODE,
      temperature: 0.2,
      maxOutputTokens: max,
      ...(json ? { json } : {}),
      origin: originOf(call),
      signal,
    })
    const { promptTokens, completionTokens } = answer.usage
    const turn: Turn = { engineId: answer.engineId, free: answer.free, promptTokens, completionTokens }
    return { text: answer.text, turn }
  }
}
