import { type Call, ownerOf, SCOPES, type TenantCaller } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Tx } from '../kernel/store'
import { badKey } from './errors'

/** How long an answer is kept, and a key remembered (contract 1.7). */
export const KEPT_MS = 24 * 60 * 60_000

const KEY = /^[A-Za-z0-9\-_.:]{1,256}$/

/** Throws 400 `validation_error` for what is not a key; two headers arrive joined by a comma and are none. */
export function assertKey(key: string): void {
  if (!KEY.test(key)) throw badKey(key)
}

/**
 * What makes two requests the same: method, path and every byte of the body, asked for the same owner with
 * the same rights. A kept answer may hold a secret: a weaker key of the user, or one of their team's, must
 * not be handed what it could not have made.
 */
export function fingerprintOf(caller: TenantCaller, method: string, path: string, body: Uint8Array): string {
  const scopes = caller.type === 'key' ? SCOPES.filter((scope) => caller.scopes.includes(scope)) : SCOPES
  return sha256Hex(`${ownerOf(caller)} ${scopes} ${method} ${path} ${sha256Hex(body)}`)
}

/** The bytes of an answer as they are sent: objects repeat the request id (contract 1.4). */
export function written(answer: unknown, requestId: string): string {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return JSON.stringify(answer)
  const { request_id = requestId } = answer as { request_id?: string }
  return JSON.stringify({ ...answer, request_id })
}

/**
 * For the last line of a unit of work: keeps the answer with its effect when the request carries an
 * Idempotency-Key, and hands it on. `answer` is the whole body of the route, before `request_id`;
 * `status` is said where the route has more than one for a success.
 */
export async function kept<T>(tx: Tx, { once }: Pick<Call, 'once'>, answer: T, status?: number): Promise<T> {
  if (once) await once.keep(tx, answer, status)
  return answer
}
