import type { AuditEvent } from '../../src/audit/schema'
import { iso } from '../../src/kernel/clock'
import { apiOf } from '../api'
import { defineCommand, type Input } from '../command'
import { EXIT, expectData } from '../failure'
import { formatOf } from '../globals'
import { column, idColumn } from '../output/columns'
import { safeJson } from '../output/json'
import { isStructured } from '../output/print'
import { eachEntry, type PageQuery, pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { duration, optional, text, whole } from '../words'
import { verifyAudit } from './audit-verify'

// `cmpl_BwCb4qRD`, `f9c3403b`: enough to tell things apart, so that the status has room beside it.
export const columns = [
  column('timestamp', 'TIME', { kind: 'time' }),
  column('action', 'ACTION', { keep: true }),
  column('outputSummary.status', 'STATUS', { kind: 'number' }),
  idColumn,
  column('entityType', 'ABOUT', { min: true }),
  column('entityId', 'ENTITY', {
    keep: true,
    show: ({ entityId }, all) =>
      all ? String(entityId ?? '-') : String(entityId ?? '-').replace(/^([a-z]+_)?(.{8}).*$/, '$1$2'),
  }),
  column('userId', 'USER', { wide: true }),
  column('apiKeyId', 'KEY', {
    keep: true,
    min: true,
    show: ({ apiKeyId }, all) => String(apiKeyId ?? '-').slice(0, all ? 36 : 8),
  }),
  column('requestId', 'REQUEST', { keep: true, min: true }),
  column('hash', 'HASH', { wide: true }),
]

const OWNER_FILTER = 'org by id, slug or name; user by id or e-mail address; server for events without an owner'
export const args = { owner: optional(OWNER_FILTER) }

export const filters = {
  actor: text('WHO', "actions of this user, key or operator: an id, an e-mail address or an operator's name"),
  action: text('ACTION', 'this action, or a family such as "key.*"'),
  key: text('ID', 'actions of this key'),
  mode: text('MODE', 'calls in this mode'),
  status: whole('STATUS', 'HTTP status of the recorded answer', { min: 100, max: 599 }),
  entityType: text('TYPE', 'about entities of this type: completion, api_key, …'),
  entity: text('ID', 'about this one entity'),
  request: text('REQ_ID', 'about this one request'),
  from: text('DATE', 'from this date or time'),
  to: text('DATE', 'before this time; a date means the end of that day'),
  since: duration('24h', 'only events at most this old'),
}
export type Filters = Input<Record<never, never>, typeof filters>

export const common = {
  apis: ['operator', 'tenant'],
  impact: 'read',
  exits: [3],
} as const

type Listing = AuditWords & { limit: number; cursor?: string }

/** Reads pages of the record: an owner's for operators, over --url that of the key in use. */
export const recordOf =
  (shell: Shell, owner: string | undefined) =>
  async (query: Listing): Promise<{ items: AuditEvent[]; next: string | null }> => {
    const { isOperator, ownerFilter } = await apiOf(shell, { owner })
    const connection = await shell.connect()
    if (isOperator) {
      const page = expectData(await connection.ops().audit.get({ query: { ...query, ...ownerFilter } }))
      return { items: page.events, next: page.next_cursor }
    }
    const reply = await (await connection.tenant()).client.audit.get({ query })
    return { items: expectData(reply) as AuditEvent[], next: new Headers(reply.headers).get('x-next-cursor') }
  }

const listAudit = defineCommand({
  ...common,
  path: 'audit list',
  summary: 'List the audit events of an owner, newest first',
  about:
    "Without OWNER it shows the account that the first start created, or that account's active org. Over --url it shows the record of the key in use. A filter that matches few events is read in steps, so a page can be short even if more events exist.",
  examples: ['audit list', 'audit list acme --action "key.*" --since 24h', 'audit list --request req_1f4 --json'],
  columns,
  watchable: true,
  args,
  flags: { ...filters, ...pageFlags },
  async run(shell, { owner = shell.globals.org, limit, cursor, all, ...given }) {
    const list = recordOf(shell, owner)
    const query = wordsOf(shell, given)
    const page = (input: PageQuery) => list({ ...query, ...input })
    const paging = { limit, cursor, all }
    await printPages(shell, paging, { page, columns, empty: 'No matching events.' })
  },
})

const PAUSE_MS = 1_000

const tailAudit = defineCommand({
  ...common,
  path: 'audit tail',
  summary: 'Print the audit events of an owner as they are recorded',
  about: 'Runs until Ctrl-C. In a pipe, and with -o json, each event is one line of JSON.',
  examples: ['audit tail', 'audit tail acme --action "completion.*" -o jsonl | head -n 3'],
  offline: false,
  columns,
  args,
  flags: { ...filters, last: whole('N', 'first show this many existing ones; 10 by default', { min: 0, max: 100 }) },
  async run(shell, { owner = shell.globals.org, last = 10, ...given }) {
    const list = recordOf(shell, owner)
    const query = wordsOf(shell, given)
    const show = printerOf(shell)
    let { items } = await list({ ...query, limit: Math.max(last, 1) })
    let [seen, shown] = [items[0]?.id ?? null, 0]
    if (last === 0) items = []
    for (;;) {
      show(items.toReversed())
      shown += items.length
      await shell.clock.sleep(PAUSE_MS, shell.signal)
      if (shell.signal.aborted) break
      items = await newerThan(seen, (input) => list({ ...query, ...input }))
      seen = items[0]?.id ?? seen
    }
    // A terminal has written ^C on this line.
    const line = `${shown} ${shown === 1 ? 'event was' : 'events were'} shown.`
    shell.note(shell.io.errIsTty ? `\n${line}` : line)
    shell.exitCode = EXIT.interrupted
  },
})

/** All events newer than a given one, newest first, over as many pages as needed. */
async function newerThan(
  seen: string | null,
  page: (input: PageQuery) => Promise<{ items: AuditEvent[]; next: string | null }>,
): Promise<AuditEvent[]> {
  const found: AuditEvent[] = []
  for await (const event of eachEntry(page)) {
    if (event.id === seen) break
    found.push(event)
  }
  return found
}

function printerOf(shell: Shell): (events: readonly AuditEvent[]) => void {
  const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
  if (!asJson) return shell.print.feed(columns)
  return (events) => {
    for (const event of events) shell.io.out(safeJson(event))
  }
}

const headAudit = defineCommand({
  ...common,
  apis: ['operator'],
  path: 'audit head',
  summary: 'Show the end of a chain, to store on another machine',
  about:
    'Prints SEQ:HASH and the newest signed checkpoint. Store one of them on another machine. Later, audit verify --head or --checkpoint shows whether earlier events were changed, cut or rewritten. This works even against someone with full access to this machine.',
  examples: ['audit head', 'audit head acme --fields place -q', 'audit head --json > /mnt/elsewhere/head.json'],
  columns: [column('scope', 'CHAIN'), column('place', 'PLACE'), column('checkpoint.seq', 'SIGNED', { kind: 'number' })],
  args,
  async run(shell, { owner = shell.globals.org }) {
    const connection = await shell.connect()
    const head = expectData(await connection.ops().audit.head.get({ query: owner ? { owner } : {} }))
    shell.print.item({ ...head, place: `${head.seq}:${head.hash}` }, headAudit.columns!)
  },
})

const countAudit = defineCommand({
  ...common,
  apis: ['operator'],
  path: 'audit actions',
  summary: 'Count the audit events of an owner by action',
  about: 'Lists every action in the chain with its count, the most frequent first.',
  examples: ['audit actions', 'audit actions acme -o csv'],
  columns: [column('action', 'ACTION'), column('count', 'COUNT', { kind: 'number' })],
  args,
  async run(shell, { owner = shell.globals.org }) {
    const connection = await shell.connect()
    const { actions } = expectData(await connection.ops().audit.actions.get({ query: owner ? { owner } : {} }))
    shell.print.list(actions, countAudit.columns!, 'The record is empty.')
  },
})

/** The filters of contract 19. */
export type AuditWords = Partial<Record<'from' | 'to' | 'key_id' | 'mode' | 'action' | 'actor', string>> &
  Partial<Record<'entity_type' | 'entity_id' | 'request_id' | 'id', string>> & { status?: number }

/** Turns the flags into the filters of the API; `--since` becomes `from`. */
export function wordsOf(shell: Shell, given: Filters): AuditWords {
  const { key, entity, entityType, request, since, from, ...rest } = given
  const words = {
    ...rest,
    from: since === undefined ? from : iso(shell.clock.now() - since),
    key_id: key,
    entity_type: entityType,
    entity_id: entity,
    request_id: request,
  }
  return Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined)) as AuditWords
}

export const auditCommands = [listAudit, tailAudit, verifyAudit, headAudit, countAudit]
