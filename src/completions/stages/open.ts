import type { AccessWatch } from '../../accounts'
import type { BrandSoul } from '../../accounts/keys/schema'
import type { BrowserService } from '../../browser'
import { type Deadline, startDeadline } from '../../charging'
import type { EngineService } from '../../engines'
import type { GuardrailService } from '../../guardrails'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { invalidInput, messageOf } from '../../kernel/errors'
import type { KeyId } from '../../kernel/ids'
import type { Reader, Store } from '../../kernel/store'
import type { EffectiveRouting } from '../../routing'
import {
  type Activation,
  type ConversationService,
  type MemoryService,
  NO_SKILLS,
  type SkillService,
} from '../../skills'
import { ConversationId } from '../../skills/conversations/schema'
import type { Tools } from '../../tools'
import { cacheKeyOf } from '../cache'
import { isStealth } from '../rules'
import type { CompletionRequest } from '../run'
import { type Run, UNDECIDED, type Write } from '../run'
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
  browser: Pick<BrowserService, 'toolsFor' | 'toolsOfRun'>
  cacheEnabled: boolean
  access: Pick<AccessWatch, 'follow'>
  stopping: AbortSignal
}

const NOTHING: readonly string[] = []
const NO_SERVERS = { tools: [], warnings: NOTHING, unreachable: 0 }
const PLAIN_TIMEOUT_MS = 120_000
const STREAM_TIMEOUT_MS = 600_000

/**
 * Reads what the request builds on (conversation, memories, skills, policies) and starts its deadline. Throws 400 for
 * unknown modes and engines, 404 `not_found` for a foreign conversation.
 */
export function createOpen({ store, clock, cacheEnabled, access, stopping, ...modules }: Deps) {
  const { browser, conversations, memory, engines, tools, skills, routing, guardrails, brandSoulOf } = modules

  return async function open(call: Call, request: CompletionRequest, write: Write | null): Promise<Run> {
    assertEngines(request, engines)
    if (request.tools.length) tools.assertInline(request.tools)
    if (request.servers) tools.servers.assertServers(request.servers)
    const { caller } = call
    const attached = typeof request.conversation === 'object' ? request.conversation.attach : null
    const stored = attached === null ? null : await conversations.history(ownerOf(caller), attached)
    // The caller says whether the key has a brand soul, so calls without one need no query.
    const hasSoul = request.usesSoul && caller.type === 'key' && caller.hasBrandSoul
    const soul = hasSoul ? await brandSoulOf(store.read, caller.keyId) : null
    const memories = await remembered(caller, request)
    const active = await (request.active ??
      (request.sealed ? NO_SKILLS : skills.activeFor(call, { slugs: request.skills, prompt: request.prompt })))
    const browsing = await browsingIn(call, request, active)
    const guidance = request.mode === 'auto' ? await routing.of(caller) : null
    const found = guardrails.guardOf(caller)
    const guard = found instanceof Promise ? await found : found
    const isCacheable = cacheEnabled && request.cache !== 'off' && !browsing?.end && !request.servers
    const policy = guard?.fingerprint ?? null
    const around = {
      soul,
      memories,
      active,
      engines: engines.fingerprint,
      policy,
      routing: guidance?.fingerprint ?? null,
    }
    return {
      id: CompletionId.create(),
      call,
      request,
      write,
      startedAt: clock.monotonic(),
      deadline: endingWith(
        write ? startStreamDeadline(call) : startDeadline(clock, [call.signal], PLAIN_TIMEOUT_MS),
        browsing?.end,
      ),
      stage: null,
      stageAt: 0,
      history: stored ? [...stored.turns, ...request.context] : request.context,
      attached: stored?.id ?? null,
      conversationId: stored?.id ?? (request.conversation === 'new' ? ConversationId.create() : null),
      cacheKey: isCacheable ? cacheKeyOf(call, request, around) : null,
      soul,
      memories,
      guidance,
      browserTools: browsing?.tools ?? [],
      active,
      served: NO_SERVERS,
      offered: request.functions,
      guard,
      resolvedMode: request.mode,
      isCounted: request.accepted !== undefined,
      engineId: '',
      model: UNDECIDED.model,
      routing: UNDECIDED.routing,
      routingWarnings: NOTHING,
      classifiedMs: null,
      images: [],
      system: null,
      warnings: NOTHING,
      toolset: null,
      promptTokens: 0,
      maxOutputTokens: 0,
      researchRun: null,
      pictureEngineId: '',
      hold: null,
      ticket: null,
      spent: { turns: [], uses: [], said: 0 },
      hasBegun: false,
      said: '',
      held: null,
      later: null,
      drafts: [],
      pictures: [],
      costMicro: 0,
      isCached: false,
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

  /** The browser tools of the session that the request names, or of one that a permitted skill begins (contract 16.4). */
  async function browsingIn(call: Call, request: CompletionRequest, { mayBrowse }: Activation) {
    const stealth = isStealth(request.mode)
    if (request.browserSession) {
      return { tools: await browser.toolsFor(call, request.browserSession, stealth), end: undefined }
    }
    // Strangers who talk to the owner's AI begin none at its cost.
    return mayBrowse && !request.active ? browser.toolsOfRun(call, stealth) : null
  }

  /** Raw output gets no memories, and stealth modes neither store nor recall (contract 2.1). */
  function remembered(caller: TenantCaller, { prompt, voice, mode, sealed }: CompletionRequest) {
    return sealed || voice.persona === 'none' || isStealth(mode) ? NOTHING : memory.recall(caller, prompt)
  }
}

const endingWith = (deadline: Deadline, also: (() => void) | undefined): Deadline =>
  also
    ? {
        ...deadline,
        end() {
          deadline.end()
          also()
        },
      }
    : deadline

function assertEngines({ engine, overrides }: CompletionRequest, engines: EngineService): void {
  const assertEngine = (path: string, id: string) => {
    if (!engines.has(id)) {
      throw invalidInput(path, `"${path}" is ${messageOf(id)}, which is not an engine. GET /models lists them.`)
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
