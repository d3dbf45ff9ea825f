import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import { storable } from '../kernel/text'
import type { Desk } from './desk'
import type { Door, Knock } from './door'
import { isClosed, isOthers } from './errors'
import { createIdentities, isAnother } from './identity'
import { sessionRepository as rows } from './repository'
import type { Identified, IdentityOrder, VisitContext } from './schema-sessions'

type Deps = { store: Store; clock: Clock; masterKey: Uint8Array; door: Door; desk: Desk }

/** What a page says about its visitor comes in. */
export function createIdentifying(deps: Deps) {
  const { store, door, desk } = deps
  const readIdentity = createIdentities(deps)

  /**
   * Keeps who the visitor is and what their page says about the visit; what is left out of an order with a context alone
   * stays. Throws 401 for a signature that does not hold, and 409 where the chat is of another proven person.
   */
  return async function identify(
    knock: Knock,
    sessionId: string,
    order: NonNullable<IdentityOrder> = {},
  ): Promise<Identified> {
    const { widget, session } = await door.session(knock, sessionId)
    const { context, ...said } = order
    const names = Object.keys(said).length > 0 || context === undefined
    const identity = names ? readIdentity(widget, said) : null
    return store.write(async (tx) => {
      const row = await rows.lock(tx, session.id)
      if (row?.status !== 'open') throw isClosed()
      if (isAnother(row.identity, identity)) throw isOthers()
      const now = names ? identity : row.identity
      await desk.changed(tx, row.id, {
        identity: now,
        ...(context === undefined ? {} : { context: storableValues(context) }),
      })
      desk.tell(tx, row, { what: 'visitor' })
      return { session_id: row.id, verified: now?.verified ?? false }
    })
  }
}

const storableValues = (context: VisitContext): VisitContext =>
  Object.fromEntries(
    Object.entries(context).map(([name, value]) => [
      storable(name),
      typeof value === 'string' ? storable(value) : value,
    ]),
  )
