import type { Thought } from '../../agent/schema'
import { type Blocked, type Guard, guardrailBlocked, type HoldBack, standIn } from '../../guardrails'
import type { Store } from '../../kernel/store'
import { readJsonAnswer, wantsJson, workOf } from '../rules'
import type { Admitted, Opened } from '../run'
import type { createRecord } from './record'

type Deps = { store: Store; record: ReturnType<typeof createRecord> }

/** The policy a run is under, before anything is billed and after the engine has spoken (contract 12). */
export function createGuarding({ store, record }: Deps) {
  return {
    guardInput,
    guardOutput,

    /** An answer on its way out, with its end held back; null where nothing can hold it. */
    holdBack: (run: Admitted): HoldBack | null =>
      run.guard?.holdBack({ ...aboutAnswer(run), sources: [] }, run.deadline.signal) ?? null,
  }

  /**
   * What the caller sends, with what redacting rules found taken out: the prompt, the user's earlier turns that
   * came with it, the addresses of its attachments. Throws 400 `guardrail_blocked`, which is on the record.
   */
  async function guardInput(run: Opened): Promise<Opened> {
    const { guard, deadline, ask } = run
    if (!guard) return run
    const answered = await guardAnswers(run, guard)
    if (!guard.has('input')) return answered
    const said = ask.context.filter(isUsers).map(({ content }) => content)
    const links = ask.attachments.map((one) =>
      one.type === 'image_url' && !one.url.startsWith('data:') ? one.url : '',
    )
    const passed = await guard.input([ask.prompt, ...said, ...links], deadline.signal)
    if (passed.blocked) throw await refused(run, passed.blocked, placeOf(passed.place, said.length))
    const [prompt, ...rest] = passed.value
    const context = answered.ask.context.map((turn) => (isUsers(turn) ? { ...turn, content: rest.shift()! } : turn))
    const kept = ask.attachments.filter((_, place) => rest[place] === links[place])
    const warnings = kept.length < ask.attachments.length ? [...ask.warnings, UNLINKED] : ask.warnings
    return withContext(await guardStored(answered, guard), {
      ...answered.ask,
      prompt: prompt!,
      context,
      attachments: kept,
      warnings,
    })
  }

  /** What was said in a conversation before this policy was in force goes to no engine either. */
  async function guardStored(run: Opened, guard: Guard): Promise<Opened> {
    const stored = run.history.slice(0, run.history.length - run.ask.context.length)
    const said = stored.filter(isUsers)
    if (!said.length) return run
    const left = await guard.earlier(
      said.map(({ content }) => content),
      run.deadline.signal,
    )
    const turns = stored.map((turn) => (isUsers(turn) ? { ...turn, content: left.shift()! } : turn))
    return { ...run, history: [...turns, ...run.ask.context] }
  }

  /** Results that a client which keeps the loop itself sends are results all the same. */
  async function guardAnswers(run: Opened, guard: Guard): Promise<Opened> {
    if (!guard.has('tool_result')) return run
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
const placeOf = (place: number, turns: number): string =>
  place === 0 ? 'prompt' : place <= turns ? 'conversation' : 'attachments'

type Turn = Opened['history'][number]
type ToolTurn = Extract<Turn, { role: 'tool' }>

const isUsers = (turn: Turn): turn is Turn & { role: 'user'; content: string } =>
  turn.role === 'user' && typeof turn.content === 'string'

async function guardResult(turn: ToolTurn, { deadline }: Opened, guard: Guard): Promise<ToolTurn> {
  const { value, blocked } = await guard.tool('tool_result', turn.toolName, turn.content, deadline.signal)
  return { ...turn, content: blocked ? (blocked.message ?? 'The result was withheld by a guardrail.') : String(value) }
}

/** The turns that came with the request stand behind those that are stored. */
const withContext = (run: Opened, ask: Opened['ask']): Opened => ({
  ...run,
  ask,
  history: [...run.history.slice(0, run.history.length - run.ask.context.length), ...ask.context],
})

/**
 * What the engine said, as it may be shown, kept and remembered: with what redacting rules found taken out, or
 * the words of the rule that blocks it. `held` is the same answer as far as it was let out already.
 */
async function guardOutput(run: Admitted, thought: Thought, held: HoldBack | null = null): Promise<Thought> {
  const { guard, deadline } = run
  if (!guard) return thought
  const stopped = held?.blocked()
  if (stopped) {
    guard.stopped(stopped)
    return withheld(thought, stopped)
  }
  if (!guard.has('output') || !thought.content) return guardCalls(run, thought, guard)
  const about = { ...aboutAnswer(run), sources: sourcesOf(run, thought) }
  const { value, blocked } = await guard.output(thought.content, about, deadline.signal)
  return blocked ? withheld(thought, blocked) : guardCalls(run, { ...thought, content: value }, guard)
}

const aboutAnswer = ({ system, ask, resolvedMode }: Admitted) => ({
  systemPrompt: system,
  readJson: ask.json || wantsJson(workOf(resolvedMode)) ? readJsonAnswer : null,
})

const withheld = (thought: Thought, by: Blocked): Thought => ({
  ...thought,
  ...{ content: standIn(by), finish: 'content-filter', toolCalls: [] },
})

/** Calls of the client's own functions are calls; one that is blocked is not handed out. */
async function guardCalls(run: Admitted, thought: Thought, guard: Guard): Promise<Thought> {
  if (!thought.toolCalls.length || !guard.has('tool_call')) return thought
  let stopped: Blocked | null = null
  const toolCalls: Thought['toolCalls'][number][] = []
  for (const call of thought.toolCalls) {
    const given = readJson(call.arguments)
    const { value, blocked } = await guard.tool('tool_call', call.name, given, run.deadline.signal)
    stopped ??= blocked
    if (!blocked) toolCalls.push(value === given ? call : { ...call, arguments: JSON.stringify(value) })
  }
  if (toolCalls.length || !stopped) return { ...thought, toolCalls }
  return withheld(thought, stopped)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What an answer can rest on: what was asked and supplied, remembered, taught, and found by tools. */
const sourcesOf = ({ ask, history, memories, active }: Admitted, { toolUses }: Thought): string[] => [
  ask.prompt,
  ...history.flatMap(({ content }) => (typeof content === 'string' ? [content] : [])),
  ...memories,
  ...(active.prompt ? [active.prompt] : []),
  ...toolUses.map(({ result }) => (typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))),
]
