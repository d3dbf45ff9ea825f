import type { Billing } from '../billing'
import type { EngineService } from '../engines'
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

/**
 * What a prompt needs that an engine is asked about for its own sake, by a preview: it is not billed, so that the
 * limits of the caller bound what it uses, and its caller must be able to pay for answers. Gives the prompt as the
 * caller's policy lets it out. Throws 429 `mode_rate_limit_exceeded` and `token_limit_exceeded`, 402
 * `insufficient_credits`, 400 `guardrail_blocked`.
 */
export const createAdmission =
  ({ store, limiter, billing, guardrails, engines }: Deps) =>
  async (call: Call, prompt: string): Promise<string> => {
    limiter.admitMode(call.caller, MODE)
    await billing.assertFunds(store.read, call)
    const guarded = await guardedPrompt(call, prompt)
    limiter.reserveTokens(call.caller, engines.countPrompt(instructionsFor(guarded, [])))
    return guarded

    async function guardedPrompt({ caller, signal }: Call, text: string): Promise<string> {
      const guard = await guardrails.guardOf(caller)
      if (!guard?.has('input')) return text
      const { value, blocked } = await guard.input([text], signal)
      if (blocked) throw guardrailBlocked(blocked.guardrailId, blocked.message, 'prompt', blocked.detail)
      return value[0]!
    }
  }
