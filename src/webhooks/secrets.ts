import { open, seal } from '../kernel/crypto'
import type { WebhookId } from './schema'
import type { WebhookRow } from './table'

/** What a secret is bound to. */
export const contextOf = (id: WebhookId): string => `webhook ${id}`

/** Signing secrets, encrypted at rest and bound to their webhook (contract 14.1). */
export function createSecrets(masterKey: Uint8Array) {
  return {
    seal: (id: WebhookId, secret: string): string => seal(masterKey, contextOf(id), secret),

    /** The secret that signs, and during a rotation with grace the one before it. */
    of(
      { id, secret, previous_secret, previous_until }: WebhookRow,
      now: number,
    ): { secret: string; previous?: string } {
      const isGrace = previous_secret !== null && previous_until !== null && previous_until > now
      return {
        secret: open(masterKey, contextOf(id), secret),
        ...(isGrace ? { previous: open(masterKey, contextOf(id), previous_secret) } : {}),
      }
    },
  }
}

export type Secrets = ReturnType<typeof createSecrets>
