import { type Blocked, type Guard, guardrailBlocked } from '../../guardrails'
import type { Store } from '../../kernel/store'
import { readJsonAnswer } from '../rules'
import type { Opened } from '../run'
import type { createRecord } from './record'
import { rewriteTools, wordsOfTools } from './tool-words'
import { withVoice, wordsOfVoice } from './voice-words'

type Deps = { store: Store; record: ReturnType<typeof createRecord> }

/** Checks everything a request brings against the caller's policy, before anything is billed (contract 12). */
export function createInputGuard({ store, record }: Deps) {
  return { guardInput }

  /**
   * Applies redacting rules to the prompt, the turns sent with it, attachment URLs, persona, memories and tools, and
   * returns the changed run. Throws 400 `guardrail_blocked`, after recording the refusal.
   */
  async function guardInput(run: Opened): Promise<Opened> {
    const { guard, deadline, ask } = run
    if (!guard) return run
    const answered = await guardToolResults(run, guard)
    if (!guard.hasRules('input')) return answered
    const said = ask.context.filter(isUserTurn).map(({ content }) => content)
    const links = ask.images.map(({ attachment: one }) =>
      one.type === 'image_url' && !one.url.startsWith('data:') ? one.url : '',
    )
    const passed = await guard.checkInput([ask.prompt, ...said, ...links], deadline.signal)
    if (passed.blocked) throw await refused(run, passed.blocked, placeOf(passed.place, said.length, ask))
    const [prompt, ...rest] = passed.value
    const context = answered.ask.context.map((turn) => (isUserTurn(turn) ? { ...turn, content: rest.shift()! } : turn))
    const kept = ask.images.filter((_, place) => rest[place] === links[place])
    const warnings = kept.length < ask.images.length ? [...ask.warnings, UNLINKED] : ask.warnings
    const asked = { ...answered.ask, prompt: prompt!, context, images: kept, warnings }
    const withHistory = await guardHistory(answered, guard)
    return guardToolDefinitions(await guardAccompanying(withContext(withHistory, asked), guard), guard)
  }

  /** Persona and style, assistant turns that the caller sent, and memories: the engine reads them as well. */
  async function guardAccompanying(run: Opened, guard: Guard): Promise<Opened> {
    const { signal } = run.deadline
    const words = wordsOfVoice(run.ask.voice)
    const passed = await guard.checkInput(words, signal, 'accompanying')
    if (passed.blocked) throw await refused(run, passed.blocked, run.ask.cameFrom?.persona ?? 'persona')
    const { context, after } = run.ask
    const told = [...context, ...after].filter(isAssistantTurn).map(({ content }) => content)
    const left = await guard.redactEarlier([...told, ...run.memories], signal, 'accompanying')
    const checked = (turn: Turn) => (isAssistantTurn(turn) ? { ...turn, content: left.shift()! } : turn)
    const turns = { context: context.map(checked), after: after.map(checked) }
    const voice = withVoice(run.ask.voice, passed.value)
    return { ...withContext(run, { ...run.ask, voice, ...turns }), memories: left }
  }

  /** Tools of the caller. Matches in descriptions are redacted; a match in a name or a value is refused. */
  async function guardToolDefinitions(run: Opened, guard: Guard): Promise<Opened> {
    if (!run.ask.tools.length && !run.ask.functions) return run
    const words = wordsOfTools(run.ask)
    const { value: left, blocked } = await guard.checkToolDefinitions(words, run.deadline.signal)
    if (blocked) throw await refused(run, blocked, 'tools')
    if (left.every((text, place) => text === words.prose[place])) return run
    const leftOf = new Map(words.prose.map((text, place) => [text, left[place]!]))
    const brought = rewriteTools(run.ask, { prose: (text) => leftOf.get(text) ?? text, fixed: () => undefined })
    return { ...run, ask: { ...run.ask, ...brought } }
  }

  /** Redacts stored turns of the user again, as they may be older than the policy. */
  async function guardHistory(run: Opened, guard: Guard): Promise<Opened> {
    const stored = run.history.slice(0, run.history.length - run.ask.context.length)
    const said = stored.filter(isUserTurn)
    if (!said.length) return run
    const left = await guard.redactEarlier(
      said.map(({ content }) => content),
      run.deadline.signal,
    )
    const turns = stored.map((turn) => (isUserTurn(turn) ? { ...turn, content: left.shift()! } : turn))
    return { ...run, history: [...turns, ...run.ask.context] }
  }

  /** Checks the tool results that a client sends when it runs the tool loop itself. */
  async function guardToolResults(run: Opened, guard: Guard): Promise<Opened> {
    if (!guard.hasRules('tool_result')) return run
    const guarded = async (turns: readonly Turn[]) => {
      const checked: Turn[] = []
      for (const turn of turns) checked.push(turn.role === 'tool' ? await guardToolResult(turn, run, guard) : turn)
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

const UNLINKED = 'An attachment was ignored because a guardrail redacted part of its URL.'

/** The field that the text at this place came from: the prompt, then the turns, then the attachments. */
function placeOf(place: number, turns: number, { cameFrom, images }: Opened['ask']): string {
  if (place === 0) return cameFrom?.prompt ?? 'prompt'
  if (place <= turns) return cameFrom?.said[place - 1] ?? 'conversation'
  return images[place - turns - 1]?.path ?? 'attachments'
}

type Turn = Opened['history'][number]
type ToolTurn = Extract<Turn, { role: 'tool' }>

const isAssistantTurn = (turn: Turn): turn is Turn & { role: 'assistant'; content: string } =>
  turn.role === 'assistant' && typeof turn.content === 'string' && turn.content !== ''

const isUserTurn = (turn: Turn): turn is Turn & { role: 'user'; content: string } =>
  turn.role === 'user' && typeof turn.content === 'string'

async function guardToolResult(turn: ToolTurn, { deadline }: Opened, guard: Guard): Promise<ToolTurn> {
  // A result that is JSON is parsed, because escapes could hide a match from the rules.
  const given = readJsonAnswer(turn.content) ?? turn.content
  const { value, blocked } = await guard.checkToolData('tool_result', turn.toolName, given, deadline.signal)
  if (blocked) return { ...turn, content: blocked.message ?? 'The result was withheld by a guardrail.' }
  if (value === given) return turn
  return { ...turn, content: typeof value === 'string' ? value : JSON.stringify(value) }
}

/** The run with `ask` replaced, and with its turns in `history`, where they follow the stored ones. */
const withContext = (run: Opened, ask: Opened['ask']): Opened => ({
  ...run,
  ask,
  history: [...run.history.slice(0, run.history.length - run.ask.context.length), ...ask.context],
})
