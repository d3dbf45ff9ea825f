import type { OwnerScope } from '../kernel/caller'
import type { AboutText, Phase } from './guardrail'
import { type Blocked, markOf, type Outcome } from './inspection'
import type { Inspection, RuleRunner } from './inspection-runner'
import type { CompiledPolicy } from './policy'
import type { Firing, GuardrailPolicyId } from './schema'
import { newBudget } from './second-opinion'
import { createHoldAll, createHoldBack, createHoldIfJson, HELD, type HoldBack } from './streaming'

/** An admitted value, perhaps with parts redacted, or the rule that blocked it. */
type Checked<T> = { value: T; blocked: null } | { value: null; blocked: Blocked }

/** What the guard knows about an answer besides its text. */
type AboutAnswer = {
  systemPrompt: string | null
  sources: readonly string[]
  /**
   * Set for an answer that should be JSON. Parses the answer, or returns null if it is not JSON. The parsed values are
   * checked as well, because escapes can hide anything. The answer stays valid JSON when something is redacted.
   */
  readJson: ((text: string) => object | null) | null
  /** The answer is code, which may be JSON. */
  isCode?: boolean
}

/** Whether a text is the user's request, or context sent with it: a persona, an earlier answer, a memory. */
type SentAs = 'request' | 'accompanying'

/** The checks of one run under its policy, and the rules that fired. */
export type Guard = {
  readonly policyId: GuardrailPolicyId
  readonly fingerprint: string
  /** Every rule that fired so far, in order, at most the first hundred. */
  readonly firings: readonly Firing[]
  hasRules(phase: Phase): boolean
  /** Checks texts that the caller sends. Returns all of them, or the first blocked one with its index in `texts`. */
  checkInput(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<Checked<string[]> & { place: number }>
  /**
   * Checks the tool definitions of a request and returns the redacted `prose`. A rule that would redact a part of
   * `fixed` blocks instead, because names and values must not change. Clients resend definitions with every turn, so
   * clean ones are cached and no engine is asked.
   */
  checkToolDefinitions(
    words: { prose: readonly string[]; fixed: readonly string[] },
    signal: AbortSignal,
  ): Promise<Checked<string[]>>
  /** Checks texts that were admitted before, perhaps under another policy. A mark replaces a text blocked now. */
  redactEarlier(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<string[]>
  /** Checks a complete answer. */
  checkAnswer(text: string, about: AboutAnswer, signal: AbortSignal): Promise<Checked<string>>
  /** For a streamed answer. Null when no rule can hold it back. */
  holdBack(about: AboutAnswer, signal: AbortSignal): HoldBack | null
  /** Records the rule that stopped a streamed answer. */
  recordBlocked(by: Blocked): void
  /**
   * Checks the arguments of a tool call before it runs, or a tool's result before an engine reads it. The returned
   * `name` is the displayable part of the tool's name, because the engine writes the name and may put anything into it.
   */
  checkToolData(
    phase: 'tool_call' | 'tool_result',
    name: string,
    value: unknown,
    signal: AbortSignal,
  ): Promise<Checked<unknown> & { name: string }>
}

const MAX_FIRINGS = 100

/** What the event of a call says of the rules that fired, and by which policy; nothing where none did. */
export const firedBy = (
  guard: Pick<Guard, 'policyId'> | null | undefined,
  firings: readonly Firing[],
): { guardrails?: Firing[]; guardrail_policy_id?: string } =>
  firings.length ? { guardrails: [...firings], ...(guard && { guardrail_policy_id: guard.policyId }) } : {}

/** Creates the guard of one run. The guards of all runs share `runner`. */
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
      // Checks the name separately, so that it is only marked for its own content and not for the data.
      const named = outcome.firings.length ? await runner.value({ ...inspection, about: { phase } }, name) : null
      record(outcome.firings, named?.firings.length ? 'a tool that is named by what was found' : name)
      const shown = named?.blocked ? markOf(named.blocked.guardrailId) : String(named?.value ?? name)
      return { ...checked(outcome.value, outcome.blocked), name: shown }
    },
  }
}

const checked = <T>(value: T, blocked: Blocked | null): Checked<T> =>
  blocked ? { value: null, blocked } : { value, blocked: null }

/** The block for a rule that would redact text that must not change. */
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
 * Runs rules over the stretches of a streamed answer. An engine is asked about a doubtful passage before that passage
 * is shown, but only for the first few of a stream, because the reader waits each time. The remaining passages are
 * checked when the complete answer is read at the end.
 */
function createStreamInspector(runner: Pick<RuleRunner, 'texts' | 'secondLook'>, inspection: Inspection) {
  const budget = newBudget()
  /** Passages that were already asked about. Stretches overlap, so a passage may raise a doubt again. */
  const requestedAbout = new Set<string>()

  return async (text: string): Promise<Outcome> => {
    const outcome = (await runner.texts(inspection, [text]))[0]!
    const doubts = outcome.doubts.filter(({ index, start, end }) => {
      // The held-back part is read again together with the text that follows.
      if (start >= text.length - HELD) return false
      const passage = `${index} ${outcome.text.slice(start, end)}`
      return !requestedAbout.has(passage) && requestedAbout.add(passage)
    })
    return doubts.length ? runner.secondLook({ ...inspection, budget }, { ...outcome, doubts }) : outcome
  }
}
