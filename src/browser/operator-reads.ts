import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Reader, Store } from '../kernel/store'
import { sessionNotFound } from './errors'
import type { Host } from './host'
import type { Presenter } from './present'
import { sessionRepository as rows } from './repository'
import { BrowserSessionId } from './schema'
import type { LinkInput, OverseenList, OverseenSession, SessionLink } from './schema-operators'
import type { SessionRow } from './table'
import { EMBED_MS } from './tokens'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  host: Host
  present: Presenter
  /** Whose chain and wallet a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
}

/** What operators see of the sessions of everyone: never a link, unless they ask for one, which is recorded. */
export function createOperatorAccess({ store, clock, audit, host, present, ownerNamed }: Deps) {
  return { list, get, link, find }

  /** The open sessions of everyone, or of one owner, oldest first. Throws 404 for an owner that is none. */
  async function list(ownerFilter?: string): Promise<OverseenList> {
    const owner = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const all = await rows.everyones(store.read)
    return { sessions: all.filter((row) => owner === null || row.owner === owner).map(shown) }
  }

  async function get(id: string): Promise<OverseenSession> {
    return shown(await find(id))
  }

  /** A link to the live view, to look or to take the wheel, for an hour at most. Throws 404 `session_not_found`. */
  async function link(
    call: Call<OperatorCaller>,
    id: string,
    { control = false, ttl_seconds }: LinkInput,
  ): Promise<SessionLink> {
    const row = await find(id)
    if (row.state === 'ended') throw sessionNotFound()
    const rights = control ? ('control' as const) : ('view' as const)
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'browser.link_created',
        entityType: 'browser_session',
        entityId: row.id,
        scope: row.owner,
        input: { metadata: { rights } },
      }),
    )
    const until = clock.now() + (ttl_seconds === undefined ? EMBED_MS : ttl_seconds * 1_000)
    return { session_id: row.id, url: present.linkUntil(row, until, rights), rights, expires_at: iso(until) }
  }

  async function find(id: string): Promise<SessionRow> {
    const row = BrowserSessionId.is(id) ? await rows.byLink(store.read, id) : undefined
    if (!row) throw sessionNotFound()
    return row
  }

  function shown(row: SessionRow): OverseenSession {
    return {
      ...present.snapshot(row),
      live_view_url: null,
      embed_url: null,
      owner: row.owner,
      user_id: row.user_id,
      api_key_id: row.key_id,
      node: row.node,
      viewers: host.find(row.id)?.viewers ?? row.viewers,
    }
  }
}
