import type { AuditEvent } from '../../src/audit/schema'
import { iso } from '../../src/kernel/clock'
import { defineCommand } from '../command'
import { notFoundFailure, usageFailure } from '../failure'
import { column } from '../output/columns'
import { eachEntry } from '../pages'
import { argument } from '../words'
import { type AuditWords, args, columns, common, filters, recordOf } from './audit'

export const getAudit = defineCommand({
  ...common,
  path: 'audit get',
  summary: 'Show one audit event in full',
  about:
    'EVENT is the id of an event, or at least six characters of it. It can also be the id of a request or an entity that has one event. Without --since the search goes back from the newest event, which takes a while on a long record.',
  examples: ['audit get 7d0c9a52-5c1e-4a43-9d0e-2a4f0d8f3b6e', 'audit get req_1f4xEU9WTdZBc4YIr2VvP0Ba acme --json'],
  columns: [
    ...columns.map((one) => ({ ...one, wide: false })),
    column('inputSummary', 'INPUT'),
    column('prevHash', 'PREVIOUS'),
  ],
  args: { event: argument('id of an event, or of a request'), ...args },
  flags: { since: filters.since },
  async run(shell, { event, owner = shell.globals.org, since }) {
    const list = recordOf(shell, owner)
    const from = since === undefined ? {} : { from: iso(shell.clock.now() - since) }
    const asks: AuditWords[] = event.startsWith('req_')
      ? [{ request_id: event }]
      : // The thing first: of things there is an index, of events none.
        [{ entity_id: event }, { id: event }]
    let found: AuditEvent[] = []
    for (const about of asks)
      if (!found.length) found = await Array.fromAsync(eachEntry((input) => list({ ...about, ...from, ...input })))
    if (found.length > 1)
      throw usageFailure(
        `${event} names ${found.length} events.`,
        `audit list --${event.startsWith('req_') ? 'request' : 'entity'} ${event}, then audit get with the id of one event`,
      )
    if (!found[0]) throw notFoundFailure(`This record has no event ${event}.`, 'audit list --since 24h')
    shell.print.item(found[0], getAudit.columns!)
  },
})
