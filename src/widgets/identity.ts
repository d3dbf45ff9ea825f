import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { storable } from '../kernel/text'
import type { Deps } from './deps'
import { isClosed, isOthers, widgetErrors } from './errors'
import { sessionRepository as rows } from './repository'
import type { Identified, IdentityInput, VisitContext, VisitorIdentity } from './schema-sessions'
import type { WidgetRow } from './table'
import { markChat, publishChat } from './transcript'
import { enterChat, type VisitorRequest } from './visitor-auth'

type Message = Pick<NonNullable<IdentityInput>, 'name' | 'email' | 'external_id' | 'hash'>

/** Line breaks, which a line of the signed text may not contain. */
const MORE_LINES = /[\r\n\u2028\u2029]/

/** The secret with which the owner's own server signs. Null before one was created. Derived, so nothing is stored. */
export const identitySecretOf = (masterKey: Uint8Array, { id, identity_version: version }: WidgetRow): string | null =>
  version === 0 ? null : `svc_wi_${hmacHex(masterKey, `widget-identity ${id} ${version}`)}`

/**
 * The signature of a visitor's identity: `<until>.<hex>`. `until` is in Unix seconds. The hex is HMAC-SHA256 over four
 * lines: `until`, external id, e-mail, name; missing ones are empty. There is only one algorithm, so none is named.
 */
function signIdentity(secret: string, until: number, { external_id = '', email = '', name = '' }: Message): string {
  return `${until}.${hmacHex(new TextEncoder().encode(secret), [until, external_id, email, name].join('\n'))}`
}

/**
 * The identity of a visitor, as claimed by the page or signed by the owner's server (docs/attacks.md M4, M5). Null
 * without one. Throws 400 for line breaks, and 401 for an invalid signature.
 */
function readIdentity(deps: Deps, widget: WidgetRow, message: Message): VisitorIdentity | null {
  for (const name of ['name', 'email', 'external_id'] as const)
    if (MORE_LINES.test(message[name] ?? '')) throw invalidInput(name, `"${name}" has line breaks.`)
  const { name = '', email = '', external_id = '', hash } = message
  if (hash !== undefined) assertSigned(deps, widget, { ...message, hash })
  if (!name && !email && !external_id) return null
  const stored = (text: string) => storable(text) || null
  const verified = hash !== undefined
  return { name: stored(name), email: stored(email), external_id: stored(external_id), verified }
}

function assertSigned({ clock, masterKey }: Deps, widget: WidgetRow, message: Message & { hash: string }): void {
  const secret = identitySecretOf(masterKey, widget)
  const [, until = ''] = /^([1-9]\d{9})\.[0-9a-f]{64}$/.exec(message.hash) ?? []
  if (!secret) throw widgetErrors.badIdentity('this widget has no identity secret')
  if (!until) throw widgetErrors.badIdentity('it is not "<unix seconds>.<64 hex digits>"')
  if (!message.external_id && !message.email)
    throw widgetErrors.badIdentity('neither "external_id" nor "email" was sent')
  if (!timingSafeEqual(message.hash, signIdentity(secret, Number(until), message)))
    throw widgetErrors.badIdentity('it was made with another secret or from other values')
  if (Number(until) * 1_000 <= clock.now()) throw widgetErrors.badIdentity('it has expired')
}

/**
 * Stores the visitor's identity and the page's context. A request with only a context keeps the identity. Throws 401
 * for an invalid signature, and 409 when the chat belongs to another proven person.
 */
export async function identifyVisitor(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
  input: NonNullable<IdentityInput> = {},
): Promise<Identified> {
  const { widget, session } = await enterChat(deps, visitorRequest, sessionId)
  const { context, ...message } = input
  const names = Object.keys(message).length > 0 || context === undefined
  const identity = names ? readIdentity(deps, widget, message) : null
  return deps.store.write(async (tx) => {
    const row = await rows.lock(tx, session.id)
    if (row?.status !== 'open') throw isClosed()
    if (isAnother(row.identity, identity)) throw isOthers()
    const now = names ? identity : row.identity
    const visit = context === undefined ? {} : { context: storableValues(context) }
    await markChat(deps, tx, row.id, { identity: now, ...visit })
    publishChat(deps, tx, row, { what: 'visitor' })
    return { session_id: row.id, verified: now?.verified ?? false }
  })
}

const storableValues = (context: VisitContext): VisitContext =>
  Object.fromEntries(
    Object.entries(context).map(([name, value]) => [
      storable(name),
      typeof value === 'string' ? storable(value) : value,
    ]),
  )

/** True if both identities are verified and differ. Then one may not take over the chat of the other. */
function isAnother(before: VisitorIdentity | null, now: VisitorIdentity | null): boolean {
  if (!before?.verified || !now?.verified) return false
  return before.external_id !== now.external_id || (before.external_id === null && before.email !== now.email)
}
