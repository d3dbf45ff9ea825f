import type { AccessWatch } from '../../auth'
import type { ConversationService, MemoryService } from '../../conversations'
import { ConversationId } from '../../conversations/schema'
import type { EngineService } from '../../engines'
import type { GuardrailService } from '../../guardrails'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { invalidInput, said } from '../../kernel/errors'
import type { KeyId } from '../../kernel/ids'
import type { Reader, Store } from '../../kernel/store'
import type { BrandSoul } from '../../keys/schema'
import type { EffectiveRouting } from '../../routing-preferences'
import { type Activation, NO_SKILLS, type SkillService } from '../../skills'
import type { Tools } from '../../tools'
import type { Ask } from '../ask'
import { cacheKeyOf } from '../cache-key'
import { startDeadline } from '../deadline'
import { isStealth } from '../rules'
import type { Deadline, Opened } from '../run'
import { CompletionId } from '../schema'

type Deps = {
  store: Store
  clock: Clock
  brandSoulOf(reader: Reader, keyId: KeyId): Promise<BrandSoul | null>
  conversations: ConversationService
  memory: MemoryService
  engines: EngineService
  tools: Tools
  skills: Pick<SkillService, 'activeFor'>
  routing: Pick<EffectiveRouting, 'of'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  cacheEnabled: boolean
  access: Pick<AccessWatch, 'follow'>
  stopping: AbortSignal
}

const NOTHING: readonly string[] = []
const PLAIN_TIMEOUT_MS = 120_000
const STREAM_TIMEOUT_MS = 600_000

/**
 * Reads what the request builds on (conversation, memories, skills, policies) and starts its deadline. Throws 400 for
 * unknown modes and engines, 404 `not_found` for a foreign conversation.
 */
export function createOpen({ store, clock, cacheEnabled, access, stopping, ...rooms }: Deps) {
  const { conversations, memory, engines, tools, skills, routing, guardrails, brandSoulOf } = rooms

  return async function open(call: Call, ask: Ask, stream: boolean): Promise<Opened> {
    assertEngines(ask, engines)
    if (ask.tools.length) tools.assertInline(ask.tools)
    const attached = typeof ask.conversation === 'object' ? ask.conversation.attach : null
    const stored = attached === null ? null : await conversations.history(ownerOf(call.caller), attached)
    const soul = ask.usesSoul ? await soulOf(call.caller) : null
    const memories = await remembered(call.caller, ask)
    const active = await activeIn(call, ask)
    const guidance = ask.mode === 'auto' ? await routing.of(call.caller) : null
    const found = guardrails.guardOf(call.caller)
    const guard = found instanceof Promise ? await found : found
    const cacheKey =
      cacheEnabled && ask.cache !== 'off'
        ? cacheKeyOf(call, ask, {
            soul,
            memories,
            active,
            engines: engines.fingerprint,
            policy: guard?.fingerprint ?? null,
            routing: guidance?.fingerprint ?? null,
          })
        : null
    return {
      id: CompletionId.create(),
      call,
      ask,
      stream,
      startedAt: clock.monotonic(),
      history: [...(stored?.turns ?? []), ...ask.context],
      attached: stored?.id ?? null,
      conversationId: stored?.id ?? (ask.conversation === 'new' ? ConversationId.create() : null),
      cacheKey,
      soul,
      memories,
      active,
      guidance,
      guard,
      deadline: stream ? startStreamDeadline(call) : startDeadline(clock, [call.signal], PLAIN_TIMEOUT_MS),
    }
  }

  /** A stream also ends with the server and with its caller's access. */
  function startStreamDeadline({ caller, signal }: Call): Deadline {
    const allowed = access.follow(caller)
    const deadline = startDeadline(clock, [signal, stopping, allowed.signal], STREAM_TIMEOUT_MS)
    const end = () => {
      allowed.end()
      deadline.end()
    }
    return { ...deadline, end }
  }

  /** Raw output gets no memories, and stealth modes neither store nor recall (contract 2.1). */
  function remembered(caller: TenantCaller, { prompt, voice, mode, sealed }: Ask) {
    return sealed || voice.persona === 'none' || isStealth(mode) ? NOTHING : memory.recall(caller, prompt)
  }

  function activeIn(call: Call, { active, sealed, skills: slugs, prompt }: Ask): Activation | Promise<Activation> {
    return active ?? (sealed ? NO_SKILLS : skills.activeFor(call, { slugs, prompt }))
  }

  /** The caller says whether the key has a brand soul, so calls without one need no query. */
  async function soulOf(caller: TenantCaller): Promise<BrandSoul | null> {
    return caller.type === 'key' && caller.hasBrandSoul ? brandSoulOf(store.read, caller.keyId) : null
  }
}

function assertEngines({ engine, overrides }: Ask, engines: EngineService): void {
  const assertEngine = (path: string, id: string) => {
    if (!engines.has(id)) {
      throw invalidInput(path, `"${path}" is ${said(id)}, which is not an engine. GET /models lists them.`)
    }
  }
  for (const [mode, id] of Object.entries(overrides)) {
    const path = `model_overrides.${mode.slice(0, 64)}`
    if (!engines.knowsMode(mode))
      throw invalidInput(path, `"${path}" is not a mode of this server. GET /models lists the modes.`)
    assertEngine(path, id)
  }
  if (engine !== null) assertEngine('stealth_model', engine)
}
