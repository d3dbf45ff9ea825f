import { jwtVerify, SignJWT } from 'jose'
import type { SettingsService } from '../accounts'
import type { BrandSoul } from '../accounts/keys/schema'
import type { ChargingService } from '../charging'
import type { GuardrailService } from '../guardrails'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { hmacHex } from '../kernel/crypto'
import { defineError, notFound } from '../kernel/errors'
import { defineId, type KeyId } from '../kernel/ids'
import { JsonObject, namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'
import type { Reader, Store } from '../kernel/store'
import { shorten } from '../kernel/text'
import type { ConversationService, SkillService } from '../skills'
import type { Tools } from '../tools'
import type { Toolset } from '../tools/schema'
import type { Agent } from './agent-loop'
import type { ToolAccess } from './agent-schema'
import type { voiceSettings } from './config'
import { assembleSystem } from './decide'

const VoiceSessionId = defineId('voice session', 'voice')

type VoiceSessionId = Static<typeof VoiceSessionId.schema>

export const TokenInput = namedObject('VoiceTokenOrder', {
  voice: t.Optional(
    t.String({ maxLength: 200, description: 'For the live voice server, which reads it from the token' }),
  ),
  conversation_id: t.Optional(nullable(t.String({ maxLength: 200, description: 'Conversation to continue' }))),
  skills: t.Optional(
    t.Array(t.String({ maxLength: 200 }), {
      maxItems: 20,
      description: 'Slugs of skills to use in addition to the installed ones',
    }),
  ),
})

export type TokenInput = Static<typeof TokenInput>

const FunctionDeclaration = t.Object({ name: t.String(), description: t.String(), parameters: JsonObject })

/** The response that lets a client open its live session (docs/api.md 6). */
export const VoiceToken = namedObject('VoiceToken', {
  object: t.Literal('voice_session'),
  token: t.String({
    description: 'svc_voice_ and a JSON Web Token; for the live voice server and for /voice/action',
  }),
  expiresAt: Timestamp,
  url: t.String({ description: 'Address of the live voice server' }),
  systemInstruction: t.String(),
  tools: t.Array(t.Object({ functionDeclarations: t.Array(FunctionDeclaration) })),
  warnings: t.Optional(t.Array(t.String())),
})

export type VoiceToken = Static<typeof VoiceToken>

export const ActionInput = namedObject('VoiceActionOrder', {
  tool: t.String({ minLength: 1, maxLength: 300, description: 'Name of one of the tools of the session' }),
  arguments: t.Optional(JsonObject),
  session_token: t.Optional(t.String({ maxLength: 8_192, description: 'The token of the session' })),
})

export type ActionInput = Static<typeof ActionInput>

export const ActionResult = namedObject('VoiceActionResult', {
  object: t.Literal('voice_action'),
  tool: t.String(),
  status: oneOf(['success', 'error'] as const),
  result: t.Unknown({ description: 'Result of the tool; null after an error' }),
  error: nullable(t.String()),
})

export type ActionResult = Static<typeof ActionResult>

const voiceUnavailable = defineError(
  'voice_unavailable',
  () => 'This server has no live voice. Its operator can set SVC_VOICE_URL to the address of a live voice server.',
)

const invalidToken = defineError(
  'invalid_token',
  () => '"session_token" is not a voice token of this account, or it has expired. Get one with POST /voice/token.',
)

/** The session data in a token. */
type VoiceSession = {
  id: VoiceSessionId
  owner: OwnerScope
  userId: string
  voice: string | null
  conversationId: string | null
  /** Slugs of requested skills, besides the installed ones. */
  skills: readonly string[]
}

const PREFIX = 'svc_voice_'

/** docs/api.md 6. */
const TTL_MS = 30 * 60_000

const RULES = { algorithms: ['HS256'], issuer: 'svc', audience: 'voice' }

type Claims = {
  jti: VoiceSessionId
  sub: string
  voice: string | null
  conversation_id: string | null
  skills: string[]
}

type Deps = {
  store: Store
  clock: Clock
  masterKey: Uint8Array
  settings: Values<typeof voiceSettings>
  preferences: Pick<SettingsService, 'read'>
  charging: Pick<ChargingService, 'run'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  conversations: Pick<ConversationService, 'history'>
  skills: Pick<SkillService, 'activeFor' | 'everyTool'>
  tools: Pick<Tools, 'assemble'>
  agent: Pick<Agent, 'callTool'>
  brandSoulOf(reader: Reader, keyId: KeyId): Promise<BrandSoul | null>
}

export type Voice = ReturnType<typeof createVoice>

const SPOKEN =
  'You speak aloud with the user, live. Use short sentences, no lists, no markup, no addresses. ' +
  'Say what you do while a tool runs, and sum up its result instead of reading it out.'
const MAX_TURNS = 20
const MAX_TURN_CHARS = 1_000

/** Tokens of live voice sessions, and the tools that run with them (docs/api.md 6). */
export function createVoice(deps: Deps) {
  const { store, clock, settings, charging, conversations, skills, tools, agent, guardrails } = deps
  const tokens = createVoiceTokens({ clock, masterKey: deps.masterKey, secret: settings.voiceSecret })
  return { token, act }

  /** Opens a session. Throws 503 `voice_unavailable`, 404 for another owner's conversation, 402. */
  async function token(call: Call, input: TokenInput): Promise<VoiceToken> {
    if (!settings.voiceUrl) throw voiceUnavailable.with({ retryAfterS: 60 })
    const { voice = null, conversation_id = null, skills: slugs = [] } = input
    const id = VoiceSessionId.create()
    const owner = ownerOf(call.caller)
    const messages = conversation_id === null ? [] : (await conversations.history(owner, conversation_id)).turns
    const active = await skills.activeFor(call, { slugs, prompt: '' })
    const toolset = await toolsetOf(call, slugs)
    const session = { id, owner, userId: call.caller.userId, voice, conversationId: conversation_id, skills: slugs }
    const { token, until } = await tokens.sign(session)
    return charging.run(call, {
      ...unpaid(id),
      make: async () => ({ used: {}, files: [], instruction: await instructionOf(call, active.prompt, messages) }),
      answer: ({ made }) => ({
        object: 'voice_session' as const,
        token,
        expiresAt: iso(until),
        url: settings.voiceUrl,
        systemInstruction: made.instruction,
        tools: toolset.definitions.length ? [{ functionDeclarations: [...toolset.definitions] }] : [],
        ...(active.warnings.length ? { warnings: [...active.warnings] } : {}),
      }),
    })
  }

  /** Runs one tool of a session. Throws 404 for an unknown tool, 401 `invalid_token`, 402. */
  async function act(call: Call, { tool, arguments: args = {}, session_token }: ActionInput): Promise<ActionResult> {
    const session = session_token === undefined ? null : await tokens.read(session_token, ownerOf(call.caller))
    const toolset = await toolsetOf(call, session?.skills ?? [])
    if (!toolset.tools.has(tool)) throw notFound('tool')
    const guard = (await guardrails.guardOf(call.caller)) as ToolAccess['guard']
    const context = { call, toolset, guard, conversationId: session?.conversationId ?? null }
    return charging.run(call, {
      ...unpaid(VoiceSessionId.create()),
      make: async ({ signal }) => {
        const outcome = await agent.callTool(context, { name: tool, arguments: JSON.stringify(args) }, signal)
        return { used: {}, files: [], outcome }
      },
      answer: ({ made: { outcome } }) => ({ object: 'voice_action' as const, tool, ...outcome }),
    })
  }

  /** The tools of this server and those of the skills, whose names contain the skill's slug. */
  async function toolsetOf(call: Call, slugs: readonly string[]): Promise<Toolset> {
    const ofSkills = await skills.everyTool(call, slugs)
    const named = ofSkills.map(({ slug, tool }) => ({ ...tool, name: `skill_${slug}_${tool.name}` }))
    return tools.assemble({ inline: [], skills: named, system: true, approved: [], call })
  }

  async function instructionOf(call: Call, ofSkills: string | null, messages: readonly Turn[]): Promise<string> {
    const { caller } = call
    const { svc_branding, personality } = await deps.preferences.read(store.read, caller.userId)
    const hasSoul = caller.type === 'key' && caller.hasBrandSoul
    const system = assembleSystem({
      mode: 'voice',
      persona: personality,
      personality: null,
      style: null,
      branding: svc_branding,
      componentLibrary: 'svc',
      soul: hasSoul ? await deps.brandSoulOf(store.read, caller.keyId) : null,
      memories: [],
      skills: ofSkills,
    })
    return [system, SPOKEN, historyOf(messages)].filter(Boolean).join('\n\n')
  }
}

type Turn = { role: 'user' | 'assistant'; content: string }

function historyOf(turns: readonly Turn[]): string {
  if (!turns.length) return ''
  const lines = turns.slice(-MAX_TURNS).map(({ role, content }) => {
    const words = shorten(content.replace(/\s+/g, ' ').trim(), MAX_TURN_CHARS)
    return `${role === 'user' ? 'User' : 'You'}: ${words}`
  })
  return `The conversation so far:\n${lines.join('\n')}`
}

/** Neither a session nor a tool call costs anything by itself. What a tool makes is charged by its service. */
const unpaid = (id: VoiceSessionId) => ({
  kind: 'voice' as const,
  id,
  mode: 'voice',
  engineId: 'svc-1-voice',
  free: true,
  texts: {},
  max: {},
})

/** Tokens of voice sessions. They are signed, and not stored. */
function createVoiceTokens({ clock, masterKey, secret }: { clock: Clock; masterKey: Uint8Array; secret: string }) {
  const key = new TextEncoder().encode(secret || hmacHex(masterKey, 'voice-token'))
  const date = (at: number) => new Date(at)
  return {
    /** A token that is valid for 30 minutes. */
    async sign({ id, userId, owner, voice, conversationId, skills }: VoiceSession) {
      const until = clock.now() + TTL_MS
      const token = await new SignJWT({ owner, voice, conversation_id: conversationId, skills: [...skills] })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(RULES.issuer)
        .setAudience(RULES.audience)
        .setSubject(userId)
        .setJti(id)
        .setIssuedAt(date(clock.now()))
        .setExpirationTime(date(until))
        .sign(key)
      return { token: PREFIX + token, until }
    },

    /** The session of this owner's token. Throws 401 `invalid_token`. */
    async read(token: string, owner: OwnerScope): Promise<VoiceSession> {
      if (!token.startsWith(PREFIX)) throw invalidToken()
      const options = { ...RULES, currentDate: date(clock.now()) }
      const { payload } = await jwtVerify(token.slice(PREFIX.length), key, options).catch((cause) => {
        throw invalidToken.with({ cause })
      })
      if (payload.owner !== owner) throw invalidToken()
      const { jti, sub, voice, conversation_id, skills } = payload as Claims
      return { id: jti, owner, userId: sub, voice, conversationId: conversation_id, skills }
    },
  }
}
