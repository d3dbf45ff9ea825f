import { type Blocked, type Guard, guardrailBlocked } from '../../guardrails'
import type { Store } from '../../kernel/store'
import { readJsonAnswer } from '../rules'
import type { Opened } from '../run'
import type { createRecord } from './record'
import { withProse, wordsOfTools } from './tool-words'
import { withVoice, wordsOfVoice } from './voice-words'

type Deps = { store: Store; record: ReturnType<typeof createRecord> }

/** The policy a run is under, before anything is billed (contract 12). */
export function createInputGuard({ store, record }: Deps) {
  return { guardInput }

  /**
   * What the caller sends, with what redacting rules found taken out: the prompt, the user's earlier turns that
   * came with it, the addresses of its attachments, and what goes along, tools included. Throws 400 `guardrail_blocked`, which is
   * on the record.
   */
  async function guardInput(run: Opened): Promise<Opened> {
    const { guard, deadline, ask } = run
    if (!guard) return run
    const answered = await guardAnswers(run, guard)
    if (!guard.hasRules('input')) return answered
    const said = ask.context.filter(isUsers).map(({ content }) => content)
    const links = ask.attachments.map((one) =>
      one.type === 'image_url' && !one.url.startsWith('data:') ? one.url : '',
    )
    const passed = await guard.checkInput([ask.prompt, ...said, ...links], deadline.signal)
    if (passed.blocked) throw await refused(run, passed.blocked, placeOf(passed.place, said.length, ask.cameFrom))
    const [prompt, ...rest] = passed.value
    const context = answered.ask.context.map((turn) => (isUsers(turn) ? { ...turn, content: rest.shift()! } : turn))
    const kept = ask.attachments.filter((_, place) => rest[place] === links[place])
    const warnings = kept.length < ask.attachments.length ? [...ask.warnings, UNLINKED] : ask.warnings
    const asked = { ...answered.ask, prompt: prompt!, context, attachments: kept, warnings }
    return guardTools(await guardBrought(withContext(await guardStored(answered, guard), asked), guard), guard)
  }

  /** What goes to the engine beside the request: how the caller wants it to speak, its turns as the caller tells them, memories. */
  async function guardBrought(run: Opened, guard: Guard): Promise<Opened> {
    const { signal } = run.deadline
    const words = wordsOfVoice(run.ask.voice)
    const passed = await guard.checkInput(words, signal, 'accompanying')
    if (passed.blocked) throw await refused(run, passed.blocked, run.ask.cameFrom?.persona ?? 'persona')
    const { context, after } = run.ask
    const told = [...context, ...after].filter(isEngines).map(({ content }) => content)
    const left = await guard.redactEarlier([...told, ...run.memories], signal, 'accompanying')
    const judged = (turn: Turn) => (isEngines(turn) ? { ...turn, content: left.shift()! } : turn)
    const turns = { context: context.map(judged), after: after.map(judged) }
    const voice = withVoice(run.ask.voice, passed.value)
    return { ...withContext(run, { ...run.ask, voice, ...turns }), memories: left }
  }

  /** Tools the caller brings: what explains them may lose parts; names and values that would are refused. */
  async function guardTools(run: Opened, guard: Guard): Promise<Opened> {
    if (!run.ask.tools.length && !run.ask.functions) return run
    const words = wordsOfTools(run.ask)
    const { value: left, blocked } = await guard.checkToolDefinitions(words, run.deadline.signal)
    if (blocked) throw await refused(run, blocked, 'tools')
    if (left.every((text, place) => text === words.prose[place])) return run
    const judged = new Map(words.prose.map((text, place) => [text, left[place]!]))
    const brought = withProse(run.ask, { prose: (text) => judged.get(text) ?? text, fixed: () => undefined })
    return { ...run, ask: { ...run.ask, ...brought } }
  }

  /** What was said in a conversation before this policy was in force goes to no engine either. */
  async function guardStored(run: Opened, guard: Guard): Promise<Opened> {
    const stored = run.history.slice(0, run.history.length - run.ask.context.length)
    const said = stored.filter(isUsers)
    if (!said.length) return run
    const left = await guard.redactEarlier(
      said.map(({ content }) => content),
      run.deadline.signal,
    )
    const turns = stored.map((turn) => (isUsers(turn) ? { ...turn, content: left.shift()! } : turn))
    return { ...run, history: [...turns, ...run.ask.context] }
  }

  /** Results that a client which keeps the loop itself sends are results all the same. */
  async function guardAnswers(run: Opened, guard: Guard): Promise<Opened> {
    if (!guard.hasRules('tool_result')) return run
    const guarded = async (turns: readonly Turn[]) => {
      const checked: Turn[] = []
      for (const turn of turns) checked.push(turn.role === 'tool' ? await guardResult(turn, run, guard) : turn)
      return checked
    }
    const { context, after } = run.ask
    return withContext(run, { ...run.ask, context: await guarded(context), after: await guarded(after) })
  }

  async function refused(run: Opened, { guardrailId, detail, message }: Blocked, place: string): Promise<Error> {
    await store.write((tx) => record.refused(tx, run))
    return guardrailBlocked(guardrailId, message, place, detail)
  }
}

const UNLINKED = 'An attachment was left out: a guardrail took out a part of its address.'
/** Where the text at this place came from: the prompt, then the turns, then the attachments. */
function placeOf(place: number, turns: number, from: Opened['ask']['cameFrom']): string {
  if (place === 0) return from?.prompt ?? 'prompt'
  if (place <= turns) return from?.said[place - 1] ?? 'conversation'
  return from?.attachments ?? 'attachments'
}

type Turn = Opened['history'][number]
type ToolTurn = Extract<Turn, { role: 'tool' }>

const isEngines = (turn: Turn): turn is Turn & { role: 'assistant'; content: string } =>
  turn.role === 'assistant' && typeof turn.content === 'string' && turn.content !== ''

const isUsers = (turn: Turn): turn is Turn & { role: 'user'; content: string } =>
  turn.role === 'user' && typeof turn.content === 'string'

async function guardResult(turn: ToolTurn, { deadline }: Opened, guard: Guard): Promise<ToolTurn> {
  // Clients send results as JSON, in whose escapes anything hides.
  const given = readJsonAnswer(turn.content) ?? turn.content
  const { value, blocked } = await guard.checkToolData('tool_result', turn.toolName, given, deadline.signal)
  if (blocked) return { ...turn, content: blocked.message ?? 'The result was withheld by a guardrail.' }
  if (value === given) return turn
  return { ...turn, content: typeof value === 'string' ? value : JSON.stringify(value) }
}

/** The turns that came with the request stand behind those that are stored. */
const withContext = (run: Opened, ask: Opened['ask']): Opened => ({
  ...run,
  ask,
  history: [...run.history.slice(0, run.history.length - run.ask.context.length), ...ask.context],
})
