import { send } from '../src/app/client'
import type { AuditEvent, Checkpoint, ExportSignature } from '../src/audit/schema'
import type { Connection } from './connection'
import { piecesOf } from './download'
import { expectData, usageFailure } from './failure'

/** The filters of contract 19, as strings. */
export type AuditWords = Partial<
  Record<
    'from' | 'to' | 'key_id' | 'mode' | 'action' | 'entity_type' | 'entity_id' | 'request_id' | 'id' | 'actor',
    string
  >
> & { status?: number }
export type ExportFormat = 'csv' | 'jsonl'
/** An export's bytes, and the request id to ask for its signature with. */
type Exported = { pieces: AsyncIterable<Uint8Array>; requestId: string }

type Page = { items: AuditEvent[]; next: string | null }
type Listing = AuditWords & { limit: number; cursor?: string }

/** Audit commands over either API: operators see every owner's chain, tenants their own (dx 2.17). */
export type AuditPlane = {
  list(query: Listing): Promise<Page>
  export(filters: AuditWords, format: ExportFormat): Promise<Exported>
  /** The signature of a complete export. @throws CommandFailed 2 over the tenant API */
  signature(requestId: string): Promise<ExportSignature>
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
    export: async (filters, format) =>
      exported(await connection.fetchOps(`audit/export?${spelled({ ...filters, ...whose, format })}`)),
    signature: async (requestId) => expectData(await ops.audit.signatures({ ref: requestId }).get()),
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
    export: async (filters, format) => {
      const headers = { authorization: `Bearer ${key}` }
      return exported(await send(target, `/api/v1/audit/export?${spelled({ ...filters, format })}`, { headers }))
    },
    signature: async () => {
      throw usageFailure('--sign belongs to the operator plane.', 'add --checkpoint FILE: it is signed as well')
    },
    checkpoint: async () => expectData(await client.audit.checkpoint.get()),
  }
}

const exported = async (reply: Response): Promise<Exported> => ({
  pieces: await piecesOf(reply),
  requestId: reply.headers.get('x-request-id') ?? '',
})

const spelled = (words: AuditWords & { owner?: string; format: ExportFormat }): URLSearchParams =>
  new URLSearchParams(Object.entries(words).map(([name, word]) => [name, String(word)]))
