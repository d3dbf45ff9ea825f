import type { OwnerScope } from '../kernel/caller'
import type { Inspected, Phase } from './guardrail'
import { createHoldAll, createHoldBack, createHoldIfJson, type HoldBack } from './hold-back'
import type { Blocked } from './judge'
import type { Judge } from './judges'
import type { Policy } from './policy'
import { markOf } from './redaction'
import { MOST_LOOKS } from './review'
import type { Firing, GuardrailPolicyId } from './schema'
import { createStreamJudge } from './stream-judge'

/** A text that was let through, perhaps with parts taken out, or the rule that does not let it. */
export type Passage<T> = { value: T; blocked: null } | { value: null; blocked: Blocked }

/** What is known of an answer besides its words. */
export type AboutAnswer = {
  systemPrompt: string | null
  sources: readonly string[]
  /**
   * For an answer that is meant to be JSON: reads it, null when it is none. What stands in it is looked at as well,
   * for its escapes may hide anything, and it stays JSON when something is taken out.
   */
  readJson: ((text: string) => object | null) | null
  /** It is code, which is JSON or is not. */
  isCode?: boolean
}

/** Whether a text is what somebody asks, or goes along with that: a persona, an answer of before, a memory. */
export type SentAs = 'request' | 'brought'

/** What a run may ask of the policy it is under, and what came of it. */
export type Guard = {
  readonly policyId: GuardrailPolicyId
  readonly fingerprint: string
  /** Every rule that fired so far, in order; a run of many tools keeps the first hundred. */
  readonly firings: readonly Firing[]
  has(phase: Phase): boolean
  /** What the caller sends: all texts, or the first that is held back and its place. */
  input(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<Passage<string[]> & { place: number }>
  /**
   * What explains and what names the tools that come with a request. Both come again with every turn: clean ones are
   * known, and no engine is asked. What a rule would take out of a name or a value is held back instead: it would be
   * another name.
   */
  tools(words: { prose: readonly string[]; fixed: readonly string[] }, signal: AbortSignal): Promise<Passage<string[]>>
  /** What was let in before, perhaps under another policy, or was an answer: what is held back now is marked. */
  earlier(texts: readonly string[], signal: AbortSignal, as?: SentAs): Promise<string[]>
  /** The answer as a whole. */
  output(text: string, about: AboutAnswer, signal: AbortSignal): Promise<Passage<string>>
  /** An answer on its way out; null where no rule can hold it back. */
  holdBack(about: AboutAnswer, signal: AbortSignal): HoldBack | null
  /** Notes the rule that stopped an answer on its way out. */
  stopped(by: Blocked): void
  /**
   * Arguments of a call before it runs, and what a tool gave before an engine reads it. `name` is what may be shown
   * of the tool's: an engine writes what it likes there.
   */
  tool(
    phase: 'tool_call' | 'tool_result',
    name: string,
    value: unknown,
    signal: AbortSignal,
  ): Promise<Passage<unknown> & { name: string }>
}

const MOST_FIRINGS = 100

/** The policy of one run, and what fired in it. */
export function createGuard(policy: Policy, judge: Judge, who: OwnerScope): Guard {
  const firings: Firing[] = []
  const looks = { left: MOST_LOOKS }
  const note = (found: readonly Firing[], where = '') => {
    const room = MOST_FIRINGS - firings.length
    firings.push(...found.slice(0, room).map((one) => (where ? { ...one, detail: `${where}: ${one.detail}` } : one)))
  }
  const inputAsked = (as: SentAs, signal: AbortSignal) => ({
    ...{ set: as === 'brought' ? policy.brought : policy.of('input'), about: { phase: 'input' as const }, who, signal },
  })
  return {
    ...{ policyId: policy.id, fingerprint: policy.fingerprint, firings },
    has: (phase) => policy.of(phase).rules.length > 0,

    async input(texts, signal, as = 'request') {
      const judged = await judge.texts({ ...inputAsked(as, signal), looks }, texts)
      const place = judged.findIndex(({ blocked }) => blocked)
      for (const { firings: found } of place < 0 ? judged : judged.slice(0, place + 1)) note(found)
      const left = judged.map(({ text }) => text)
      return { place, ...passage(left, judged[place]?.blocked ?? null) }
    },

    async tools({ prose, fixed }, signal) {
      const judged = await judge.again(inputAsked('brought', signal), [...prose, ...fixed])
      for (const { firings: found } of judged) note(found, 'tools')
      const spoilt = judged.slice(prose.length).find(({ text }, place) => text !== fixed[place])
      const blocked = judged.find((one) => one.blocked)?.blocked ?? (spoilt && blockedByRedaction(spoilt.firings))
      return passage(
        judged.slice(0, prose.length).map(({ text }) => text),
        blocked ?? null,
      )
    },

    async earlier(texts, signal, as = 'request') {
      const judged = await judge.again(inputAsked(as, signal), texts)
      return judged.map(({ text, firings: found, blocked }) => {
        note(
          found.filter(({ verdict }) => verdict !== 'flag'),
          as === 'request' ? 'an earlier turn' : 'from before',
        )
        return blocked ? markOf(blocked.guardrailId) : text
      })
    },

    async output(text, about, signal) {
      const asked = { about: aboutOutput(about), who, signal }
      const value = about.readJson?.(text) ?? null
      const inside = value && (await judge.value({ ...asked, set: policy.inJson }, value))
      if (inside) note(inside.firings)
      if (inside?.blocked) return passage(text, inside.blocked)
      const left = !inside || inside.value === value ? text : JSON.stringify(inside.value)
      const [judged] = await judge.texts({ ...asked, set: policy.of('output'), looks }, [left])
      note(judged!.firings.filter((one) => !inside?.firings.some((known) => isSameRule(one, known))))
      return passage(judged!.text, judged!.blocked)
    },

    holdBack(about, signal) {
      const { stretch, whole } = policy.streamed
      if (!stretch.rules.length && !whole.rules.length) return null
      if (about.readJson && !about.isCode) return createHoldAll()
      const by = (set: typeof stretch) => createStreamJudge(judge, { set, about: aboutOutput(about), who, signal })
      const held = createHoldBack({ stretch: by(stretch), whole: whole.rules.length ? by(whole) : null })
      return about.readJson ? createHoldIfJson(held) : held
    },

    stopped: ({ guardrailId, detail }) =>
      note([{ guardrail_id: guardrailId, phase: 'output', verdict: 'block', detail }]),

    async tool(phase, name, value, signal) {
      const asked = { set: policy.of(phase), who, signal }
      const judged = await judge.value({ ...asked, about: { phase, tool: { name } }, looks }, value)
      // By itself, so that what a rule has against the call is not held against its name.
      const named = judged.firings.length ? await judge.value({ ...asked, about: { phase } }, name) : null
      note(judged.firings, named?.firings.length ? 'a tool that is named by what was found' : name)
      const shown = named?.blocked ? markOf(named.blocked.guardrailId) : String(named?.value ?? name)
      return { ...passage(judged.value, judged.blocked), name: shown }
    },
  }
}

const passage = <T>(value: T, blocked: Blocked | null): Passage<T> =>
  blocked ? { value: null, blocked } : { value, blocked: null }

/** A rule that takes something out of what must stay as it is. */
function blockedByRedaction(firings: readonly Firing[]): Blocked | null {
  const by = firings.find(({ verdict }) => verdict === 'redact')
  const where = 'in a name or a value, out of which nothing can be taken'
  return by ? { guardrailId: by.guardrail_id, detail: `${by.detail}, ${where}`, message: null } : null
}

const isSameRule = (one: Firing, other: Firing): boolean =>
  one.guardrail_id === other.guardrail_id && one.verdict === other.verdict

const aboutOutput = ({ systemPrompt, sources }: AboutAnswer): Inspected => ({
  ...{ phase: 'output', sources },
  ...(systemPrompt === null ? {} : { systemPrompt }),
})
