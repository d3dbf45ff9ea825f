import { send } from '../src/app/client'
import type { AuditEvent, Checkpoint } from '../src/audit/schema'
import type { Connection } from './connection'
import { piecesOf } from './download'
import { expectData } from './failure'

/** The filters of contract 19, as words. */
export type AuditWords = Partial<
  Record<'from' | 'to' | 'key_id' | 'mode' | 'action' | 'entity_type' | 'entity_id' | 'request_id', string>
> & { status?: number }

type Page = { items: AuditEvent[]; next: string | null }
type Listing = AuditWords & { limit: number; cursor?: string }

/** The record over whichever plane the connection offers: anyone's on the machine, one's own from elsewhere (dx 2.17). */
export type AuditPlane = {
  list(query: Listing): Promise<Page>
  /** The CSV as it comes. */
  export(filters: AuditWords): Promise<AsyncIterable<Uint8Array>>
  checkpoint(): Promise<Checkpoint>
}

export async function auditOver(connection: Connection, owner: string | undefined): Promise<AuditPlane> {
  return connection.plane === 'tenant' ? ownAudit(connection) : anyAudit(connection, owner)
}

function anyAudit(connection: Connection, owner: string | undefined): AuditPlane {
  const ops = connection.ops()
  const whose = owner === undefined ? {} : { owner }
  return {
    list: async (query) => {
      const page = expectData(await ops.audit.get({ query: { ...query, ...whose } }))
      return { items: page.events, next: page.next_cursor }
    },
    export: async (filters) => piecesOf(await connection.fetchOps(`audit/export?${spelled({ ...filters, ...whose })}`)),
    checkpoint: async () => expectData(await ops.audit.head.get({ query: whose })).checkpoint,
  }
}

async function ownAudit(connection: Connection): Promise<AuditPlane> {
  const { client, target, key } = await connection.tenant()
  return {
    list: async (query) => {
      const reply = await client.audit.get({ query })
      const headers = new Headers(reply.headers)
      return { items: expectData(reply) as AuditEvent[], next: headers.get('x-next-cursor') }
    },
    export: async (filters) => {
      const headers = { authorization: `Bearer ${key}` }
      return piecesOf(await send(target, `/api/v1/audit/export?${spelled(filters)}`, { headers }))
    },
    checkpoint: async () => expectData(await client.audit.checkpoint.get()),
  }
}

const spelled = (words: AuditWords & { owner?: string }): URLSearchParams =>
  new URLSearchParams(Object.entries(words).map(([name, word]) => [name, String(word)]))
