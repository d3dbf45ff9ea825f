import { type Call, keyIdOf } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { BrandSoul } from '../keys/schema'
import type { Activation } from '../skills'
import type { Ask } from './ask'

/** What shapes an answer besides what was asked. Whatever of it changes, the key changes with it. */
export type Around = {
  soul: BrandSoul | null
  memories: readonly string[]
  active: Activation
  /** Of the routing preference and the guardrail policy in force, and of the engines and tools of this server. */
  bindings: readonly (string | null)[]
}

/** Whose answers may be handed out again: a user's own, or those of one key of an org (contract 22.1). */
export const cacheScopeOf = ({ caller }: Pick<Call, 'caller'>): string =>
  caller.orgId ? `key:${keyIdOf(caller)}` : `user:${caller.userId}`

/**
 * Everything but the prompt that shapes an answer, as one line of text; nothing that does not (metadata,
 * stream and format stay out). Skills stand here by their fingerprint: their text is marked anew in every run.
 */
export function kinOf(call: Pick<Call, 'caller'>, ask: Ask, { soul, memories, active, bindings }: Around): string {
  const { mode, engine, overrides, voice, usesSoul, context, after, attachments, temperature, maxIterations } = ask
  return JSON.stringify([
    ...[cacheScopeOf(call), mode, engine, overrides, voice, usesSoul, soul, memories],
    ...[ask.skills, active.fingerprint, ask.tools, ask.sealed ?? false, maxIterations, temperature ?? null],
    ...[
      context,
      after,
      attachments,
      ask.functions,
      ask.json,
      ask.wantsFollowUps,
      ask.bounds ?? null,
      ask.shape,
      bindings,
    ],
  ])
}

/** The key of an answer. `kin` has no line breaks of its own, so no prompt can pass for a part of it. */
export const cacheKeyOf = (kin: string, prompt: string): string => sha256Hex(`${kin}\n${prompt}`)
