import { send } from '../src/app/client'
import type { UsageReport } from '../src/usage/schema'
import type { Connection } from './connection'
import { piecesOf } from './download'
import { expectData } from './failure'
import { keysOver } from './keys-plane'

/** The filters of contract 18.1, as strings. */
export type UsageWords = Partial<Record<'from' | 'to' | 'key_id' | 'mode' | 'skill', string>> & {
  /** Only over --url: the user's or the org's calls, when the key could mean either. */
  scope?: 'user' | 'org'
}
export type Report = UsageReport & { id?: string; owner?: string }
type ReportedKey = { id: string; name: string; report: Report }

/** Usage over either API: operators see every owner's, tenants their own (dx 2.16). */
export type UsagePlane = {
  show(words: UsageWords): Promise<Report>
  /** The report of each key that has calls. */
  byKey(words: UsageWords): Promise<ReportedKey[]>
  export(words: UsageWords & { format: 'csv' | 'jsonl' }): Promise<AsyncIterable<Uint8Array>>
}

export async function usageOver(connection: Connection, owner: string | undefined): Promise<UsagePlane> {
  return connection.plane === 'tenant' ? ownUsage(connection) : anyUsage(connection, owner)
}

function anyUsage(connection: Connection, owner: string | undefined): UsagePlane {
  const ops = connection.ops()
  const whose = owner === undefined ? {} : { owner }
  const show = async (words: UsageWords) => expectData(await ops.usage.get({ query: { ...words, ...whose } })) as Report
  return {
    show,
    byKey: async (words) => {
      const { id } = await show(words)
      return eachKey(connection, show, words, id!.startsWith('org:') ? { org: id! } : { user: id! })
    },
    export: async (words) => piecesOf(await connection.fetchOps(`usage/export?${spelled({ ...words, ...whose })}`)),
  }
}

async function ownUsage(connection: Connection): Promise<UsagePlane> {
  const { client, target, key } = await connection.tenant()
  const show = async (words: UsageWords) => expectData(await client.usage.get({ query: words })) as Report
  return {
    show,
    byKey: (words) => eachKey(connection, show, words, {}),
    export: async (words) => {
      const headers = { authorization: `Bearer ${key}` }
      return piecesOf(await send(target, `/api/v1/usage/export?${spelled(words)}`, { headers }))
    },
  }
}

async function eachKey(
  connection: Connection,
  show: UsagePlane['show'],
  words: UsageWords,
  whose: { org?: string; user?: string },
): Promise<ReportedKey[]> {
  const keys = await keysOver(connection)
  const reported: ReportedKey[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await keys.list({ limit: 100, ...whose, ...(cursor ? { cursor } : {}) })
    for (const { id, name } of page.keys) {
      const report = await show({ ...words, key_id: id })
      if (report.totals.requests > 0) reported.push({ id, name, report })
    }
    if (!page.next_cursor) return reported
    cursor = page.next_cursor
  }
}

const spelled = (words: UsageWords & { format: string; owner?: string }): URLSearchParams =>
  new URLSearchParams(Object.entries(words).map(([name, word]) => [name, String(word)]))
