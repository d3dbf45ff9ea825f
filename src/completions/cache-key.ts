import { type Call, keyIdOf } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { BrandSoul } from '../keys/schema'
import type { Activation } from '../skills'
import type { Ask } from './ask'

/** What shapes an answer besides the request. Whatever of it changes, the cache key changes with it. */
export type Around = {
  soul: BrandSoul | null
  memories: readonly string[]
  active: Activation
  /** Fingerprint of the engines of this server. */
  engines: string
  /** Fingerprint of the guardrail policy in force; null without one. */
  policy: string | null
  /** Fingerprint of what the caller has said about modes; null where the mode was chosen. */
  routing: string | null
}

/** Whose answers may be handed out again: a user's own, or those of one key of an org (contract 22.1). */
export const cacheScopeOf = ({ caller }: Pick<Call, 'caller'>): string =>
  caller.orgId ? `key:${keyIdOf(caller)}` : `user:${caller.userId}`

/**
 * Everything but the prompt that shapes an answer, each with what contract 22.1 says of it. What is not given is
 * undefined, which is not written at all: most requests bring little, and all of it is hashed.
 */
const shapeOf = ({ caller }: Pick<Call, 'caller'>, ask: Ask, around: Around) => ({
  scope: cacheScopeOf({ caller }), // "per user; per key for org keys"
  bindings: (caller.type === 'key' && caller.bindings) || undefined, // "key bindings and their revision"
  policy: around.policy ?? undefined, // the policy in force, bound or by default, and its rules
  routing: around.routing || undefined, // the same of the routing preference
  engines: around.engines, // a hit is what this server would say now
  mode: ask.mode, // "mode"
  engine: ask.engine ?? undefined, // the engine named instead of a mode's own
  overrides: ask.overrides, // "model_overrides"
  voice: ask.voice, // "persona, personality_config, response_style, branding flags, component_library"
  soulless: !ask.usesSoul || undefined, // "branding flags": brand_soul
  soul: around.soul ?? undefined, // "brand soul"
  memories: given(around.memories), // what is remembered of the caller and told to the engine
  skills: given(ask.skills), // "skill slugs"
  active: around.active.fingerprint ?? undefined, // "installed-skill set"; its text is marked anew in every run
  tools: given(ask.tools), // "inline tools"
  sealed: ask.sealed, // whether this server's own tools are kept out
  turns: ask.maxIterations, // "max_iterations"
  temperature: ask.temperature, // "temperature"
  context: given(ask.context), // "inline conversation"
  after: given(ask.after), // what was said after the prompt
  attachments: given(ask.attachments), // "attachments"
  functions: ask.functions ?? undefined, // the client's own tools
  json: ask.json || undefined, // the form that is asked for
  followUps: ask.wantsFollowUps, // whether follow-ups are part of it
  bounds: ask.bounds, // where it would be cut short
  shape: ask.shape, // "image_*", and the tools that `metadata` approves of
})

const given = <T>(list: readonly T[]): readonly T[] | undefined => (list.length ? list : undefined)

/**
 * The cache key without the prompt, as one line of JSON: equal for requests that differ in nothing else. Metadata, stream
 * and format are no part of it (contract 22.1).
 */
export const promptlessKeyOf = (call: Pick<Call, 'caller'>, ask: Ask, around: Around): string =>
  JSON.stringify(shapeOf(call, ask, around))

/** The cache key of an answer. JSON on one line has no line breaks, so no prompt can pass for a part of it. */
export const cacheKeyOf = (promptlessKey: string, prompt: string): string => sha256Hex(`${promptlessKey}\n${prompt}`)
