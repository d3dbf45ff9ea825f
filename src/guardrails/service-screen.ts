import { ownerOf } from '../kernel/caller'
import { guardrailBlocked } from './errors'
import type { RuleRunner } from './inspection-runner'
import type { PolicyLookup, UnderPolicy } from './policy-lookup'

/** A prompt as a policy lets it in. */
export type Screened = {
  /** Without what redacting rules found. */
  text: string
  /** What a call with this prompt is refused with; null when it is let in. */
  refusal: Error | null
}

/**
 * What the input rules in force for someone make of a prompt, for trying it out. Nothing is recorded and no engine is
 * asked about what the rules are unsure of.
 */
export const createScreen =
  ({ lookup, runner }: { lookup: PolicyLookup; runner: RuleRunner }) =>
  async (ownerFilter: UnderPolicy, prompt: string, signal: AbortSignal): Promise<Screened> => {
    const set = (await lookup.policyOf(ownerFilter))?.of('input')
    if (!set?.rules.length) return { text: prompt, refusal: null }
    const [outcome] = await runner.texts({ set, about: { phase: 'input' }, who: ownerOf(ownerFilter), signal }, [
      prompt,
    ])
    const { text, blocked } = outcome!
    if (!blocked) return { text, refusal: null }
    return { text: prompt, refusal: guardrailBlocked(blocked.guardrailId, blocked.message, 'prompt', blocked.detail) }
  }
