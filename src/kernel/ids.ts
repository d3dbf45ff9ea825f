import { randomUUID } from 'node:crypto'
import { randomBase62 } from './crypto'
import { t } from './schema'

declare const kind: unique symbol
/** A branded string: the type checker rejects a JobId where a KeyId is expected. */
export type Id<Name extends string> = string & { readonly [kind]: Name }

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'

/**
 * Declares a kind of id. Without a prefix an id is a UUID (122 random bits). With one it is `<prefix>_` and 24 base62
 * characters (142 random bits). A prefix that ends in `-` gets no `_`. docs/api.md 1.4 lists the prefixes.
 */
export function defineId<Name extends string>(name: Name, prefix?: string) {
  const head = prefix?.endsWith('-') ? prefix : `${prefix}_`
  const pattern = prefix ? `^${head}[0-9A-Za-z]{24}$` : UUID
  const shape = new RegExp(pattern)
  return {
    create: () => (prefix ? `${head}${randomBase62(24)}` : randomUUID()) as Id<Name>,
    is: (value: string): value is Id<Name> => shape.test(value),
    schema: t.Unsafe<Id<Name>>(
      prefix
        ? { type: 'string', pattern, description: `${name} id` }
        : { type: 'string', format: 'uuid', description: `${name} id` },
    ),
  }
}

export const UserId = defineId('user')
export type UserId = Id<'user'>
export const OrgId = defineId('org')
export type OrgId = Id<'org'>
export const KeyId = defineId('key')
export type KeyId = Id<'key'>
export const SessionId = defineId('session')
export type SessionId = Id<'session'>

export const newRequestId = (prefix = 'req'): string => `${prefix}_${randomBase62(24)}`

/** Eight characters that sort by time in milliseconds. An id that begins with them goes to the end of its indexes. */
export const timePart = (now: number): string => now.toString(36).padStart(8, '0').slice(-8)
