import { defineEvent } from '../../events'
import type { Scope } from '../../kernel/caller'
import type { KeyId, OrgId } from '../../kernel/ids'

/** The public data of a key event (contract 14.2). */
export type KeyFacts = {
  key_id: KeyId
  name: string
  prefix: string
  scopes: Scope[]
  scope: 'personal' | 'org'
  org_id: OrgId | null
}

export const keyCreated = defineEvent<KeyFacts>('key.created')
export const keyRevoked = defineEvent<KeyFacts>('key.revoked')
