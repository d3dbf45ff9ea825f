import type { Billing } from '../billing'
import type { EngineService, Message } from '../engines'
import { type GuardrailService, guardrailBlocked } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { Store } from '../kernel/store'
import type { RateLimiter } from '../rate-limits'
import { instructionsFor } from './instructions'

type Deps = {
  store: Store
  limiter: Pick<RateLimiter, 'admitMode' | 'reserveTokens'>
  billing: Pick<Billing, 'assertFunds'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  engines: Pick<EngineService, 'countPrompt'>
}

/** The engine that sorts prompts is one of text. */
const MODE = 'fast'

/** What a refusal names as the place of the texts, and what the engine will be asked about them. */
type About = { place: string; messagesOf(texts: readonly string[]): Message[] }

/**
 * What texts need that an engine is asked about for its own sake, by a preview or a suggestion: it is not billed, so
 * that the limits of the caller bound what it uses, and its caller must be able to pay for answers. Gives the texts as
 * the caller's policy lets them out. Throws 429 `mode_rate_limit_exceeded` and `token_limit_exceeded`, 402
 * `insufficient_credits`, 400 `guardrail_blocked`.
 */
export function createUnbilledAdmission({ store, limiter, billing, guardrails, engines }: Deps) {
  return {
    texts: admit,
    async prompt(call: Call, prompt: string): Promise<string> {
      const messagesOf = ([text]: readonly string[]) => instructionsFor(text!, [])
      return (await admit(call, [prompt], { place: 'prompt', messagesOf }))[0]!
    },
  }

  async function admit(call: Call, texts: readonly string[], { place, messagesOf }: About): Promise<readonly string[]> {
    limiter.admitMode(call.caller, MODE)
    await billing.assertFunds(store.read, call)
    const guarded = await guardedTexts(call, texts, place)
    limiter.reserveTokens(call.caller, engines.countPrompt(messagesOf(guarded)))
    return guarded
  }

  async function guardedTexts({ caller, signal }: Call, texts: readonly string[], place: string) {
    const guard = await guardrails.guardOf(caller)
    if (!guard?.hasRules('input')) return texts
    const { value, blocked } = await guard.checkInput(texts, signal)
    if (blocked) throw guardrailBlocked(blocked.guardrailId, blocked.message, place, blocked.detail)
    return value
  }
}
