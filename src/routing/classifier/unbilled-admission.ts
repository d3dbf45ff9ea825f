import type { Billing } from '../../billing'
import type { EngineService, Message } from '../../engines'
import { type GuardrailService, guardrailBlocked } from '../../guardrails'
import type { Call } from '../../kernel/caller'
import type { Store } from '../../kernel/store'
import type { RateLimiter } from '../../limits'
import { instructionsFor } from './instructions'

type Deps = {
  store: Store
  limiter: Pick<RateLimiter, 'admitMode' | 'reserveTokens'>
  billing: Pick<Billing, 'assertFunds'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  engines: Pick<EngineService, 'countPrompt'>
}

/** The mode whose rate limit these engine calls count towards. */
const MODE = 'fast'

/** `place` is the field that a refusal names; `messagesOf` gives the messages that the engine will get. */
type About = { place: string; messagesOf(texts: readonly string[]): Message[] }

/**
 * Admits texts that an engine gets for a preview or a suggestion. The call is not billed, so the caller's rate limits
 * bound it and the caller must have funds. Returns the texts as the caller's guardrail policy leaves them. Throws
 * 429 `mode_rate_limit_exceeded` and `token_limit_exceeded`, 402 `insufficient_credits`, 400 `guardrail_blocked`.
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
    await limiter.admitMode(call.caller, MODE)
    await billing.assertFunds(store.read, call)
    const guarded = await guardedTexts(call, texts, place)
    await limiter.reserveTokens(call.caller, engines.countPrompt(messagesOf(guarded)))
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
