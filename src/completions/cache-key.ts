import type { BrandSoul } from '../accounts/keys/schema'
import { type Call, keyIdOf } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Activation } from '../skills'
import type { CompletionRequest } from './request'

/** State besides the request that shapes an answer; any change of it changes the cache key. */
export type Around = {
  soul: BrandSoul | null
  memories: readonly string[]
  active: Activation
  /** Fingerprint of the engines of this server. */
  engines: string
  /** Fingerprint of the guardrail policy in force; null without one. */
  policy: string | null
  /** Fingerprint of the caller's routing preferences; null unless the mode is `auto`. */
  routing: string | null
}

/** Who shares cached answers: all keys of one user, or one key of an org (contract 22.1). */
export const cacheScopeOf = ({ caller }: Pick<Call, 'caller'>): string =>
  caller.orgId ? `key:${keyIdOf(caller)}` : `user:${caller.userId}`

/**
 * Everything but the prompt that shapes an answer, each with its name in contract 22.1. Absent inputs are undefined,
 * which JSON leaves out: most requests bring few of them, so the text to hash stays short.
 */
const shapeOf = ({ caller }: Pick<Call, 'caller'>, request: CompletionRequest, around: Around) => ({
  scope: cacheScopeOf({ caller }), // "per user; per key for org keys"
  bindings: (caller.type === 'key' && caller.bindings) || undefined, // "key bindings and their revision"
  policy: around.policy ?? undefined, // the guardrail policy in force, bound or by default, and its rules
  routing: around.routing || undefined, // the routing preferences in force and their rules
  engines: around.engines, // the connected engines: a hit is an answer this server could give now
  mode: request.mode, // "mode"
  engine: request.engine ?? undefined, // the engine named instead of a mode's own
  overrides: request.overrides, // "model_overrides"
  voice: request.voice, // "persona, personality_config, response_style, branding flags, component_library"
  soulless: !request.usesSoul || undefined, // "branding flags": brand_soul
  soul: around.soul ?? undefined, // "brand soul"
  memories: given(around.memories), // what is remembered of the caller and told to the engine
  skills: given(request.skills), // "skill slugs"
  active: around.active.fingerprint ?? undefined, // "installed-skill set"; not its text, whose markers differ every run
  tools: given(request.tools), // "inline tools"
  sealed: request.sealed, // whether this server's tools, memories and installed skills are left out
  visitors: request.forVisitors, // whether the built-in engine leaves out how to set up this server
  turns: request.maxIterations, // "max_iterations"
  temperature: request.temperature, // "temperature"
  context: given(request.context), // "inline conversation"
  after: given(request.after), // turns after the prompt
  attachments: given(request.images), // "attachments"
  functions: request.functions ?? undefined, // the client's own tools
  json: request.json || undefined, // the JSON form that is asked for
  followUps: request.wantsFollowUps, // whether follow-ups are part of it
  bounds: request.bounds, // limits on cost and tool calls, which may cut the answer short
  shape: request.shape, // "image_*", and the tools that `metadata` approves of
})

const given = <T>(list: readonly T[]): readonly T[] | undefined => (list.length ? list : undefined)

/**
 * The cache key of an answer. The shape is one line of JSON, so no prompt can imitate a part of it. Metadata, stream and
 * format are not part of it (contract 22.1).
 */
export const cacheKeyOf = (call: Pick<Call, 'caller'>, request: CompletionRequest, around: Around): string =>
  sha256Hex(`${JSON.stringify(shapeOf(call, request, around))}\n${request.prompt}`)
