import type { AuditEvent } from '../../src/audit/schema'
import { iso } from '../../src/kernel/clock'
import { apiOf, columnsOf, commandsOf, defined, queryOf } from '../command'
import { expectData, notFoundFailure, usageFailure } from '../failure'
import { deliver, fileFormat, piecesOf } from '../files'
import { safeJson } from '../output/json'
import { eachEntry, pageIn, tail } from '../pages'
import { keyFlag } from '../resource'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, duration, type FlagsGiven, flag, LAST, optional, text, whole } from '../words'
import { verifyAudit } from './audit-verify'

// `cmpl_BwCb4qRD`, `f9c3403b`: enough to distinguish ids, and short enough to leave room for the status.
const columns = columnsOf`
  timestamp TIME time, action ACTION keep, outputSummary.status STATUS number, id, entityType ABOUT min,
  entityId ENTITY keep ${({ entityId }, all) => (all ? String(entityId ?? '-') : String(entityId ?? '-').replace(/^([a-z]+_)?(.{8}).*$/, '$1$2'))},
  userId USER wide, apiKeyId KEY keep min ${({ apiKeyId }, all) => String(apiKeyId ?? '-').slice(0, all ? 36 : 8)},
  requestId REQUEST keep min, hash HASH wide`

const args = {
  owner: optional('org by id, slug or name; user by id or e-mail address; server for events without an owner'),
}

const filters = {
  actor: text('WHO', "actions of this user, key or operator: an id, an e-mail address or an operator's name"),
  action: text('ACTION', 'this action, or a family such as "key.*"'),
  key: keyFlag('actions of this key: id, prefix or name'),
  mode: text('MODE', 'calls in this mode'),
  status: whole('STATUS', 'HTTP status of the recorded answer', { min: 100, max: 599 }),
  entityType: text('TYPE', 'about entities of this type: completion, api_key, …'),
  entity: text('ID', 'about this one entity'),
  request: text('REQ_ID', 'about this one request'),
  from: text('DATE', 'from this date or time'),
  to: text('DATE', 'before this time; a date means the end of that day'),
  since: duration('24h', 'only events at most this old'),
}
export type Filters = FlagsGiven<typeof filters>

type Listing = AuditWords & { limit: number; cursor?: string }

/** Reads pages of the audit record. Operators read an owner's record. With --url, it is that of the key in use. */
const recordOf =
  (shell: Shell, owner: string | undefined) =>
  async (query: Listing): Promise<{ items: AuditEvent[]; next: string | null }> => {
    const { isOperator, ownerFilter } = await apiOf(shell, { owner })
    const connection = await shell.connect()
    if (isOperator) return pageIn(connection.ops().audit.get({ query: { ...query, ...ownerFilter } }), 'events')
    const reply = await (await connection.tenant()).client.audit.get({ query })
    return { items: expectData(reply) as AuditEvent[], next: new Headers(reply.headers).get('x-next-cursor') }
  }

const wholeColumns = [
  ...columns.map((one) => ({ ...one, wide: false })),
  ...columnsOf`inputSummary INPUT, prevHash PREVIOUS`,
]

const command = commandsOf('audit', { apis: ['operator', 'tenant'], args })

/** The filters of docs/api.md 19. */
export type AuditWords = Partial<Record<'from' | 'to' | 'key_id' | 'mode' | 'action' | 'actor', string>> &
  Partial<Record<'entity_type' | 'entity_id' | 'request_id' | 'id', string>> & { status?: number }

/** Turns the flags into the filters of the API; `--since` becomes `from`. */
function wordsOf(shell: Shell, given: Filters): AuditWords {
  const { key, entity, entityType, request, since, from, ...rest } = given
  return defined({
    ...rest,
    from: since === undefined ? from : iso(shell.clock.now() - since),
    key_id: key,
    entity_type: entityType,
    entity_id: entity,
    request_id: request,
  }) as AuditWords
}

export const auditCommands = [
  command`list OWNER (pages items): List the audit events of an owner, newest first
  Without OWNER it shows the account that the first start created, or that account's active org. Over --url it shows the record of the key in use. A filter that matches few events is read in steps, so a page can be short even if more events exist.
  $ audit list
  $ audit list acme --action "key.*" --since 24h
  $ audit list --request req_1f4 --json`({
    columns,
    flags: filters,
    answer: ({ shell, page }, { owner = shell.globals.org, ...given }) =>
      recordOf(shell, owner)({ ...wordsOf(shell, given), ...page }),
    empty: 'No matching events.',
  }),
  command`tail OWNER (live): Print the audit events of an owner as they are recorded
  Runs until Ctrl-C. In a pipe, and with -o json, each event is one line of JSON.
  $ audit tail
  $ audit tail acme --action "completion.*" -o jsonl | head -n 3`({
    columns,
    flags: { ...filters, last: LAST },
    async run(shell, { owner = shell.globals.org, last = 10, ...given }) {
      const list = recordOf(shell, owner)
      const query = wordsOf(shell, given)
      let isFirst = true
      const newest = async (seen: string | undefined) => {
        const found = isFirst ? [...(await list({ ...query, limit: Math.max(last, 1) })).items] : []
        if (isFirst) {
          isFirst = false
          return found
        }
        for await (const event of eachEntry((input) => list({ ...query, ...input }))) {
          found.push(event)
          if (event.id === seen) break
        }
        return found
      }
      await tail(shell, { columns, newest, last, what: 'event' })
    },
  }),
  verifyAudit,
  command`head OWNER (operator): Show the end of a chain, to store on another machine
  Prints SEQ:HASH and the newest signed checkpoint. Store one of them on another machine. Later, audit verify --head or --checkpoint shows whether earlier events were changed, cut or rewritten. This works even against someone with full access to this machine.
  $ audit head
  $ audit head acme --fields place -q
  $ audit head --json > /mnt/elsewhere/head.json`({
    columns: columnsOf`scope CHAIN, place PLACE, checkpoint.seq SIGNED number`,
    request: ({ ops, shell }, { owner = shell.globals.org }) => ops.audit.head.get({ query: owner ? { owner } : {} }),
    shown: (head) => ({ ...head, place: `${head.seq}:${head.hash}` }),
  }),
  command`actions OWNER (operator, shows actions): Count the audit events of an owner by action
  Lists every action in the chain with its count, the most frequent first.
  $ audit actions
  $ audit actions acme -o csv`({
    columns: columnsOf`action ACTION, count COUNT number`,
    request: ({ ops, shell }, { owner = shell.globals.org }) =>
      ops.audit.actions.get({ query: owner ? { owner } : {} }),
    empty: 'The record is empty.',
  }),
  command`get: Show one audit event in full
  EVENT is the id of an event, or at least six characters of it. It can also be the id of a request or an entity that has one event. Without --since the search goes back from the newest event, which takes a while on a long record.
  $ audit get 7d0c9a52-5c1e-4a43-9d0e-2a4f0d8f3b6e
  $ audit get req_1f4xEU9WTdZBc4YIr2VvP0Ba acme --json`({
    columns: wholeColumns,
    args: { event: argument('id of an event, the start of it, or the id of a request'), ...args },
    flags: { since: filters.since },
    async answer({ shell }, { event, owner = shell.globals.org, since }) {
      const list = recordOf(shell, owner)
      const from = since === undefined ? {} : { from: iso(shell.clock.now() - since) }
      const searches: AuditWords[] = event.startsWith('req_')
        ? [{ request_id: event }]
        : // Events of an entity first, because an index exists for entities but not for events.
          [{ entity_id: event }, { id: event }]
      let found: AuditEvent[] = []
      for (const about of searches)
        if (!found.length) found = await Array.fromAsync(eachEntry((input) => list({ ...about, ...from, ...input })))
      const fix = `audit list --${event.startsWith('req_') ? 'request' : 'entity'} ${event}, then audit get with the id of one event`
      if (found.length > 1) throw usageFailure(`${event} names ${found.length} events.`, fix)
      if (!found[0]) throw notFoundFailure(`This record has no event ${event}.`, 'audit list --since 24h')
      return found[0]
    },
  }),
  command`export OWNER: Write the audit events of an owner as CSV or JSON lines, newest first
  Writes the file of GET /audit/export as it is read, and records audit.exported. The file is CSV. With -o jsonl it contains the events with their hashes, one per line. --checkpoint first writes the newest signed checkpoint; audit verify needs both files. With --sign the server signs the file into FILE.sig. Filters other than --from and --to leave out events, so the chain cannot be verified.
  $ audit export --out audit.csv --checkpoint checkpoint.json
  $ audit export -o jsonl --out audit.jsonl --sign
  $ audit export acme --from 2026-01-01 --to 2026-01-31 > january.csv`({
    flags: {
      ...filters,
      out: text('FILE', 'file to write instead of stdout; readable only by you'),
      checkpoint: text('FILE', 'file for the newest signed checkpoint'),
      sign: flag('write a detached signature next to --out, as FILE.sig'),
    },
    async run(shell, { owner = shell.globals.org, out, checkpoint, sign, ...given }) {
      const format = fileFormat(shell, 'audit export')
      if (sign && !out)
        throw usageFailure('--sign needs --out, because it writes the signature next to that file.', 'add --out FILE')
      const { isOperator, ownerFilter } = await apiOf(shell, { owner })
      const { fetch, ops, tenant } = await shell.connect()
      if (checkpoint) {
        const newest = isOperator
          ? expectData(await ops().audit.head.get({ query: ownerFilter })).checkpoint
          : expectData(await (await tenant()).client.audit.checkpoint.get())
        await Bun.write(fromHere(shell.cwd, checkpoint), `${safeJson(newest)}\n`)
      }
      const file = await fetch(`audit/export?${queryOf({ ...wordsOf(shell, given), ...ownerFilter, format })}`)
      await deliver(shell, await piecesOf(file), out)
      if (!sign) return
      const hint = 'add --checkpoint FILE, which is signed too'
      if (!isOperator) throw usageFailure('--sign is for operators.', hint)
      const ref = file.headers.get('x-request-id') ?? ''
      const signature = expectData(await ops().audit.signatures({ ref }).get())
      await Bun.write(`${fromHere(shell.cwd, out!)}.sig`, `${safeJson(signature)}\n`)
      shell.note(`Signed: svc-admin audit verify --export ${out} --signature ${out}.sig`)
    },
  }),
]
