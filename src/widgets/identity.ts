import type { Clock } from '../kernel/clock'
import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { storable } from '../kernel/text'
import { badIdentity } from './errors'
import type { IdentityInput, VisitorIdentity } from './schema-sessions'
import type { WidgetRow } from './table'

type Message = Pick<NonNullable<IdentityInput>, 'name' | 'email' | 'external_id' | 'hash'>

/** What one line of the signed text may not have, as it would begin another. */
const MORE_LINES = /[\r\n\u2028\u2029]/

/** The secret that the owner's own server signs with; null before one was made. Derived, so nothing is stored. */
export const identitySecretOf = (masterKey: Uint8Array, { id, identity_version: version }: WidgetRow): string | null =>
  version === 0 ? null : `svc_wi_${hmacHex(masterKey, `widget-identity ${id} ${version}`)}`

/**
 * The signature of who a visitor is: `<until>.<hex>`, where `until` is in Unix seconds and the hex is HMAC-SHA256 over
 * four lines: `until`, external id, e-mail, name; those that are left out are empty. One algorithm, so none is named.
 */
function signIdentity(secret: string, until: number, { external_id = '', email = '', name = '' }: Message): string {
  return `${until}.${hmacHex(new TextEncoder().encode(secret), [until, external_id, email, name].join('\n'))}`
}

/** Who visitors are, as their page says it, or signed by the owner's server (M4, M5). */
export function createIdentities({ clock, masterKey }: { clock: Clock; masterKey: Uint8Array }) {
  /** Null for nobody. Throws 400 for what has line breaks, and 401 for a signature that does not hold. */
  return function read(widget: WidgetRow, message: Message): VisitorIdentity | null {
    for (const name of ['name', 'email', 'external_id'] as const)
      if (MORE_LINES.test(message[name] ?? '')) throw invalidInput(name, `"${name}" has line breaks.`)
    const { name = '', email = '', external_id = '', hash } = message
    const verified = hash !== undefined
    if (verified) assertSigned(widget, { ...message, hash })
    if (!name && !email && !external_id) return null
    const stored = (text: string) => storable(text) || null
    return { name: stored(name), email: stored(email), external_id: stored(external_id), verified }
  }

  function assertSigned(widget: WidgetRow, message: Message & { hash: string }): void {
    const secret = identitySecretOf(masterKey, widget)
    const [, until = ''] = /^([1-9]\d{9})\.[0-9a-f]{64}$/.exec(message.hash) ?? []
    if (!secret) throw badIdentity('this widget has no identity secret')
    if (!until) throw badIdentity('it is not "<unix seconds>.<64 hex digits>"')
    if (!message.external_id && !message.email) throw badIdentity('neither "external_id" nor "email" was sent')
    if (!timingSafeEqual(message.hash, signIdentity(secret, Number(until), message)))
      throw badIdentity('it was made with another secret or from other values')
    if (Number(until) * 1_000 <= clock.now()) throw badIdentity('it has expired')
  }
}

/** Whether two who are both proven are two: then the chat of the one is not the other's. */
export function isAnother(before: VisitorIdentity | null, now: VisitorIdentity | null): boolean {
  if (!before?.verified || !now?.verified) return false
  return before.external_id !== now.external_id || (before.external_id === null && before.email !== now.email)
}
