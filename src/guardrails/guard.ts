import type { OwnerScope } from '../kernel/caller'
import type { AboutText, Phase } from './guardrail'
import { type Blocked, markOf, type Outcome } from './inspection'
import type { Inspection, RuleRunner } from './inspection-runner'
import type { CompiledPolicy } from './policy'
import type { Firing, GuardrailPolicyId } from './schema'
import { newBudget } from './second-look'
import { createHoldAll, createHoldBack, createHoldIfJson, HELD, type HoldBack } from './streaming'

/** What was let through, perhaps with parts redacted, or the rule that blocked it. */
type Checked<T> = { value: T; blocked: null } | { value: null; blocked: Blocked }

/** What is known of an answer besides its words. */
type AboutAnswer = {
  systemPrompt: string | null
  sources: readonly string[]
  /**
   * For an answer that should be JSON: parses it, null when it is none. Its values are checked as well, since escapes
   * may hide anything, and it stays JSON when something is redacted.
   */
  readJson: ((text: string) => object | null) | null
  /** The answer is code, so it may be JSON or not. */
  isCode?: boolean
}

/** Whether a text is what the user asks for, or goes along with it: a persona, an earlier answer, a memory. */
type SentAs = 'request' | 'accompanying'

/** The checks of one run under its policy, and the record of what fired. */
export type Guard = {
  readonly policyId: GuardrailPolicyId
  readonly fingerprint: string
  /** Every rule that fired so far, in order; of a run with many tools the first hundred. */
  readonly firings: readonly Firing[]
  hasRules(phase: Phase): boolean
  /** Texts that the caller sends: all of them, or the first that is blocked, with its place in `texts`. */
  checkInput(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<Checked<string[]> & { place: number }>
  /**
   * Tool definitions that come with a request; gives what is left of `prose`. A rule that would redact a part of
   * `fixed` blocks instead, since a name or a value means itself. Clients send them again with every turn, so
   * clean ones are remembered and no engine is asked.
   */
  checkToolDefinitions(
    words: { prose: readonly string[]; fixed: readonly string[] },
    signal: AbortSignal,
  ): Promise<Checked<string[]>>
  /** Texts that were let in before, perhaps under another policy: a mark takes the place of one that is blocked now. */
  redactEarlier(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<string[]>
  /** A complete answer. */
  checkAnswer(text: string, about: AboutAnswer, signal: AbortSignal): Promise<Checked<string>>
  /** For an answer that is streamed; null when no rule can hold it back. */
  holdBack(about: AboutAnswer, signal: AbortSignal): HoldBack | null
  /** Records the rule that stopped a streamed answer. */
  recordBlocked(by: Blocked): void
  /**
   * Arguments of a tool call before it runs, or a tool's result before an engine reads it. The `name` in the answer is
   * what may be shown of the tool's name, which the engine writes and may put anything into.
   */
  checkToolData(
    phase: 'tool_call' | 'tool_result',
    name: string,
    value: unknown,
    signal: AbortSignal,
  ): Promise<Checked<unknown> & { name: string }>
}

const MAX_FIRINGS = 100

/** The guard of one run; the guards of all runs share `runner`. */
export function createGuard(policy: CompiledPolicy, runner: RuleRunner, who: OwnerScope): Guard {
  const firings: Firing[] = []
  const budget = newBudget()
  const record = (found: readonly Firing[], where = '') => {
    const room = MAX_FIRINGS - firings.length
    firings.push(...found.slice(0, room).map((one) => (where ? { ...one, detail: `${where}: ${one.detail}` } : one)))
  }
  const inputOf = (as: SentAs, signal: AbortSignal) => ({
    set: as === 'accompanying' ? policy.accompanying : policy.of('input'),
    about: { phase: 'input' as const },
    who,
    signal,
  })
  return {
    policyId: policy.id,
    fingerprint: policy.fingerprint,
    firings,
    hasRules: (phase) => policy.of(phase).rules.length > 0,

    async checkInput(texts, signal, as = 'request') {
      const outcomes = await runner.texts({ ...inputOf(as, signal), budget }, texts)
      const place = outcomes.findIndex(({ blocked }) => blocked)
      for (const { firings: found } of place < 0 ? outcomes : outcomes.slice(0, place + 1)) record(found)
      const left = outcomes.map(({ text }) => text)
      return { place, ...checked(left, outcomes[place]?.blocked ?? null) }
    },

    async checkToolDefinitions({ prose, fixed }, signal) {
      const outcomes = await runner.recurringTexts(inputOf('accompanying', signal), [...prose, ...fixed])
      for (const { firings: found } of outcomes) record(found, 'tools')
      const spoilt = outcomes.slice(prose.length).find(({ text }, place) => text !== fixed[place])
      const blocked = outcomes.find((one) => one.blocked)?.blocked ?? (spoilt && blockedByRedaction(spoilt.firings))
      const left = outcomes.slice(0, prose.length).map(({ text }) => text)
      return checked(left, blocked ?? null)
    },

    async redactEarlier(texts, signal, as = 'request') {
      const outcomes = await runner.recurringTexts(inputOf(as, signal), texts)
      return outcomes.map(({ text, firings: found, blocked }) => {
        record(
          found.filter(({ verdict }) => verdict !== 'flag'),
          as === 'request' ? 'an earlier turn' : 'from before',
        )
        return blocked ? markOf(blocked.guardrailId) : text
      })
    },

    async checkAnswer(text, about, signal) {
      const inspection = { about: aboutOutput(about), who, signal }
      const value = about.readJson?.(text) ?? null
      const inside = value && (await runner.value({ ...inspection, set: policy.inJson }, value))
      if (inside) record(inside.firings)
      if (inside?.blocked) return checked(text, inside.blocked)
      const left = !inside || inside.value === value ? text : JSON.stringify(inside.value)
      const [outcome] = await runner.texts({ ...inspection, set: policy.of('output'), budget }, [left])
      record(
        outcome!.firings.filter(
          (one) =>
            !inside?.firings.some((known) => one.guardrail_id === known.guardrail_id && one.verdict === known.verdict),
        ),
      )
      return checked(outcome!.text, outcome!.blocked)
    },

    holdBack(about, signal) {
      const { stretch, whole } = policy.streamed
      if (!stretch.rules.length && !whole.rules.length) return null
      if (about.readJson && !about.isCode) return createHoldAll()
      const inspect = (set: typeof stretch) =>
        createStreamInspector(runner, { set, about: aboutOutput(about), who, signal })
      const held = createHoldBack({ stretch: inspect(stretch), whole: whole.rules.length ? inspect(whole) : null })
      return about.readJson ? createHoldIfJson(held) : held
    },

    recordBlocked: ({ guardrailId, detail }) =>
      record([{ guardrail_id: guardrailId, phase: 'output', verdict: 'block', detail }]),

    async checkToolData(phase, name, value, signal) {
      const inspection = { set: policy.of(phase), who, signal }
      const outcome = await runner.value({ ...inspection, about: { phase, tool: { name } }, budget }, value)
      // The name is run by itself, so that it is only marked for what is in it and not for the data.
      const named = outcome.firings.length ? await runner.value({ ...inspection, about: { phase } }, name) : null
      record(outcome.firings, named?.firings.length ? 'a tool that is named by what was found' : name)
      const shown = named?.blocked ? markOf(named.blocked.guardrailId) : String(named?.value ?? name)
      return { ...checked(outcome.value, outcome.blocked), name: shown }
    },
  }
}

const checked = <T>(value: T, blocked: Blocked | null): Checked<T> =>
  blocked ? { value: null, blocked } : { value, blocked: null }

/** For a rule that would redact what must stay as it is. */
function blockedByRedaction(firings: readonly Firing[]): Blocked | null {
  const by = firings.find(({ verdict }) => verdict === 'redact')
  const where = 'in a name or a value, out of which nothing can be taken'
  return by ? { guardrailId: by.guardrail_id, detail: `${by.detail}, ${where}`, message: null } : null
}

const aboutOutput = ({ systemPrompt, sources }: AboutAnswer): AboutText => ({
  phase: 'output',
  sources,
  ...(systemPrompt === null ? {} : { systemPrompt }),
})

/**
 * Runs rules over the stretches of a streamed answer. An engine is asked about a doubted passage before that passage
 * is shown, but only about the first few of a stream, since its reader waits for each. The rest is asked about when
 * the answer has ended and is read as a whole.
 */
function createStreamInspector(runner: Pick<RuleRunner, 'texts' | 'secondLook'>, inspection: Inspection) {
  const budget = newBudget()
  /** Stretches overlap, so a passage may be doubted again. */
  const requestedAbout = new Set<string>()

  return async (text: string): Promise<Outcome> => {
    const outcome = (await runner.texts(inspection, [text]))[0]!
    const doubts = outcome.doubts.filter(({ index, start, end }) => {
      // What is still held back is read again, together with what follows it.
      if (start >= text.length - HELD) return false
      const passage = `${index} ${outcome.text.slice(start, end)}`
      return !requestedAbout.has(passage) && requestedAbout.add(passage)
    })
    return doubts.length ? runner.secondLook({ ...inspection, budget }, { ...outcome, doubts }) : outcome
  }
}
